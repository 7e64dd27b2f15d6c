"""`questree covr`: COVR's own files: programs over scenes, what scenes contain, words that exclude each other."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.terminal import output, print_table, say, tell_made, watching, write_json


@output
def execute_command(
    *,
    scenes: Annotated[Path, Parameter(help='{"gqa", "imsitu", "attribute_groups"}: scene graphs, and groups.')],
    programs: Annotated[Path, Parameter(help="[{id, scenes, program}], a program being a list of rows.")],
    workers: Annotated[int, Parameter(help="Number of threads.")] = 2,
) -> None:
    """Run programs, each over its scenes. A bad program is an error of its own and stops no other."""
    from questree.api.covr_programs import executed

    with watching():
        results, wrong = executed(scenes, programs, workers)
    outcomes = Counter(results.reasons)
    rows = [{"outcome": why or "answered", "programs": n} for why, n in outcomes.items()]
    print_table(f"{len(results.ids):,} programs", rows)
    for line in wrong:
        say(line)
    write_json(results.records)


Scenes = Annotated[Path, Parameter(help='{"gqa", "imsitu"}: scene graphs.')]
Tables = Annotated[Path | None, Parameter(help="Folder of word tables. [default: the shipped ones]")]


@output
def subgraphs_command(*, scenes: Scenes, words: Tables = None) -> None:
    """Write every subgraph of every scene: {scene, start, graph, len, depth}."""
    from questree.api.covr_scenes import scene_subgraphs

    with watching():
        rows, count = scene_subgraphs(scenes, words)
    counts = sorted(Counter((row["len"], row["depth"]) for row in rows).items())
    table = [{"length": length, "depth": depth, "subgraphs": count} for (length, depth), count in counts]
    print_table("Subgraphs", table)
    say(f"{len(rows):,} subgraphs of {count:,} scenes")
    write_json(rows)


@output
def related_command(
    *,
    scenes: Scenes,
    graphs: Annotated[Path, Parameter(help="[{scene, graph}]; with a multi_count, 0_no_mult is searched for too.")],
    words: Tables = None,
    verify: Annotated[
        str | None, Parameter(help="Scores of distractors: module:function, or a file [{image, graph, score}].")
    ] = None,
    verify_others: Annotated[
        str | None, Parameter(help="Scores of unannotated instances: module:function, or a file like --verify's.")
    ] = None,
) -> None:
    """Write the scenes that contain each graph, and by kind those that distract from it."""
    from questree.api.covr_scenes import kinds_of, related_scenes

    with watching():
        rows, count = related_scenes(scenes, graphs, words, verify, verify_others)
    print_table("Related scenes", kinds_of(rows))
    say(f"{len(rows):,} graphs, {count:,} scenes")
    write_json(rows)


@output
def exclusion_command(
    run: Annotated[Path | None, Parameter(help="Run folder with images.")] = None,
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder to write the tables to.")],
    scenes: Annotated[Path | None, Parameter(help='Scene graphs {"gqa", "imsitu"} instead of a run.')] = None,
    words: Tables = None,
    scorer: Annotated[
        str | None, Parameter(help="Judge of pairs: module:function, or a file [{kind, a, b, score}].")
    ] = None,
) -> None:
    """Which words exclude each other: annotated pairs and an ontology (--words), and what the images say."""
    from questree.api.covr_scenes import exclusion_tables

    with watching():
        counts = exclusion_tables(run, out=out, scenes=scenes, words=words, scorer=scorer)
    print_table("Pairs", [{"list": name, "pairs": count} for name, count in sorted(counts.items())])
    say(f"wrote {out}")
    write_json(counts)


@output
def released_command(
    *,
    questions: Annotated[Path, Parameter(help='Questions {"train": [...], "val": [...]}.')],
    few_shot: Annotated[int, Parameter(help="Number of examples with the property that stay in train.")] = 250,
    seed: Annotated[int, Parameter(help="Seed of the draws.")] = 0,
    draws: Annotated[int, Parameter(help="Number of seeds, for splits of runs; a file is split with one.")] = 3,
    lexical_pairs: Annotated[int, Parameter(help="Number of pairs of terms held out.")] = 65,
    lexical_alone: Annotated[int, Parameter(help="Fewest questions of train with one term but not the other.")] = 50,
    lexical_together: Annotated[int, Parameter(help="Fewest questions of val with both terms.")] = 15,
) -> None:
    """Every property of COVR's splits with the ids of a released file that it holds out; runs: `questree split`."""
    from questree.api.covr_questions import held_out

    with watching():
        made = held_out(
            questions,
            few_shot=few_shot,
            seed=seed,
            draws=draws,
            lexical_pairs=lexical_pairs,
            lexical_alone=lexical_alone,
            lexical_together=lexical_together,
        )
    tell_made(made)


@output
def statistics_command(
    run: Annotated[Path | None, Parameter(help="Run folder with image questions.")] = None,
    /,
    *,
    questions: Annotated[
        list[Path] | None,
        Parameter(help="COVR questions of one split instead of a run; may be given again.", negative=""),
    ] = None,
    every: Annotated[
        bool, Parameter(name="--all", help="With a run: count every question, not only the balanced selection.")
    ] = False,
) -> None:
    """Kinds of questions, answers, images and anonymised programs of every split, and how often operators occur."""
    from questree.api.covr_questions import statistics

    with watching():
        made = statistics(run, questions=questions, every=every)
    tell_made(made)
