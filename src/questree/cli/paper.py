"""Tables for a paper: the options of commands that score, and the files they name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from questree.cli.terminal import say
from questree.faults import Fault, refuse
from questree.metrics.scores import Resampling, Score, Scored

if TYPE_CHECKING:
    from questree.metrics.best import TrainingRuns
    from questree.show.report.document import Grid

GROUP = Group("Tables for a paper", sort_key=1)


@dataclass(frozen=True)
class PaperOptions:
    """Where tables go, and which of their columns and lines."""

    latex: Annotated[
        Path | None, Parameter(group=GROUP, help="File.tex for the tables as LaTeX, or a folder for a file each.")
    ] = None
    markdown: Annotated[Path | None, Parameter(group=GROUP, help="File.md for them as Markdown, or a folder.")] = None
    csv: Annotated[
        Path | None, Parameter(group=GROUP, help="File.csv for their numbers unrounded, a line each; or a folder.")
    ] = None
    columns: Annotated[str, Parameter(group=GROUP, help="Only these columns, as in accuracy,CA. [default: all]")] = ""
    rows: Annotated[str, Parameter(group=GROUP, help="Only these lines, as in Overall,Choose. [default: all]")] = ""
    ci: Annotated[
        Literal["below", "beside", "none"], Parameter(group=GROUP, help="Place of the intervals in LaTeX and Markdown.")
    ] = "below"
    width: Annotated[
        float, Parameter(group=GROUP, help="Width of a LaTeX table in points; the default fits a column of any venue.")
    ] = 219.0

    @property
    def wanted(self) -> bool:
        return any((self.latex, self.markdown, self.csv))

    @property
    def places(self) -> list[tuple[Path | None, str]]:
        return [(self.latex, ".tex"), (self.markdown, ".md"), (self.csv, ".csv")]

    def check(self) -> None:
        """What would be overwritten is said before anything is scored."""
        refuse([fault for place, ending in self.places for fault in replaceable(place, ending)])
        refuse([Fault("--width", f"expected at least 100 points, got {self.width}")] if self.width < 100 else [])
        lost = [name for name in ("columns", "rows") if getattr(self, name) and not self.wanted]
        refuse([Fault(f"--{name}", "expected --latex, --markdown or --csv beside it") for name in lost])


NO_PAPER = PaperOptions()
Paper = Annotated[PaperOptions, Parameter(name="*")]
Plots = Annotated[
    Path | None, Parameter(group=GROUP, help="Folder for the plots as SVG and PDF, legible in a column of a paper.")
]


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


def write_paper(found: Sequence["Grid"], paper: PaperOptions) -> None:
    """The tables as files."""
    from questree.show.paper.grids import only
    from questree.show.paper.latex import Look, latex
    from questree.show.paper.plain_text import long_csv, markdown
    from questree.show.report.written import csv_text

    if not paper.wanted:
        return
    look, kept = Look(paper.ci, paper.width), only(found, listed(paper.columns), listed(paper.rows))
    _write(kept, paper.latex, ".tex", lambda grid: latex(grid, look))
    _write(kept, paper.markdown, ".md", lambda grid: markdown(grid, look))
    _write(kept, paper.csv, ".csv", csv_text, long_csv)


def check_plots(folder: Path | None) -> None:
    refuse(replaceable(folder, ".svg", ".pdf"))


def write_pictures(folder: Path | None, found: Iterable[tuple[str, str]]) -> None:
    """Plots as files, if they are wanted."""
    from questree.show.paper.plots import write_plots

    if folder is None:
        return
    count, printed = write_plots(folder, found)
    say(f"wrote {count} plots to {folder}")
    if not printed:
        say("warning: no PDF without the package cairosvg and the library cairo; run `pip install 'questree[pdf]'`")


def listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _write(
    found: Sequence["Grid"],
    place: Path | None,
    ending: str,
    one: Callable[[Any], str],
    together: Callable[[Sequence[Any]], str] | None = None,
) -> None:
    from questree.tables.store import new_file, new_folder

    if place is None:
        return
    if place.suffix == ending:
        with new_file(place) as work:
            work.write_text(together(found) if together else "\n".join(map(one, found)), "utf-8")
    else:
        with new_folder(place) as work:
            for grid in found:
                (work / f"{grid.name}{ending}").write_text(one(grid), "utf-8")
    say(f"wrote {len(found)} tables to {place}")


def write_scores(
    paper: PaperOptions,
    tables: Callable[[Sequence[Score]], Sequence[Any]],
    rows: Sequence[Score],
    models: Mapping[str, "TrainingRuns"],
    resampling: Resampling | None,
) -> None:
    """Score rows as tables, the best of several models bold, marks on what differs from it."""
    if not paper.wanted:
        return
    from questree.metrics.best import marks, note
    from questree.show.paper.grids import grids
    from questree.show.report.document import ScoreRows

    found = marks(rows, models, resampling)
    medians = any(not isinstance(own, Scored) and len(own) > 1 for own in models.values())
    said = note(resampling if found.q else None, medians) if found.best else ""
    write_paper(list(grids(ScoreRows(rows, found), tables(rows), said)), paper)
