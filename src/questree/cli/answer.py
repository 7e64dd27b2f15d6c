"""`questree answer`: somebody answers the questions of a run."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.domains.video import videos
from questree.faults import BadInput
from questree.imports.runs import read_facts
from questree.imports.table import SETS, files, read
from questree.models.oracle import AGREES, OUTCOMES, Tally, reanswer
from questree.progress import watch
from questree.tables.run import Run

SHOWN = 20  # disagreements on the screen; the JSON file has all


def answer(
    run: Path,
    /,
    *,
    model: Annotated[Literal["oracle"], Parameter(help="Who answers.")],
    facts: Annotated[
        Path | None, Parameter(name="--facts", help="Facts to answer on, if the run has none: a run or scene graphs.")
    ] = None,
    released_last: Annotated[bool, Parameter(help="Read `last` as the released generator does.")] = False,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Answer the imported questions of a run again by executing their programs, and list where the answers differ.

    Parameters
    ----------
    run
        Run folder with imported questions (`questree import`).
    """
    place = Run(run)
    vocabulary = place.vocabulary()
    if not place.imported.is_dir():
        raise BadInput.at(place.imported, "not there yet; `questree import` writes it")
    with watching(quiet):
        known = read_facts(facts, place.vocabulary_file.read_text("utf-8"))[1] if facts else place.newest()
        if known is None:
            raise BadInput.at(run, "no facts to answer on: give --facts, or import the questions with --facts")
        world, tally = videos(known, vocabulary, released_last), Tally()
        asked = [file for name in SETS for file in files(place.imported, name)]
        for file in watch(asked, "oracle", len(asked)):
            tally.add(reanswer(read(place.imported, file), world))
    tell(tally, quiet)
    write_json(json, result(tally))


def tell(tally: Tally, quiet: bool) -> None:
    total = sum(tally.outcomes.values())
    print_table("Oracle", [{"outcome": name, "questions": count} for name, count in tally.outcomes.items()], quiet)
    print_table("Not read", [{"questions": count, "why": why} for why, count in tally.unread.items()][:SHOWN], quiet)
    odd = [{"shape": name} | own for name, own in shape_rows(tally) if own["asked"] > own[AGREES]]
    print_table("Shapes with other answers", odd[:SHOWN], quiet)
    for each in tally.disagreements[:SHOWN]:
        computed = each["computed"] or f"undefined: {each['why']}"
        say(f"{each['id']}: {each['question']} stored {each['stored']}, computed {computed}", quiet)
    say(f"{total:,} questions, {len(tally.disagreements):,} answered otherwise", quiet)


def shape_rows(tally: Tally) -> list[tuple[str, dict[str, int]]]:
    found = [name for name in OUTCOMES if name in tally.outcomes or name == AGREES]
    return [
        (shape, {"asked": sum(own.values())} | {name: own.get(name, 0) for name in found})
        for shape, own in tally.shapes.items()
    ]


def result(tally: Tally) -> dict[str, Any]:
    return {
        "outcomes": tally.outcomes,
        "not read": tally.unread,
        "shapes": dict(shape_rows(tally)),
        "disagreements": tally.disagreements,
    }
