"""`questree export`: a run in the formats of released benchmarks."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.benchmarks import chosen
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.formats.agqa import ExportOptions, export
from questree.formats.catalogue import Exporter
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier


@output
def agqa(
    run: Path,
    /,
    *,
    out: Annotated[Path, Parameter(name="--out", help="Folder to write; an earlier export there is replaced.")],
    unbalanced: Annotated[bool, Parameter(help="Also write every question, not only the balanced selection.")] = False,
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
    chosen(Run(run), "agqa")
    with watching():
        counts = export(Run(run), out, ExportOptions(unbalanced, csv, graphs), workers)
    print_table("Questions per file", [{"file": name, "questions": count} for name, count in counts.items()])
    say(f"wrote {out}")
    write_json({"out": str(out), "questions": counts})


def written_by(exporter: Exporter) -> Callable[..., None]:
    """The command of a plugin's exporter."""

    @output
    def command(
        run: Annotated[Path, Parameter(help="Run folder.")],
        /,
        *,
        out: Annotated[Path, Parameter(name="--out", help="Folder to write, new or empty.")],
    ) -> None:
        only_earlier(out, lambda name: False)
        with watching(), new_folder(out) as folder:
            counts = dict(exporter.write(Run(run), folder) or {})
        print_table("Written", [{"what": name, "count": count} for name, count in counts.items()])
        say(f"wrote {out}")
        write_json({"out": str(out), "written": counts})

    return command
