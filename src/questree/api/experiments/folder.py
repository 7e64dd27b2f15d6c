"""The folder of an experiment: a page, tables as Markdown and CSV, all numbers and findings as JSON."""

from collections.abc import Sequence
from pathlib import Path

from questree.api.experiments.findings import counted
from questree.api.experiments.plan import ExperimentPlan
from questree.api.experiments.results import ExperimentResults, findings_grid
from questree.api.files import as_json
from questree.api.papers import write_tables
from questree.show.report.document import Figure, Grid, ReportDocument, Section
from questree.show.report.written import page
from questree.tables.store import new_folder, only_earlier

FILES = frozenset({"index.html", "findings.json", "scores.json", "tables", "csv"})
TITLES = {"agqa": "AGQA", "decomp": "AGQA-Decomp", "covr": "COVR", "fpvg": "FPVG"}
INTRO = (
    "Numbers of this world, each with its 95 % interval, beside those that the paper published, marked (paper). "
    "The worlds differ: compare what follows from the numbers, not the numbers."
)


def check_folder(out: Path) -> None:
    """An earlier experiment there is replaced, nothing else."""
    only_earlier(out, FILES.__contains__, called="experiment")


def write_folder(
    out: Path, paper: str, plan: ExperimentPlan, found: ExperimentResults, commands: Sequence[str]
) -> None:
    report = document(paper, plan, found, commands)
    with new_folder(out) as folder:
        (folder / "index.html").write_text(page(report), "utf-8")
        (folder / "findings.json").write_bytes(as_json(found.findings))
        (folder / "scores.json").write_bytes(as_json(list(found.rows)))
        grids = list(report.grids())
        write_tables(grids, markdown=folder / "tables", csv=folder / "csv")


def document(paper: str, plan: ExperimentPlan, found: ExperimentResults, commands: Sequence[str]) -> ReportDocument:
    verdicts = ", ".join(f"{verdict} {count}" for verdict, count in counted(found.findings).items())
    facts = (
        ("run", plan.run.name),
        ("models", ", ".join(plan.models)),
        ("features", plan.features),
        ("findings", verdicts),
        *(("how", text) for text in found.said),
    )
    options = tuple((name, str(value)) for name, value in plan.common.items() if value is not None)
    tables = tuple(block for block in found.blocks if isinstance(block, Grid | Figure))
    sections = (
        Section(
            "findings", "Findings", "Which published findings hold in this world.", (findings_grid(found.findings),)
        ),
        Section("tables", "Tables", INTRO, tables),
    )
    return ReportDocument(
        f"The experiments of {TITLES[paper]}, in this world", facts, sections, options, tuple(commands)
    )
