"""Every format a run can be written in, by the name `questree export` calls it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from questree.extensions import Registry

if TYPE_CHECKING:
    from questree.tables.run import Run

Write = Callable[["Run", Path], Mapping[str, int] | None]


def _nothing(run: "Run", folder: Path) -> None:
    """An exporter with a command of its own is not called this way."""


@dataclass(frozen=True)
class Exporter:
    says: str
    command: str = ""  # module:function of a command with options of its own, imported when it runs
    write: Write = _nothing  # else: fills a folder, and may say how many of what it wrote


EXPORTERS = Registry[Exporter]("exporter")
for _name, _exporter in {
    "agqa": Exporter("AGQA: question files, CSVs, id tables, scene graphs.", "questree.cli.formats:export_agqa"),
    "decomp": Exporter("AGQA-Decomp: a file of DAGs per video.", "questree.cli.formats:export_decomp"),
    "covr": Exporter("COVR: question records.", "questree.cli.formats:export_covr"),
    "traces": Exporter("Questions with their steps, for supervised fine-tuning.", "questree.cli.traces:export_traces"),
    "lmms-eval": Exporter("A task for lmms-eval.", "questree.cli.harnesses:export_lmms_eval"),
    "vlmevalkit": Exporter(
        "A table for VLMEvalKit, of videos with a class.", "questree.cli.harnesses:export_vlmevalkit"
    ),
    "inspect": Exporter("A task for inspect_ai, with scorers.", "questree.cli.harnesses:export_inspect"),
    "hf": Exporter("Parquet files with a card, for datasets of Hugging Face.", "questree.cli.harnesses:export_hf"),
}.items():
    EXPORTERS.add(_name, _exporter)
