"""A run in the formats of released benchmarks, or in that of a plugin."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from questree.api.made import Made
from questree.benchmarks import chosen
from questree.faults import BadInput
from questree.formats.catalogue import EXPORTERS, Exporter
from questree.places import path_of
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier

if TYPE_CHECKING:
    from questree.api.runs import StrPath


def export(run: "StrPath", format: str, *, out: "StrPath", **options: Any) -> Made:
    """Write a run in a format, as `questree export FORMAT` does.

    Parameters
    ----------
    run
        Run folder.
    format
        agqa, decomp, covr; lmms-eval, vlmevalkit, inspect, hf; or the exporter of a plugin. For traces see
        `Run.traces`.
    out
        Folder to write; an earlier export there is replaced.
    options
        Of the command: unbalanced, sample, csv, graphs, workers (agqa), workers (decomp), every, split, workers (covr),
        split, media, frames, benchmark and more (harnesses).

    >>> questree.export("images", "covr", out="covr").data()["questions"]
    {'train.jsonl': 16, 'val.jsonl': 2, 'test.jsonl': 2, 'sub_questions.jsonl': 86}
    """
    place, folder = Run.at(run), path_of(out)
    if format in OWN:
        return OWN[format](place, folder, **options)
    known = {name: exporter for name, exporter in EXPORTERS.items() if not exporter.command}
    if format not in known:
        choices = ", ".join([*OWN, *known])
        raise BadInput.at("format", f"expected a format, got {format!r}; choose from {choices}")
    return written_by(known[format], place.folder, folder)


def counted(what: str, counts: Mapping[str, int], unit: str = "questions") -> list[dict[str, Any]]:
    return [{what: name, unit: count} for name, count in counts.items()]


def agqa(
    run: Run,
    out: Path,
    *,
    unbalanced: bool = False,
    sample: int | None = None,
    csv: bool = True,
    graphs: bool = True,
    workers: int = 2,
) -> Made:
    """AGQA's release: question files with every field, CSVs, id tables, scene graphs."""
    from questree.formats.agqa import ExportOptions
    from questree.formats.agqa import export as write

    chosen(run, "agqa")
    counts = write(run, out, ExportOptions(unbalanced, csv, graphs, sample), workers)
    said: list[Any] = [("Questions per file", counted("file", counts))]
    if sample is not None:
        drawn = sum(number for file, number in counts.items() if "unbalanced" in file)
        said += [f"the unbalanced files are a sample of {drawn:,} questions; the balanced ones are all in it"]
    return Made("export agqa", [*said, f"wrote {out}"], {"out": str(out), "questions": counts, "sample": sample})


def decomp(run: Run, out: Path, *, workers: int = 2) -> Made:
    """AGQA-Decomp's release: a file of DAGs per video."""
    from questree.formats.decomp import export_decomp

    if not run.hierarchies.is_dir():
        chosen(run, "agqa")
    counts = export_decomp(run, out, workers)
    rows = [{"folder": name, **found} for name, found in counts.items()]
    said: list[Any] = [("DAGs per folder", rows), f"wrote {out}"]
    return Made("export decomp", said, {"out": str(out), "folders": counts})


def covr(run: Run, out: Path, *, every: bool = False, split: str = "", workers: int = 2) -> Made:
    """COVR's records."""
    from questree.formats.covr_export import export as write
    from questree.formats.covr_export import export_split

    chosen(run, "covr")
    if split and every:
        raise BadInput.at("--all", "expected without --split, which says itself which questions it has")
    counts = export_split(run, out, split, workers) if split else write(run, out, every, workers)
    said: list[Any] = [("Questions per file", counted("file", counts)), f"wrote {out}"]
    return Made("export covr", said, {"out": str(out), "questions": counts})


def harness(name: str) -> Callable[..., Made]:
    """A folder for those who ask models elsewhere."""

    def write(run: Run, out: Path, **options: Any) -> Made:
        from questree.api.harnesses.folders import export_for

        return export_for(name, run, out, **options)

    return write


OWN: dict[str, Callable[..., Made]] = {"agqa": agqa, "decomp": decomp, "covr": covr}
OWN |= {name: harness(name) for name in ("lmms-eval", "vlmevalkit", "inspect", "hf")}


def written_by(exporter: Exporter, run: Path, out: Path) -> Made:
    """By the exporter of a plugin."""
    only_earlier(out, lambda name: False)
    with new_folder(out) as folder:
        counts = dict(exporter.write(Run.at(run), folder) or {})
    said: list[Any] = [("Written", counted("what", counts, "count")), f"wrote {out}"]
    return Made("export", said, {"out": str(out), "written": counts})
