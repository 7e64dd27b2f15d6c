"""`questree report`: one HTML file about a run and its models, to mail or to print."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from questree.api.scoring import OnePolicy, known_models
from questree.cli.shared_options import OnlyBenchmark, WorkersOption
from questree.cli.terminal import messages, say, watching
from questree.faults import Fault, refuse

NONE = "none"


@dataclass(frozen=True)
class ReportScoring(OnePolicy):
    vocabulary: Annotated[Path | None, Parameter(parse=False)] = None  # the run's own


USUAL = ReportScoring()


@messages
def report(
    run: Path,
    /,
    *,
    benchmark: OnlyBenchmark = "",
    models: Annotated[str, Parameter(name="--models", help="Stored models, as in A,B. [default: all of them]")] = "",
    bots: Annotated[
        str, Parameter(name="--bots", help=f"Bots to compare the models with, as in oracle,uniform; {NONE} for none.")
    ] = "oracle,most-likely,uniform",
    out: Annotated[Path, Parameter(name="--out", help="HTML file to write.")] = Path("report.html"),
    latex: Annotated[Path | None, Parameter(name="--latex", help="Folder for every table as LaTeX (booktabs).")] = None,
    csv: Annotated[Path | None, Parameter(name="--csv", help="Folder for every table as CSV.")] = None,
    split: Annotated[
        Literal["test", "dev", "train", "all"], Parameter(name="--split", help="Split whose questions are scored.")
    ] = "test",
    how: Annotated[ReportScoring, Parameter(name="*")] = USUAL,
    workers: WorkersOption = 2,
) -> None:
    """Tables laid out as in the papers with intervals, plots, best and worst in words, worked failures as DAGs.

    Parameters
    ----------
    run
        Run folder; parts it does not have yet are named in the report with the command that makes them.
    """
    from questree.api.run_scores import How
    from questree.show.report.sections import ReportRequest
    from questree.show.report.sections import report as make
    from questree.show.report.written import csv_text, page
    from questree.show.report.written import latex as latex_text
    from questree.tables.run import Run
    from questree.tables.store import new_file

    refuse([*replaceable(latex, ".tex"), *replaceable(csv, ".csv")])
    place = Run(run)
    references = chosen_bots(bots)
    names = chosen_models(place, models, references)
    asked = ReportRequest(str(run), names, tuple(bot for bot in references if bot not in names), out.name, benchmark)
    with watching():
        choices = How(how.missing, how.resamples, how.seed, how.policy, split=None if split == "all" else split)
        made = make(place, asked, choices, workers)
        with new_file(out) as work:
            work.write_text(page(made), "utf-8")
    say(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")
    grids = list(made.grids())
    write_tables(grids, latex, ".tex", latex_text)
    write_tables(grids, csv, ".csv", csv_text)


def replaceable(folder: Path | None, ending: str) -> list[Fault]:
    """An earlier folder of such files may be replaced, nothing else."""
    strange = [path.name for path in folder.iterdir() if path.suffix != ending] if folder and folder.is_dir() else []
    said = "not empty and not an earlier report (it has {}); choose a new folder"
    return [Fault(str(folder), said.format(name)) for name in strange[:1]]


def write_tables(grids: list[Any], folder: Path | None, ending: str, write: Any) -> None:
    """One file per table."""
    from questree.tables.store import new_folder

    if folder is None:
        return
    with new_folder(folder) as work:
        for grid in grids:
            (work / f"{grid.name}{ending}").write_text(write(grid), "utf-8")
    say(f"wrote {len(grids)} tables to {folder}")


def chosen_models(run: Any, wanted: str, bots: tuple[str, ...]) -> tuple[str, ...]:
    """The models asked for, each once; without any all that are stored, but for these bots."""
    from questree.tables.predictions import models

    there = models(run)
    names = known_models("--models", listed(wanted), there)
    return names or tuple(name for name in there if name not in bots)


def listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def chosen_bots(wanted: str) -> tuple[str, ...]:
    from questree.models.bots import BOTS

    names = tuple(name for name in listed(wanted) if name != NONE)
    strange = [name for name in names if name not in BOTS]
    known = ", ".join([*BOTS, NONE])
    refuse([Fault("--bots", f"expected a bot, got {name!r}; choose from {known}") for name in strange])
    return names
