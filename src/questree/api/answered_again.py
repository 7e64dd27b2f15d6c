"""Imported questions answered again by executing their programs, and where the answers differ."""

from typing import TYPE_CHECKING, Any

from questree.api.made import Made
from questree.domains.video import videos
from questree.faults import BadInput
from questree.formats.agqa_import import SETS, files, read
from questree.formats.agqa_run import read_facts
from questree.models.oracle import AGREES, OUTCOMES, OracleTally, reanswer
from questree.places import path_of
from questree.progress import watch
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.api.runs import StrPath

SHOWN = 20  # disagreements in what is told; the record has all


def answer_again(run: "StrPath", *, facts: "StrPath | None" = None, released_last: bool = False) -> Made:
    """Execute the programs of imported questions, as `questree answer` does without a model.

    `facts` to answer from, if the run has none; `released_last`: `last` and between as in the released generator.
    """
    place = Run.at(run)
    if not place.imported.is_dir():
        if place.decomposed.is_dir():
            raise BadInput.at(place.imported, "no imported questions to answer again; give --model to answer the run's")
        what = "no questions with DAGs to answer; `questree decompose` makes them of the run's questions"
        raise BadInput.at(place.decomposed, f"{what}, and `questree import` brings others")
    known = read_facts(path_of(facts), place.vocabulary_file.read_text("utf-8")) if facts else place.newest()
    if known is None or not known.told:
        raise BadInput.at(place.folder, "no facts to answer on: give --facts, or import the questions with --facts")
    world, tally = videos(known, place.vocabulary(), released_last, released_between=released_last), OracleTally()
    asked = [file for name in SETS for file in files(place.imported, name)]
    for file in watch(asked, "oracle", len(asked)):
        tally.add(reanswer(read(place.imported, file), world))
    found = {"outcomes": tally.outcomes, "not read": tally.unread, "shapes": dict(shape_rows(tally))}
    return Made("answer", told(tally), found | {"disagreements": tally.disagreements})


def told(tally: OracleTally) -> list[Any]:
    total = sum(tally.outcomes.values())
    odd = [{"shape": name} | own for name, own in shape_rows(tally) if own["asked"] > own[AGREES]]
    said: list[Any] = [
        ("Oracle", [{"outcome": name, "questions": count} for name, count in tally.outcomes.items()]),
        ("Not read", [{"questions": count, "why": why} for why, count in tally.unread.items()][:SHOWN]),
        ("Shapes with other answers", odd[:SHOWN]),
    ]
    for each in tally.disagreements[:SHOWN]:
        computed = each["computed"] or f"undefined: {each['why']}"
        said.append(f"{each['id']}: {each['question']} stored {each['stored']}, computed {computed}")
    return [*said, f"{total:,} questions, {len(tally.disagreements):,} answered otherwise"]


def shape_rows(tally: OracleTally) -> list[tuple[str, dict[str, int]]]:
    found = [name for name in OUTCOMES if name in tally.outcomes or name == AGREES]
    return [
        (shape, {"asked": sum(own.values())} | {name: own.get(name, 0) for name in found})
        for shape, own in tally.shapes.items()
    ]
