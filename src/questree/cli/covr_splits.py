"""`questree covr splits`: COVR's 21 splits, and your own, of a run or of a file of questions."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.faults import BadInput, Fault, refuse


def splits(
    run: Annotated[Path | None, Parameter(help="Run folder with image questions.")] = None,
    /,
    *,
    questions: Annotated[
        Path | None, Parameter(name="--questions", help='Questions {"train": [...], "val": [...]} instead of a run.')
    ] = None,
    name: Annotated[
        list[str] | None, Parameter(name="--name", help="Only this split; may be given again.", negative="")
    ] = None,
    own: Annotated[Path | None, Parameter(name="--splits", help="Your own splits, in a YAML file.")] = None,
    few_shot: Annotated[int, Parameter(name="--few-shot", help="Examples with the property that stay in train.")] = 250,
    seed: Annotated[int, Parameter(name="--seed", help="Of everything that is drawn.")] = 0,
    draws: Annotated[int, Parameter(name="--draws", help="Program and lexical splits of a run, of as many seeds.")] = 3,
    lexical_pairs: Annotated[int, Parameter(name="--lexical-pairs", help="Pairs of terms that are held out.")] = 65,
    lexical_alone: Annotated[
        int, Parameter(name="--lexical-alone", help="Questions of train with one term but not the other, at least.")
    ] = 50,
    lexical_together: Annotated[
        int, Parameter(name="--lexical-together", help="Questions of val or test with both terms, at least.")
    ] = 15,
    every: Annotated[bool, Parameter(name="--all", help="Every question, not only the balanced selection.")] = False,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Hold out questions by what they are made of; each split of a run proves itself."""
    from questree.stages.split.draws import Lexical
    from questree.stages.split.properties import Drawing

    given = {"--few-shot": few_shot, "--draws": draws, "--lexical-pairs": lexical_pairs}
    given |= {"--lexical-alone": lexical_alone, "--lexical-together": lexical_together}
    refuse([Fault(flag, f"wanted a number from 0 on, came {value}") for flag, value in given.items() if value < 0])
    drawing = Drawing(seed, Lexical(lexical_pairs, lexical_alone, lexical_together), few_shot)
    if (run is None) == (questions is None):
        raise BadInput.at("", "wanted either a run folder or --questions FILE")
    if questions is not None and (name or own or every):
        raise BadInput.at("", "--name, --splits and --all are for runs; --questions writes every property")
    if questions is not None:
        of_file(questions, drawing, json, quiet)
    elif run is not None:
        from questree.stages.split.shots import Options

        of_run(run, Options(drawing, draws, tuple(name or ()), own, every), json, quiet)


def of_file(questions: Path, drawing: Any, json: Path | None, quiet: bool) -> None:
    """Every property with the ids it holds out."""
    from questree.sources.covr_questions import SIDES, read_sides
    from questree.stages.split.properties import of_records, properties

    with watching(quiet):
        rows = of_records(read_sides(questions))
        side = {name: (rows.questions["side"] == name).to_numpy() for name in SIDES}
        result, warnings = dict[str, dict[str, Any]](), list[str]()
        for each in properties(rows, drawing, side["train"], side["val"]):
            held = each.predicate.holds(rows)
            result[each.name] = {name: rows.questions["id"].filter(held & at).to_list() for name, at in side.items()}
            result[each.name] |= {} if each.drawn is None else {"held_out": each.drawn}
            warnings += each.warnings
    lines = [
        {"held out": name, "drawn": len(found["held_out"]) if "held_out" in found else None}
        | {side: len(found[side]) for side in SIDES}
        for name, found in result.items()
    ]
    if json is None or str(json) != "-":
        print_table("Questions held out", lines, quiet)
        for warning in warnings:
            say(f"warning: {warning}", quiet)
    write_json(json, result)


def of_run(run: Path, options: Any, json: Path | None, quiet: bool) -> None:
    from questree.stages.split.shots import split_run
    from questree.tables.run import Run

    with watching(quiet):
        made = split_run(Run(run), options)
    lines = [
        {"split": each.name, "filtered": each.filtered, "kept": each.kept}
        | each.counts
        | {"images": each.images["test"]}
        for each in made
    ]
    print_table("Splits: questions", lines, quiet)
    for warning in dict.fromkeys(text for each in made for text in each.warnings):
        say(f"warning: {warning}", quiet)
    say("proved: nothing held out is in train but what is kept; no image is in train and in test", quiet)
    say(f"wrote {run / 'covr' / 'splits'}", quiet)
    write_json(json, made)
