"""`questree export` and `questree import`: runs in the formats of released benchmarks, and their files into runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api import exporting, importing
from questree.api.catalogue import Exporter
from questree.cli.clusters import clustered
from questree.cli.functions import command
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, tell_made, watching

OutOption = Annotated[Path, Parameter(help="Folder to write; an earlier export there is replaced.")]


@output
@clustered
def export_agqa(
    run: Path,
    /,
    *,
    out: OutOption,
    unbalanced: Annotated[bool, Parameter(help="Also write every question, not only the balanced selection.")] = False,
    sample: Annotated[
        int | None,
        Parameter(help="With --unbalanced: number of questions to write, the balanced ones among them. [default: all]"),
    ] = None,
    csv: Annotated[bool, Parameter(help="Write CSV files for the published baselines.")] = True,
    graphs: Annotated[bool, Parameter(help="Write scene graphs.")] = True,
    workers: WorkersOption = 2,
) -> None:
    """Write a run as AGQA's release: question files with every field, CSVs, id tables, scene graphs.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate` or `questree import`).
    """
    how = {"unbalanced": unbalanced, "sample": sample, "csv": csv, "graphs": graphs, "workers": workers}
    with watching():
        made = exporting.export(run, "agqa", out=out, **how)
    tell_made(made)


@output
@clustered
def export_decomp(run: Path, /, *, out: OutOption, workers: WorkersOption = 2) -> None:
    """Write the DAGs of a run as AGQA-Decomp's release: `<set>_<split>_hierarchies/<video>.json`, `isolated.json`.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    with watching():
        made = exporting.export(run, "decomp", out=out, workers=workers)
    tell_made(made)


@output
@clustered
def export_covr(
    run: Path,
    /,
    *,
    out: OutOption,
    every: Annotated[
        bool, Parameter(name="--all", help="Write every question, not only the balanced selection.")
    ] = False,
    split: Annotated[
        str, Parameter(help="Split whose parts and training lists to write instead of train, dev and test.")
    ] = "",
    workers: WorkersOption = 2,
) -> None:
    """Write the image questions of a run as COVR's records, one JSON line each: train.jsonl, val.jsonl, test.jsonl.

    Parameters
    ----------
    run
        Run folder with image questions (`questree generate` or `questree import covr`).
    """
    with watching():
        made = exporting.export(run, "covr", out=out, every=every, split=split, workers=workers)
    tell_made(made)


def written_by(exporter: Exporter) -> Callable[..., None]:
    """The command of a plugin's exporter."""

    @output
    def command(
        run: Annotated[Path, Parameter(help="Run folder.")],
        /,
        *,
        out: Annotated[Path, Parameter(help="Folder to write, new or empty.")],
    ) -> None:
        with watching():
            made = exporting.written_by(exporter, run, out)
        tell_made(made)

    return command


import_agqa = command(importing.import_agqa)
import_decomp = command(importing.import_decomp)
import_covr = command(importing.import_covr)
