"""`questree report` and `questree serve`: a run and its models in one HTML file, and in the browser."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.cli.paper import NO_PAPER, Paper, Plots, check_plots, listed, write_paper, write_pictures
from questree.cli.shared_options import OnlyBenchmark, Whole, WorkersOption
from questree.cli.terminal import messages, say, watching
from questree.faults import BadInput, Fault, refuse
from questree.models.policies import Policy
from questree.scoring.compared import OnePolicy, Tell, current_models, known_models
from questree.tables.run import Run

NONE = "none"
PICTURES = "Folder of pictures: DIR/VIDEO/FRAME or DIR/IMAGE, .png or .jpg"
EXTRA = ("starlette", "uvicorn")  # what `questree[web]` installs


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
    models: Annotated[str, Parameter(help="Stored models, as in A,B. [default: all of them]")] = "",
    bots: Annotated[
        str, Parameter(help=f"Bots to compare the models with, as in oracle,uniform; {NONE} for none.")
    ] = "oracle,most-likely,uniform",
    out: Annotated[Path, Parameter(help="HTML file to write.")] = Path("report.html"),
    split: Annotated[
        Literal["test", "dev", "train", "all"], Parameter(help="Split whose questions are scored.")
    ] = "test",
    how: Annotated[ReportScoring, Parameter(name="*")] = USUAL,
    paper: Paper = NO_PAPER,
    plots: Plots = None,
    media: Annotated[Path | None, Parameter(help=f"{PICTURES}, shown beside failures.")] = None,
    workers: WorkersOption = 2,
) -> None:
    """Tables laid out as in the papers with intervals, plots, best and worst in words, worked failures as DAGs.

    Parameters
    ----------
    run
        Run folder; parts it does not have yet are named in the report with the command that makes them.
    """
    from questree.scoring.run_scores import How
    from questree.show.frames import media_folder
    from questree.show.report.made_from import ReportRequest
    from questree.show.report.sections import report as make
    from questree.show.report.written import page
    from questree.tables.store import new_file

    paper.check()
    check_plots(plots)
    if media is not None:
        media_folder(media)
    place = Run(run)
    references = chosen_bots(bots)
    old = list[str]()
    names = chosen_models(place, models, references, old.append)
    others, left_out = (tuple(bot for bot in references if bot not in names), tuple(map(without_warning, old)))
    asked = ReportRequest(str(run), names, others, out.name, benchmark, bool(models), str(media or ""), left_out)
    with watching():
        part = None if split == "all" else split
        choices = How(how.missing, how.resamples, how.seed, how.policy, synonyms=how.synonyms, split=part)
        made = make(place, asked, choices, workers)
        with new_file(out) as work:
            work.write_text(page(made), "utf-8")
    say(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")
    for warning in (*old, *made.warnings):
        say(warning)
    write_paper(list(made.grids()), paper)
    write_pictures(plots, made.plots())


def without_warning(line: str) -> str:
    return line.removeprefix("warning: ")


def chosen_models(run: Run, wanted: str, bots: tuple[str, ...], tell: Tell) -> tuple[str, ...]:
    """The models asked for, each once; without any all that are stored, but for these bots and outdated ones."""
    from questree.tables.predictions import models

    there = models(run)
    names = known_models("--models", listed(wanted), there)
    return names or tuple(name for name in current_models(run, there, tell) if name not in bots)


def chosen_bots(wanted: str) -> tuple[str, ...]:
    from questree.models.bots import BOTS

    names = tuple(name for name in listed(wanted) if name != NONE)
    strange = [name for name in names if name not in BOTS]
    known = ", ".join([*BOTS, NONE])
    refuse([Fault("--bots", f"expected a bot, got {name!r}; choose from {known}") for name in strange])
    return names


@messages
def serve(
    run: Path,
    /,
    *,
    benchmark: Annotated[
        str, Parameter(help="Of a run with both, shown first: agqa (videos, the default) or covr (image sets).")
    ] = "",
    port: Annotated[Whole, Parameter(help="Port to listen on; 0 for any free one.")] = 8000,
    host: Annotated[str, Parameter(help="Address to listen on; anything but loopback shows the run to others.")] = (
        "127.0.0.1"
    ),
    media: Annotated[Path | None, Parameter(help=f"{PICTURES}.")] = None,
    policy: Annotated[
        Policy, Parameter(help="Way to read free-form answers of models; released numbers are `exact`.")
    ] = "exact",
    synonyms: Annotated[Path | None, Parameter(help="TOML file of further ways to say answers, for `lenient`.")] = None,
) -> None:
    """Show a run in the browser: find questions, look at one and its DAG, compare models. Ctrl-C ends it.

    Parameters
    ----------
    run
        Run folder with questions about videos, about sets of images, or both.
    """
    try:
        from questree.show.page.app import application
        from questree.show.page.serving import bound, shown_address
        from questree.show.page.serving import serve as work
        from questree.show.page.site import Site
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRA:
            raise
        wanted = f"expected the package {missing.name}, got none installed; run `pip install 'questree[web]'`"
        raise BadInput.at("questree serve", wanted) from None

    with bound(host, port) as place:  # before anything is read
        with watching():
            site = Site.read(Run(run), media, benchmark, OnePolicy(policy=policy, synonyms=synonyms))
        address = shown_address(place) + (site.first.view.home[1:] if benchmark else "")
        say(f"{run} is served at {address} (Ctrl-C ends it)")
        sys.stdout.flush()  # for whoever reads it through a pipe
        work(application(site, host), place)
    say("stopped")
