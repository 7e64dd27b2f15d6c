"""Tables and plots for a paper, as files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from questree.faults import Fault
from questree.metrics.scores import Resampling, Score, Scored

if TYPE_CHECKING:
    from questree.metrics.best import TrainingRuns
    from questree.show.report.document import Grid as Grid

Ci = Literal["below", "beside", "none"]
Layout = Literal["decomp", "agqa", "fpvg", "all"]  # of which paper; all: a table for every way scores are grouped


def replaceable(place: Path | None, ending: str, *more: str) -> list[Fault]:
    """An earlier folder of such files may be replaced, nothing else; a file is replaced."""
    if place is None or (place.suffix == ending and not more):
        return []
    if place.is_file() or place.suffix:
        return [
            Fault(str(place), "expected a folder" if more else f"expected a name that ends in {ending}, or a folder")
        ]
    strange = [path.name for path in place.iterdir() if path.suffix not in (ending, *more)] if place.is_dir() else []
    said = "not empty and not an earlier report (it has {}); choose a new folder"
    return [Fault(str(place), said.format(name)) for name in strange[:1]]


def write_tables(
    found: Sequence["Grid"],
    *,
    latex: Path | None = None,
    markdown: Path | None = None,
    csv: Path | None = None,
    columns: Sequence[str] = (),
    rows: Sequence[str] = (),
    ci: Ci = "below",
    width: float = 219.0,
) -> list[str]:
    """Write tables, each kind into a file or a folder; what was written is told."""
    from questree.show.paper import latex as as_latex
    from questree.show.paper import plain_text
    from questree.show.paper.grids import only
    from questree.show.report.document import starred
    from questree.show.report.written import csv_text

    look, kept = as_latex.Look(ci, width), starred(only(found, tuple(columns), tuple(rows)))
    return [
        *_write(kept, latex, ".tex", lambda grid: as_latex.latex(grid, look)),
        *_write(kept, markdown, ".md", lambda grid: plain_text.markdown(grid, look)),
        *_write(kept, csv, ".csv", csv_text, plain_text.long_csv),
    ]


def write_pictures(folder: Path, found: Iterable[tuple[str, str]]) -> list[str]:
    """Write plots, as SVG and if it can be as PDF; what was written is told."""
    from questree.show.paper.plots import write_plots

    count, printed = write_plots(folder, found)
    missing = "no PDF without the package cairosvg and the library cairo; run `pip install 'questree[pdf]'`"
    return [f"wrote {count} plots to {folder}", *[f"warning: {missing}"] * (not printed)]


def _write(
    found: Sequence["Grid"],
    place: Path | None,
    ending: str,
    one: Callable[[Any], str],
    together: Callable[[Sequence[Any]], str] | None = None,
) -> list[str]:
    from questree.tables.store import new_file, new_folder

    if place is None:
        return []
    if place.suffix == ending:
        with new_file(place) as work:
            work.write_text(together(found) if together else "\n".join(map(one, found)), "utf-8")
    else:
        with new_folder(place) as work:
            for grid in found:
                (work / f"{grid.name}{ending}").write_text(one(grid), "utf-8")
    return [f"wrote {len(found)} tables to {place}"]


def score_grids(
    layout: Layout,
    rows: Sequence[Score],
    models: Mapping[str, "TrainingRuns"],
    resampling: Resampling | None,
    by_answer: bool = False,
) -> "list[Grid]":
    """Score rows as tables, the best of several models bold, marks on what differs from it."""
    from questree.metrics.best import MEDIANS, marks, note
    from questree.show.paper import grids
    from questree.show.report.document import ScoreRows

    found = marks(rows, models, resampling)
    medians = any(not isinstance(own, Scored) and len(own) > 1 for own in models.values())
    said = " ".join([*[note(resampling if found.p else None)] * bool(found.best), *[MEDIANS] * medians])
    scored = ScoreRows(rows, found)
    if layout == "all":
        return list(grids.grids(scored, grids.all_tables(rows), said))
    if layout == "decomp":
        return list(grids.for_paper(grids.decomp_tables(scored, by_answer), said))
    return list(grids.for_paper(grids.fpvg_grids(scored) if layout == "fpvg" else grids.agqa_tables(scored), said))
