"""One video, one image or one question of a run as lines to print, and the same as data."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from questree.benchmarks import chosen, held
from questree.faults import BadInput
from questree.places import path_of
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.api.runs import StrPath
    from questree.show.views import View

WIDTH = 120  # characters of a line
PICTURE = 560.0  # pixels of the drawing of a DAG
Shown = tuple[Iterator[str], dict[str, Any]]  # lines to print, and the same as data


class Shower(NamedTuple):
    """What is shown of a benchmark's runs."""

    knows: Callable[[Run, str], bool]  # is this an id of the run?
    lines: Callable[[Run, str, str | None, bool, Path | None, int], Shown]  # id, stage, DAG or not, its file, width


def shown(
    run: "StrPath",
    id: str = "",
    *,
    benchmark: str = "",
    stage: str | None = None,
    dag: bool = False,
    svg: "StrPath | None" = None,
    width: int = WIDTH,
) -> Shown:
    """A video on a timeline, an image, or a question with its program, answer and evidence; as `questree show`.

    Parameters
    ----------
    run
        Run folder.
    id
        Of a video, of an image, or of a question; the first one without it.
    benchmark
        Of a run with both: agqa or covr.
    stage
        Videos: stage of the facts, raw, facts or truth; the newest without it.
    dag
        Show a question's DAG of sub-questions.
    svg
        Draw it into this file.
    width
        Characters of a line.

    >>> from questree.api.shown import shown
    >>> lines, record = shown("run", "07QFE-200")
    >>> next(lines)
    'Before laughing at a picture, were they interacting with some medicine?  no'
    """
    place, drawing = Run.at(run), None if svg is None else path_of(svg)
    own = chosen(place, benchmark or of_id(place, id))
    found: Shown = own.part("shown").lines(place, id, stage, dag, drawing, width)
    return found


def of_id(run: Run, id: str) -> str:
    """Of a run with both, the benchmark this id is of; "" if it is nobody's."""
    if len(held(run)) < 2 or not id:
        return ""
    return next((own.name for own in reversed(held(run)) if own.part("shown").knows(run, id)), "")


def find(ids: list[str], scope: str, run: Path, called: str = "video") -> int:
    if not ids:
        raise BadInput.at(run, f"this run has no {called}s")
    if not scope:
        return 0
    if scope not in ids:
        near = get_close_matches(scope, ids, 3, 0.0)
        shown = ", ".join([*near, *["..."] * (len(near) < len(ids))])
        raise BadInput.at(run, f"no {called} {scope!r} among its {len(ids):,}; choose from {shown}")
    return ids.index(scope)


def of_dag(view: "View", id: str, svg: Path | None) -> Shown:
    """A question's DAG as a tree of lines, and as data; drawn too, if a file is named."""
    from questree.show.trees import lines

    question, found = view.taken_apart(id)
    if svg:
        from questree.show.outline import outlined
        from questree.tables.store import new_file

        with new_file(svg) as work:
            work.write_text(outlined(found, kinds=view.kinds, wide=PICTURE), "utf-8")
    record = {"id": id, "question": question.text, "answer": question.answer, "nodes": found.data()}
    return lines(found), record
