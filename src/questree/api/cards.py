"""What is in a run, counted without reading it, and a card that shows it in a notebook."""

from html import escape
from typing import TYPE_CHECKING

from questree.benchmarks import COVR, Benchmark
from questree.tables.run import Run
from questree.tables.table import rows_in

if TYPE_CHECKING:
    from questree.api import runs

PLACES = {  # name -> files of the tables whose rows are counted, inside a run
    "agqa": {
        "videos": "facts/videos.parquet",
        "questions": "questions/*/questions.parquet",
        "balanced": "balanced/*.parquet",
        "nodes": "decomposed/*/nodes.parquet",
    },
    "covr": {
        "images": "images/images.parquet",
        "questions": "covr/questions/*/questions.parquet",
        "balanced": "covr/balanced.parquet",
        "nodes": "covr/decomposed/*/nodes.parquet",
    },
}


def counts(run: Run, own: Benchmark) -> dict[str, int]:
    """What there is -> how many; what is not made yet is left out."""
    files = {name: sorted(run.folder.glob(pattern)) for name, pattern in PLACES[own.name].items()}
    return {name: sum(map(rows_in, found)) for name, found in files.items() if found}


def card(run: "runs.Run") -> str:
    """As HTML."""
    lines = {name: f"{count:,}" for name, count in run.counts.items()}
    lines |= {"models": ", ".join(run.models) or "none"}
    told = "".join(f"<tr><td>{escape(name)}</td><td>{escape(count)}</td></tr>" for name, count in lines.items())
    about = "sets of images" if run.benchmark == COVR.name else "videos"
    head = f"<b>{escape(str(run.folder))}</b>: questions about {about} ({run.benchmark})"
    return f"<div>{head}<table>{told}</table></div>"
