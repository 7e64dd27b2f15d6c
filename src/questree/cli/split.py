"""`questree split`: train and test, by video or image and by what questions are made of."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.cli.shared_options import BenchmarkOption, EveryOption, WorkersOption, at_least, carry_out
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import refuse


@output
def split(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    splits: Annotated[Path | None, Parameter(help="YAML file with your own splits.")] = None,
    every: EveryOption = False,
    more_steps: Annotated[
        str | None, Parameter(help="Videos: largest number of steps in train, as in relTime=5,objWhat=3.")
    ] = None,
    name: Annotated[
        list[str] | None, Parameter(help="Image sets: make only this split; may be given again.", negative="")
    ] = None,
    few_shot: Annotated[
        int | None, Parameter(help="Image sets: number of examples with the property that stay in train. [250]")
    ] = None,
    seed: Annotated[int | None, Parameter(help="Image sets: seed of the draws. [0]")] = None,
    draws: Annotated[
        int | None, Parameter(help="Image sets: number of seeds of the program and the lexical split. [3]")
    ] = None,
    lexical_pairs: Annotated[int | None, Parameter(help="Image sets: number of pairs of terms held out. [65]")] = None,
    lexical_alone: Annotated[
        int | None, Parameter(help="Image sets: fewest questions of train with one term but not the other. [50]")
    ] = None,
    lexical_together: Annotated[
        int | None, Parameter(help="Image sets: fewest questions of test with both terms. [15]")
    ] = None,
    workers: WorkersOption = 2,
) -> None:
    """Split a run's questions into train and test in several ways; each split proves itself.

    Videos: by video, novel compositions, more steps, indirect references. Image sets: COVR's 21 splits, with dev.

    Parameters
    ----------
    run
        Run folder with questions; the balanced selection is split, if there is one.
    """
    counts = {"few_shot": few_shot, "draws": draws, "lexical_pairs": lexical_pairs}
    counts |= {"lexical_alone": lexical_alone, "lexical_together": lexical_together}
    refuse(at_least(0, counts))
    given = {"splits": splits, "all": every, "more_steps": more_steps, "name": name, "seed": seed, **counts}
    carry_out("split", run, benchmark, given, workers)


@output
def released_command(
    *,
    questions: Annotated[Path, Parameter(name="--questions", help='Questions {"train": [...], "val": [...]}.')],
    few_shot: Annotated[int, Parameter(help="Number of examples with the property that stay in train.")] = 250,
    seed: Annotated[int, Parameter(help="Seed of the draws.")] = 0,
    draws: Annotated[int, Parameter(help="Number of seeds, for splits of runs; a file is split with one.")] = 3,
    lexical_pairs: Annotated[int, Parameter(help="Number of pairs of terms held out.")] = 65,
    lexical_alone: Annotated[int, Parameter(help="Fewest questions of train with one term but not the other.")] = 50,
    lexical_together: Annotated[int, Parameter(help="Fewest questions of val with both terms.")] = 15,
) -> None:
    """Every property of COVR's splits with the ids of a released file that it holds out; runs: `questree split`."""
    from questree.sources.covr import SIDES, read_sides
    from questree.stages.split.properties import of_records, properties
    from questree.stages.split.recipes import drawing

    counts = {"few_shot": few_shot, "lexical_pairs": lexical_pairs}
    counts |= {"lexical_alone": lexical_alone, "lexical_together": lexical_together}
    refuse(at_least(0, {**counts, "draws": draws}))
    with watching():
        rows = of_records(read_sides(questions))
        side = {name: (rows.questions["side"] == name).to_numpy() for name in SIDES}
        result, warnings = dict[str, dict[str, Any]](), list[str]()
        for each in properties(rows, drawing(seed, **counts), side["train"], side["val"]):
            held = each.predicate.holds(rows)
            result[each.name] = {name: rows.questions["id"].filter(held & at).to_list() for name, at in side.items()}
            result[each.name] |= {} if each.drawn is None else {"held_out": each.drawn}
            warnings += each.warnings
    lines = [
        {"held out": name, "drawn": len(found["held_out"]) if "held_out" in found else None}
        | {side: len(found[side]) for side in SIDES}
        for name, found in result.items()
    ]
    print_table("Questions held out", lines)
    for warning in warnings:
        say(f"warning: {warning}")
    write_json(result)
