"""`questree decompose`: every question of a run into its DAG of sub-questions, with answers."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from polars import DataFrame

from questree.benchmarks import chosen
from questree.cli.shared_options import BenchmarkOption, Whole, WordsOption, WorkersOption, fitting
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput
from questree.stages.decompose.columns import Coverage, DecomposeSummary
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose, world_is_closed
from questree.stages.decompose.propagate import MOST
from questree.tables.lock import lock
from questree.tables.nodes import ANSWERED, KNOWN
from questree.tables.run import Run

SHOWN = 5  # questions about image sets whose stored answer is another


@output
def decompose_command(
    run: Path | None = None,
    /,
    *,
    benchmark: BenchmarkOption = "",
    balanced: Annotated[
        bool | None,
        Parameter(negative="--all", help="Take the balanced selection (if there is one), or all questions."),
    ] = None,
    closed: Annotated[
        bool | None,
        Parameter(
            negative="--open",
            help="Videos, closed world: what nobody annotated is not there. Open: it is not said. "
            "Synthetic runs are closed.",
        ),
    ] = None,
    rules_only: Annotated[
        bool,
        Parameter(negative="", help="Videos: do not run programs; keep what rules make of the questions' answers."),
    ] = False,
    absent: Annotated[
        Path | None,
        Parameter(help="Videos: file of objects labelled absent, CSV video,object or JSON {video: [object]}."),
    ] = None,
    invalid_actions: Annotated[
        Whole,
        Parameter(help="Videos: number of actions per video that do not occur, for questions with the answer no."),
    ] = 0,
    train_set: Annotated[
        bool, Parameter(negative="", help="Videos: also choose sub-questions to train on, with balanced answers.")
    ] = False,
    words: WordsOption = None,
    from_agqa: Annotated[
        Path | None, Parameter(help="A released AGQA question file instead of a run; no scene graphs needed.")
    ] = None,
    out: Annotated[Path | None, Parameter(name="--out", help="With --from-agqa: folder for the hierarchies.")] = None,
    workers: WorkersOption = 2,
) -> None:
    """Take every question of a run apart into its DAG of sub-questions, and answer each of them by execution.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate` writes them); left out with --from-agqa.
    """
    if from_agqa:
        used = balanced is not None or closed is not None or rules_only or invalid_actions or train_set
        if run or out is None or used:
            wanted = "--from-agqa FILE goes with --out DIR, --absent FILE, --workers N and no run folder; a file of"
            raise BadInput.at("decompose", f"{wanted} questions is taken apart whole, by rules only")
        released(from_agqa, out, absent, workers)
        return
    if run is None or out:
        raise BadInput.at("decompose", "expected a run folder, or --from-agqa FILE --out DIR")
    place = Run(run)
    own = chosen(place, benchmark, "questions")
    videos = {"closed": closed or None, "rules_only": rules_only, "absent": absent, "train_set": train_set}
    fitting(own, "video", videos | {"invalid_actions": invalid_actions or None, "open": closed is False})
    fitting(own, "images", {"words": words})
    if own.domain == "images":
        of_images(place, words, balanced is False, workers)
        return
    options = DecomposeOptions(
        balanced=place.balanced.is_dir() if balanced is None else balanced,
        closed=world_is_closed(place) if closed is None else closed,
        rules_only=rules_only,
        invalid_actions=invalid_actions,
    )
    labels = labelled(place, absent)
    with watching():
        summary = decompose(place, options, workers, labels=labels)
    print_table("Sub-questions by type, and how their answers are known", table(summary.types))
    say(f"{summary.questions:,} questions, {summary.isolated:,} of them without sub-questions")
    for reason, count in summary.beyond.most_common():
        say(f"{count:,} questions more have no sub-questions in AGQA-Decomp: {reason}")
    say(f"{summary.nodes:,} nodes, {summary.edges:,} edges")
    if absent or invalid_actions:
        say(f"{summary.negatives:,} questions more whose answer is no: labels, and actions that do not occur")
    if rules_only:
        tell_rules(summary)
    else:
        say(f"{summary.relabelled:,} Between nodes relabelled After and Before: no, although both sides are yes")
    tell_contradictions(summary)
    say(f"wrote {place.decomposed}")
    if train_set:
        choose_training(place)
    lock(place, "decomposed")
    write_json(record(summary) | {"balanced": options.balanced, "closed": options.closed})


def of_images(run: Run, words: Path | None, every: bool, workers: int) -> None:
    from questree.search.word_tables import words_of
    from questree.stages.decompose.image_sets import decompose_run

    with watching():
        summary = decompose_run(run, words_of(words), every, workers, words)
        lock(run, "covr/decomposed")
    rows = [
        {"type": type, "nodes": count, "without an answer": summary.undefined.get(type, 0)}
        for type, count in summary.types.items()
    ]
    print_table("Nodes by type", rows)
    say(
        f"{summary.questions:,} questions, {summary.nodes:,} nodes, {summary.edges:,} edges; "
        f"{summary.without_parts:,} questions have no sub-questions, {summary.unknown:,} are of no known form"
    )
    if summary.different:
        shown = ", ".join(summary.different[:SHOWN])
        say(f"{len(summary.different):,} stored answers are not what execution gives: {shown}")
    say(f"wrote {run.covr / 'decomposed'}")
    write_json(summary)


def labelled(run: Run, path: Path | None) -> DataFrame | None:
    """What people labelled absent; faults of the file are told before anything is done."""
    from questree.stages.decompose.negatives import read_labels
    from questree.tables.facts import VIDEOS

    if path is None:
        return None
    return read_labels(path, run.table("facts", VIDEOS)["id"], run.vocabulary())


def record(summary: DecomposeSummary) -> dict[str, Any]:
    """The result for programs."""
    names = ("questions", "isolated", "nodes", "edges", "relabelled", "negatives", "clashes", "contradictions")
    found = {name: getattr(summary, name) for name in (*names, "types")}
    more = ("everything", "places", "all_places", "beyond")
    return found | {name: getattr(summary, name) for name in more if getattr(summary, name)}


def choose_training(run: Run) -> None:
    from questree.stages.decompose.choose import choose, chosen_file

    with watching():
        told = choose(run)
    rows = [
        {
            "type": type,
            "answered": n,
            "after types": told.by_type.get(type, 0),
            "after programs": told.after.get(type, 0),
        }
        for type, n in told.before.items()
    ]
    print_table("Sub-questions of training videos", rows)
    say(f"wrote {chosen_file(run)}")


def tell_rules(summary: DecomposeSummary) -> None:
    """What rules alone answer, of the questions that were selected and of all there are."""
    kinds = {
        "these questions": (summary.types, summary.places),
        "all questions": (summary.everything, summary.all_places),
    }
    for what, (types, places) in kinds.items():
        every = together(types)
        if every:
            said = f"{answered(every)} of the {every.total():,} nodes of {what} have an answer"
            also = f"{answered(places)} of the {places.total():,} places in their DAGs"
            left = every.total() - every["asked"]
            say(f"{said} ({also}); rules give {every['entailed']:,} of {left:,} that no question asks")


def tell_contradictions(summary: DecomposeSummary) -> None:
    told = summary.contradictions[:MOST]
    few = f", the first {len(told)} of them:" if summary.clashes > len(told) else ":" if told else ""
    say(f"{summary.clashes:,} contradiction{'s' * (summary.clashes != 1)}{few}")
    for text in told:
        say(f"  {text}")


def released(path: Path, out: Path, absent: Path | None, workers: int) -> None:
    """Take apart a question file; its own answers and the rules are all there is."""
    from questree.formats.decomp_released import decompose_released
    from questree.vocabulary.load import default

    with watching():
        told = decompose_released(path, out, default(), workers, absent)
    summary = told.summary
    print_table("Sub-questions by type, and how their answers are known", table(summary.types))
    say(f"{summary.questions:,} questions, {summary.isolated:,} of them without sub-questions")
    for why, count in told.unread.most_common():
        say(f"no DAG for {count:,}: {why}")
    say(f"{told.strange_answers:,} answers not of the question's kind, not used")
    tell_rules(summary)
    tell_contradictions(summary)
    say(f"wrote {out}")
    write_json(record(summary) | {"unread": told.unread})


def table(types: Coverage) -> list[dict[str, Any]]:
    """Per type and in all: nodes, how many answers are known in which way, and the share that is known."""
    every = together(types)
    used = [name for name in KNOWN if every[name]]
    return [
        {"type": type, "nodes": counts.total(), **{name: counts[name] for name in used}, "answered": answered(counts)}
        for type, counts in [*sorted(types.items()), ("all", every)]
    ]


def together(types: Coverage) -> Counter[str]:
    return sum(types.values(), Counter())


def answered(counts: Counter[str]) -> str:
    total = counts.total()
    return f"{100 * sum(counts[name] for name in ANSWERED) / total:.2f} %" if total else "N/A"
