"""A run and its models in one HTML file, and in the browser."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from questree.api.choices import OnePolicy, Policy, ScoringOptions, chosen
from questree.api.score_sets import leaving_out
from questree.faults import BadInput, Fault, refuse
from questree.models.bots import BOTS
from questree.places import path_of
from questree.scoring.compared import Tell, current_models, known_models
from questree.scoring.run_scores import How
from questree.tables.predictions import models as stored_models
from questree.tables.run import Run
from questree.tables.store import new_file

if TYPE_CHECKING:
    from questree.show.report.document import Grid, ReportDocument

StrPath = str | PathLike[str]
REFERENCES = ("oracle", "most-likely", "uniform")  # bots that models are compared with
SPLITS = ("test", "dev", "train", "all")
EXTRA = ("starlette", "uvicorn")  # what `questree[web]` installs


@dataclass(frozen=True, repr=False)
class Report:
    """A report that was written.

    >>> report = questree.report("run", out="run.html", resamples=0)
    >>> report.out.name, report.sections[:2]
    ('run.html', ['result', 'failures'])
    """

    out: Path
    document: "ReportDocument"
    left_out: tuple[str, ...]  # models that are not in it, and why

    @property
    def sections(self) -> list[str]:
        """Names of its sections."""
        return [section.name for section in self.document.sections]

    @property
    def warnings(self) -> list[str]:
        """What whoever makes it should know."""
        return [*(f"warning: {line}" for line in self.left_out), *self.document.warnings]

    def grids(self) -> "Iterator[Grid]":
        """Its tables, for a paper.

        >>> [grid.name for grid in questree.report("run", out="run.html", resamples=0).grids()][:2]
        ['scoreboard', 'decomp-type']
        """
        return self.document.grids()

    def plots(self) -> Iterator[tuple[str, str]]:
        """(name, SVG) of every picture, as a paper takes it.

        >>> [name for name, svg in questree.report("run", out="run.html", resamples=0).plots()][0]
        'forest'
        """
        return self.document.plots()

    def __repr__(self) -> str:
        return f"<Report {self.out}: {', '.join(self.sections)}>"

    def _repr_html_(self) -> str:
        address = self.out.resolve().as_uri()
        return f'<p><a href="{address}">{self.out.name}</a>: {", ".join(self.sections)}</p>'


def report(
    run: StrPath,
    *,
    out: StrPath = "report.html",
    benchmark: str = "",
    models: str | Sequence[str] = (),
    bots: str | Sequence[str] = REFERENCES,
    split: str = "test",
    media: StrPath | None = None,
    unscored: StrPath | None = None,
    workers: int = 2,
    **how: Unpack[ScoringOptions],
) -> Report:
    """Write one HTML file about a run and its models, as `questree report` does.

    Parameters
    ----------
    run
        Run folder; parts it does not have yet are named in the report with the command that makes them.
    out
        HTML file to write.
    benchmark
        Of a run with both: only agqa (videos) or covr (image sets).
    models
        Stored models; all of them if left out.
    bots
        Bots to compare the models with; () for none.
    split
        Split whose questions are scored: test, dev, train or all.
    media
        Folder of pictures to show beside failures: DIR/VIDEO/FRAME or DIR/IMAGE, .png or .jpg.
    unscored
        File of types not to score, one per line, instead of those the paper leaves out.
    workers
        Number of processes.
    how
        missing, policy, resamples, seed, synonyms.

    >>> questree.report("run", out="run.html", resamples=0).out.stat().st_size > 100_000
    True
    """
    from questree.show.frames import media_folder
    from questree.show.report.made_from import ReportRequest
    from questree.show.report.sections import report as make
    from questree.show.report.written import page

    place, file = Run.at(run), path_of(out)
    pictures = None if media is None else media_folder(path_of(media))
    if split not in SPLITS:
        raise BadInput.at("--split", f"expected a split, got {split!r}; choose from {', '.join(SPLITS)}")
    given, part = chosen(OnePolicy, how), None if split == "all" else split
    named, references, old = _listed(models), chosen_bots(_listed(bots)), list[str]()
    own = chosen_models(place, named, references, lambda line: old.append(line.removeprefix("warning: ")))
    others, why = tuple(bot for bot in references if bot not in own), tuple(old)
    types = None if unscored is None else path_of(unscored)
    about = (benchmark, bool(named), str(pictures or ""), str(types or ""), why)
    asked = ReportRequest(str(place.folder), own, others, file.name, *about)
    choices = How(given.missing, given.resamples, given.seed, given.policy, synonyms=given.synonyms, split=part)
    with leaving_out(types):
        made = make(place, asked, choices, workers)
    with new_file(file) as work:
        work.write_text(page(made), "utf-8")
    return Report(file, made, why)


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def chosen_models(run: Run, wanted: tuple[str, ...], bots: tuple[str, ...], tell: Tell) -> tuple[str, ...]:
    """The models asked for, each once; without any all that are stored, but for these bots and outdated ones."""
    there = stored_models(run)
    names = known_models("--models", wanted, there)
    return names or tuple(name for name in current_models(run, there, tell) if name not in bots)


def chosen_bots(names: tuple[str, ...]) -> tuple[str, ...]:
    strange = [name for name in names if name not in BOTS]
    known = ", ".join([*BOTS, "none"])
    refuse([Fault("--bots", f"expected a bot, got {name!r}; choose from {known}") for name in strange])
    return names


@contextmanager
def web_packages(command: str) -> Iterator[None]:
    """What serves pages is imported inside, or the extra that installs it is named."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRA:
            raise
        wanted = f"expected the package {missing.name}, got none installed; run `pip install 'questree[web]'`"
        raise BadInput.at(command, wanted) from None


def serve(
    run: StrPath,
    *,
    benchmark: str = "",
    host: str = "127.0.0.1",
    port: int = 8000,
    media: Path | None = None,
    policy: Policy = "exact",
    synonyms: Path | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Show a run in the browser until Ctrl-C, as `questree serve` does; `ready` hears the address."""
    with web_packages("questree serve"):
        from questree.show.page.app import application
        from questree.show.page.serving import bound, shown_address
        from questree.show.page.serving import serve as work
        from questree.show.page.site import Site
    with bound(host, port) as place:  # before anything is read
        how = OnePolicy(policy=policy, synonyms=synonyms)
        site = Site.read(Run.at(run), media, benchmark, how)
        ready(shown_address(place) + (site.first.view.home[1:] if benchmark else ""))
        work(application(site, host), place)
