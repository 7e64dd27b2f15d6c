"""What choices between two actions offer, from AGQA-Decomp's files: a program or the sub-questions name them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import polars as pl
from msgspec import Raw

from questree.faults import BadInput
from questree.formats.decomp_files import NODE, WRITTEN
from questree.metrics.errors import COMPOSITIONS
from questree.progress import watch

SIGN = b'er Choose"'  # no other composition or type ends like these two
OPTION = re.compile(r"Filter\(\s*video\s*,\s*\[\s*actions\s*,\s*([^\[\]()]+?)\s*\]\s*\)")
ASKED = re.compile(r"Is the person (.+)\?")
CHOICES = {"key": pl.String, "first": pl.String, "second": pl.String}


class ProgrammedDag(msgspec.Struct, gc=False):
    subquestion: dict[str, Raw]
    hierarchy: dict[str, Raw]
    old_program: str | None = None


RAW, DAG = msgspec.json.Decoder(dict[str, Raw]), msgspec.json.Decoder(ProgrammedDag)


def read_choices(files: Sequence[Path]) -> pl.DataFrame:
    """Key and both options of every choice of videos whose question names two actions; others are left out."""
    rows = [row for path in watch(files, "choices", len(files)) for row in of_file(path)]
    return pl.DataFrame(rows, schema=CHOICES, orient="row").unique("key", keep="first", maintain_order=True)


def of_file(path: Path) -> Iterator[tuple[str, str, str]]:
    content = path.read_bytes()
    if SIGN not in content:
        return
    try:
        for raw in RAW.decode(content).values():
            if SIGN in bytes(raw):
                yield from of_dag(DAG.decode(raw))
    except (msgspec.MsgspecError, KeyError) as error:
        raise BadInput.at(path, f"expected {{top key: {{old_program, subquestion, hierarchy}}}}; {error}") from error


def of_dag(dag: ProgrammedDag) -> Iterator[tuple[str, str, str]]:
    named = OPTION.findall(dag.old_program or "")
    for text, raw in dag.hierarchy.items():
        for composition, children in WRITTEN.decode(raw).items() if SIGN in bytes(raw) else ():
            asked = [found[1] for child in children if (found := ASKED.fullmatch(child))]
            options = named if len(named) == 2 else [] if dag.old_program else asked
            if composition in COMPOSITIONS and len(options) == 2:
                yield NODE.decode(dag.subquestion[text]).key, options[0], options[1]
