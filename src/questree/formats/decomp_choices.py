"""What choices between two actions offer, from AGQA-Decomp's files: a program or the sub-questions name them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import polars as pl

from questree.faults import UNREADABLE, BadInput
from questree.formats.decomp_files import NODE, WRITTEN, ReleasedDag
from questree.metrics.errors import COMPOSITIONS
from questree.progress import watch

SIGN = b'er Choose"'  # no other composition or type ends like these two
OPTION = re.compile(r"Filter\(\s*video\s*,\s*\[\s*actions\s*,\s*([^\[\]()]+?)\s*\]\s*\)")
ASKED = re.compile(r"Is the person (.+)\?")
CHOICES = {"key": pl.String, "first": pl.String, "second": pl.String}


class ProgrammedDag(ReleasedDag, gc=False):
    old_program: str | None = None


DAGS_OF = msgspec.json.Decoder(dict[str, ProgrammedDag])


def read_choices(files: Sequence[Path]) -> pl.DataFrame:
    """Key and both options of every choice of videos whose question names two actions; others are left out."""
    rows = [row for path in watch(files, "choices", len(files)) for row in choices_in(path)]
    return pl.DataFrame(rows, schema=CHOICES, orient="row").unique("key", keep="first", maintain_order=True)


def choices_in(path: Path) -> Iterator[tuple[str, str, str]]:
    content = path.read_bytes()
    try:
        for dag in DAGS_OF.decode(content).values() if SIGN in content else ():
            named = OPTION.findall(dag.old_program or "")
            for text, raw in dag.hierarchy.items():
                for composition, children in WRITTEN.decode(raw).items() if SIGN in bytes(raw) else ():
                    asked = [found[1] for child in children if (found := ASKED.fullmatch(child))]
                    options = named if len(named) == 2 else [] if dag.old_program else asked
                    if composition in COMPOSITIONS and len(options) == 2:
                        yield NODE.decode(dag.subquestion[text]).key, options[0], options[1]
    except (*UNREADABLE, KeyError) as error:
        raise BadInput.at(path, f"expected {{top key: {{old_program, subquestion, hierarchy}}}}; {error}") from error
