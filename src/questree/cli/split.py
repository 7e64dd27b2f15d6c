"""`questree split`: train and test, by video or image and by what questions are made of."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.benchmarks import chosen
from questree.cli.shared_options import BenchmarkOption, EveryOption, WorkersOption, at_least, fitting
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput, refuse
from questree.tables.lock import lock
from questree.tables.run import Run


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
    place = Run(run)
    own = chosen(place, benchmark, "questions")
    given = fitting(own, "video", {"more_steps": more_steps})
    counts = {"few_shot": few_shot, "draws": draws, "lexical_pairs": lexical_pairs}
    counts |= {"lexical_alone": lexical_alone, "lexical_together": lexical_together}
    drawn = fitting(own, "images", {"name": name, "seed": seed, **counts})
    refuse(at_least(0, counts))
    if own.domain == "images":
        of_images(place, drawn, splits, every)
    else:
        of_videos(place, given.get("more_steps", ""), splits, every, workers)


def of_videos(run: Run, more_steps: str, splits: Path | None, every: bool, workers: int) -> None:
    from questree.stages.questions import Bank
    from questree.stages.split.engine import SplitOptions
    from questree.stages.split.videos import split

    steps = read_steps(more_steps, Bank(run).edition.codes) if more_steps else {}
    with watching():
        made = split(run, SplitOptions(splits, every, steps), workers)
        lock(run, "splits")
    rows = [
        {"split": m.name, "train": m.train, "of videos": m.train_videos, "test": m.test, "videos": m.test_videos}
        for m in made
    ]
    print_table("Splits: questions", rows)
    for warning in (text for each in made for text in each.warnings):
        say(f"warning: {warning}")
    say(f"wrote {run.folder / 'splits'}")
    write_json(made)


def of_images(run: Run, drawn: dict[str, Any], splits: Path | None, every: bool) -> None:
    from questree.stages.split.engine import SplitOptions
    from questree.stages.split.image_sets import split_run

    names, draws = tuple(drawn.pop("name", ())), drawn.pop("draws", SplitOptions.draws)
    with watching():
        options = SplitOptions(splits, every, names=names, drawing=drawing(**drawn), draws=draws)
        made = split_run(run, options)
        lock(run, "covr/splits")
    lines = [
        {"split": each.name, "filtered": each.filtered, "kept": each.kept}
        | each.counts
        | {"images": each.images["test"]}
        for each in made
    ]
    print_table("Splits: questions", lines)
    for warning in dict.fromkeys(text for each in made for text in each.warnings):
        say(f"warning: {warning}")
    say("proved: nothing held out is in train but what is kept; no image is in train and in test")
    say(f"wrote {run.covr / 'splits'}")
    write_json(made)


def drawing(
    seed: int = 0, few_shot: int = 250, lexical_pairs: int = 65, lexical_alone: int = 50, lexical_together: int = 15
) -> Any:
    """How what is drawn is drawn."""
    from questree.stages.split.draws import Lexical
    from questree.stages.split.properties import Drawing

    return Drawing(seed, Lexical(lexical_pairs, lexical_alone, lexical_together), few_shot)


def read_steps(text: str, templates: Collection[str]) -> dict[str, int]:
    """Template -> most steps in train; templates of the run, those that were added among them."""
    found = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        if name not in templates or not number.isdigit():
            wanted = f"expected TEMPLATE=STEPS, got {part!r}; choose from {', '.join(templates)}"
            raise BadInput.at("--more-steps", wanted)
        found[name] = int(number)
    return found


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
