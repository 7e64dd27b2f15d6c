"""VLMEvalKit's tables: tab-separated, pictures by path or as base64, once per scope."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import msgspec
import polars as pl

from questree.api.harnesses.items import HarnessItems
from questree.faults import BadInput

SHORT = 64  # letters up to which VLMEvalKit takes a picture for the index of a row that has it


def write_table(items: HarnessItems, folder: Path) -> None:
    """questree.tsv; of videos with the names of frames or files, of images with the pictures."""
    options = items.options
    if options.media is None:
        raise BadInput.at("--media", "expected a folder of frames or images, without which VLMEvalKit asks nothing")
    if options.inline and not items.of_images:
        raise BadInput.at("--inline", "expected questions about images; frames of videos stay where they are")
    home = options.media.resolve()
    columns = {
        "index": pl.int_range(len(items.table), eager=True),
        "id": items.table["id"],
        "question": items.table["prompt"],
        "answer": items.table["answer"],
        "category": items.table["type"],
        "cluster": items.table["cluster"],
    }
    names = items.table["media"].to_list()
    if not items.of_images:
        shown = [msgspec.json.encode(each).decode() for each in names]
        columns |= {"video": items.table["scope"], "frames": pl.Series(shown, dtype=pl.String)}
        (folder / "settings.json").write_bytes(msgspec.json.format(msgspec.json.encode(items.settings)) + b"\n")
    elif options.inline:
        pictures = inside(home, names, items.table["scope"].to_list())
        columns["image"] = pl.Series(list(pictures), dtype=pl.String)
    else:
        columns["image_path"] = pl.Series([as_list([str(home / name) for name in each]) for each in names])
    pl.DataFrame(columns).write_csv(folder / "questree.tsv", separator="\t")


def inside(home: Path, names: list[list[str]], scopes: list[str]) -> Iterator[str]:
    """[row] its pictures, or the row that has those of its scope."""
    first = dict[str, int]()
    for row, (each, scope) in enumerate(zip(names, scopes, strict=True)):
        if scope in first:
            yield str(first[scope])
            continue
        told = as_list([b64encode((home / name).read_bytes()).decode() for name in each])
        if len(told) > SHORT:
            first[scope] = row
        yield told


def as_list(texts: list[str]) -> str:
    """As VLMEvalKit reads it: one as it is, several as a list."""
    return texts[0] if len(texts) == 1 else str(texts)
