"""`questree import`: questions of released benchmarks into a run."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.formats.agqa_import import AgqaImported, import_agqa
from questree.tables.lock import lock
from questree.tables.run import Run

SHOWN = 20  # faults in the table; the JSON file has all


@output
def agqa(
    folder: Annotated[Path, Parameter(help="Folder with AGQA_balanced/, AGQA_unbalanced/ or the question files.")],
    /,
    *,
    out: Annotated[Path, Parameter(name="--out", help="Run folder, new or not, to write imported/ into.")],
    facts: Annotated[
        Path | None, Parameter(name="--facts", help="Facts to answer from: a run, or a folder of scene graphs.")
    ] = None,
) -> None:
    """Read AGQA's question files, released or exported by us; programs are read, odd records listed and kept."""
    with watching():
        told = import_agqa(folder, out, facts)
        lock(Run(out), "imported", "raw", "facts")
    print_table("Questions per file", [{"file": name, "questions": n} for name, n in told.questions.items()])
    print_table("Irregular records", irregular(told)[:SHOWN])
    say(f"{len(told.shapes):,} shapes of programs, {sum(told.faults.values()):,} irregular records")
    say(f"wrote {out / 'imported'}")
    result = {"out": str(out), "questions": told.questions, "shapes": len(told.shapes)}
    write_json(result | {"kept as they are": told.kept_as_is, "irregular": irregular(told)})


def irregular(told: AgqaImported) -> list[dict[str, Any]]:
    return [
        {"records": count, "what": fault, "for example": ", ".join(told.examples[fault])}
        for fault, count in told.faults.most_common()
    ]
