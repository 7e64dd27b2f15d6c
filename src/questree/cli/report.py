"""`questree report` and `questree serve`: a run and its models in one HTML file, and in the browser."""

import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.api.choices import OnePolicy, Policy
from questree.cli.clusters import clustered
from questree.cli.paper import NO_PAPER, Paper, Plots, check_plots, listed, write_paper, write_pictures
from questree.cli.shared_options import OnlyBenchmark, UnscoredOption, Whole, WorkersOption
from questree.cli.terminal import messages, say, watching

NONE = "none"
PICTURES = "Folder of pictures: DIR/VIDEO/FRAME or DIR/IMAGE, .png or .jpg"
FILMS = "of films: DIR/VIDEO, .mp4 or .webm"


@dataclass(frozen=True)
class ReportScoring(OnePolicy):
    vocabulary: Annotated[Path | None, Parameter(parse=False)] = None  # the run's own


USUAL = ReportScoring()


@messages
@clustered
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
    unscored: UnscoredOption = None,
    workers: WorkersOption = 2,
) -> None:
    """Tables laid out as in the papers with intervals, plots, best and worst in words, worked failures as DAGs.

    Parameters
    ----------
    run
        Run folder; parts it does not have yet are named in the report with the command that makes them.
    """
    from questree.api.reports import report as work

    paper.check()
    check_plots(plots)
    references = [name for name in listed(bots) if name != NONE]
    with watching():
        made = work(
            run, out=out, benchmark=benchmark, models=listed(models), bots=references, split=split, media=media,
            unscored=unscored, workers=workers, **asdict(how),
        )  # fmt: skip
    say(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")
    for warning in made.warnings:
        say(warning)
    write_paper(list(made.grids()), paper)
    write_pictures(plots, made.plots())


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
    media: Annotated[Path | None, Parameter(help=f"{PICTURES}; or {FILMS}.")] = None,
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
    from questree.api.reports import serve as work

    with ExitStack() as progress:
        progress.enter_context(watching())

        def ready(address: str) -> None:
            progress.close()
            say(f"{run} is served at {address} (Ctrl-C ends it)")
            sys.stdout.flush()  # for whoever reads it through a pipe

        work(run, benchmark=benchmark, host=host, port=port, media=media, policy=policy, synonyms=synonyms, ready=ready)
    say("stopped")
