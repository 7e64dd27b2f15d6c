"""`questree export decomp` and `questree import decomp`: DAGs of sub-questions in the layout of the release."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.benchmarks import chosen
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.tables.lock import lock
from questree.tables.run import Run


@output
def export_command(
    run: Path,
    /,
    *,
    out: Annotated[Path, Parameter(name="--out", help="Folder to write; an earlier export there is replaced.")],
    workers: WorkersOption = 2,
) -> None:
    """Write the DAGs of a run as AGQA-Decomp's release: `<set>_<split>_hierarchies/<video>.json`, `isolated.json`.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    from questree.formats.decomp import export_decomp

    if not Run(run).hierarchies.is_dir():
        chosen(Run(run), "agqa")
    with watching():
        counts = export_decomp(Run(run), out, workers)
    print_table("DAGs per folder", [{"folder": name, **found} for name, found in counts.items()])
    say(f"wrote {out}")
    write_json({"out": str(out), "folders": counts})


@output
def import_command(
    folder: Annotated[
        Path, Parameter(help="Folder with <video>.json files, or with folders of them (.._hierarchies).")
    ],
    /,
    *,
    out: Annotated[Path, Parameter(name="--out", help="Run folder, new or not, to write hierarchies/ into.")],
) -> None:
    """Read DAGs in the layout of AGQA-Decomp's release; what is irregular is listed and kept."""
    from questree.formats.decomp_files import import_decomp
    from questree.sources.runs import check_target

    if not Run(out).hierarchies.is_dir():
        check_target(out)
    with watching():
        told = import_decomp(folder, Run(out).hierarchies)
        lock(Run(out), "hierarchies")
    rows = [{"folder": name, "DAGs": told.dags.get(name, 0), "isolated": n} for name, n in told.isolated.items()]
    odd = [
        {"times": n, "what": what, "for example": ", ".join(told.examples[what])} for what, n in told.odd.most_common()
    ]
    print_table("DAGs per folder", rows)
    print_table("Irregularities", odd)
    say(f"{told.kept_as_is:,} DAGs kept as they are, {sum(told.odd.values()):,} irregularities")
    say(f"wrote {Run(out).hierarchies}")
    write_json({"out": str(out), "folders": rows, "kept as they are": told.kept_as_is, "irregular": odd})
