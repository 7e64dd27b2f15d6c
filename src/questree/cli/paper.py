"""Tables for a paper: the options of commands that score, and the files they name."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from questree.api import papers
from questree.cli.terminal import say
from questree.faults import Fault, refuse

if TYPE_CHECKING:
    from questree.api.papers import Grid, Layout

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
        refuse([fault for place, ending in self.places for fault in papers.replaceable(place, ending)])
        refuse([Fault("--width", f"expected at least 100 points, got {self.width}")] if self.width < 100 else [])
        lost = [name for name in ("columns", "rows") if getattr(self, name) and not self.wanted]
        refuse([Fault(f"--{name}", "expected --latex, --markdown or --csv beside it") for name in lost])


NO_PAPER = PaperOptions()
Paper = Annotated[PaperOptions, Parameter(name="*")]
Plots = Annotated[
    Path | None, Parameter(group=GROUP, help="Folder for the plots as SVG and PDF, legible in a column of a paper.")
]


def write_paper(found: Sequence["Grid"], paper: PaperOptions) -> None:
    """The tables as files."""
    if paper.wanted:
        given = asdict(paper) | {"columns": listed(paper.columns), "rows": listed(paper.rows)}
        for line in papers.write_tables(found, **given):
            say(line)


def check_plots(folder: Path | None) -> None:
    refuse(papers.replaceable(folder, ".svg", ".pdf"))


def write_pictures(folder: Path | None, found: Iterable[tuple[str, str]]) -> None:
    """Plots as files, if they are wanted."""
    for line in papers.write_pictures(folder, found) if folder else ():
        say(line)


def listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def write_scores(paper: PaperOptions, layout: "Layout", *scores: Any) -> None:
    """Score rows as tables, if they are wanted; of `papers.score_grids`."""
    if paper.wanted:
        write_paper(papers.score_grids(layout, *scores), paper)
