"""Folders for harnesses: questions, a task that reads them, and a README whose commands run there."""

import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from questree.api.harnesses.items import HarnessItems, HarnessOptions
from questree.api.harnesses.tables import write_table
from questree.api.made import Made
from questree.faults import refuse
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier

QUESTIONS = ("questions.jsonl", "settings.json")


class Harness(NamedTuple):
    """What is copied into its folder, by the name it has there, and what is written besides."""

    copied: dict[str, str]
    readme: str
    write: Callable[[HarnessItems, Path], object] = HarnessItems.write
    others: tuple[str, ...] = QUESTIONS


HARNESSES = {
    "inspect": Harness({"questree_task.py": "inspect_task.py"}, "inspect.md"),
    "lmms-eval": Harness({"questree.yaml": "lmms_eval.yaml", "utils.py": "lmms_eval_utils.py"}, "lmms_eval.md"),
}
TABLE = Harness({}, "vlmevalkit.md", write_table, ("questree.tsv",))
VIDEOS = Harness({"questree_videos.py": "vlmevalkit_videos.py"}, "vlmevalkit_videos.md", *TABLE[2:])


def export_for(name: str, run: Run, out: Path, **options: Any) -> Made:
    """As `questree export` does; an earlier export there is replaced, logs beside it are not."""
    if name == "hf":
        return export_hub(run, out, **options)
    items = HarnessItems.of(run.folder, HarnessOptions(**options))
    harness = (TABLE if items.of_images else VIDEOS) if name == "vlmevalkit" else HARNESSES[name]
    every = (*HARNESSES.values(), TABLE, VIDEOS)
    ours = {"README.md", *(file for each in every for file in (*each.copied, *each.others))}
    only_earlier(out, ours.__contains__)
    with new_folder(out) as folder:
        harness.write(items, folder)
        for target, source in harness.copied.items():
            (folder / target).write_text(text(source), "utf-8")
        (folder / "README.md").write_text(text(harness.readme).format_map(items.words), "utf-8")
    asked = int(items.table["asked"].sum())
    counts = {"questions": asked, "sub-questions": len(items.table) - asked}
    told = f"{asked:,} questions and {counts['sub-questions']:,} sub-questions about {items.words['scopes']}"
    return Made(
        f"export {name}", [told, f"wrote {out}; {out / 'README.md'} says how to run it"], {"out": str(out), **counts}
    )


def export_hub(run: Run, out: Path, **options: Any) -> Made:
    """Parquet files and a card."""
    from questree.api.harnesses import hub

    how = hub.HubOptions(**options)
    refuse(how.faults())
    only_earlier(out, {*hub.CONFIGS, "README.md"}.__contains__)
    with new_folder(out) as folder:
        parts, every = hub.write_tables(run, how, folder)
        told = hub.words(run, how, parts, every) | {"run": shlex.quote(str(run.folder.resolve()))}
        (folder / "README.md").write_text(text("hub.md").format_map(told), "utf-8")
    rows = [{"config": part.config, "split": part.split, "rows": part.rows} for part in parts]
    return Made("export hf", [("Rows per file", rows), f"wrote {out}"], {"out": str(out), "rows": rows})


def text(name: str) -> str:
    return files("questree.api.harnesses").joinpath("written", name).read_text("utf-8")
