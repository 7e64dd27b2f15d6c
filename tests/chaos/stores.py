"""Commands on a run in S3, killed before every change of the store: nothing half-written, and the rerun is the same."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from chaos.fuzz import Failure
from questree.places import forget, path_of
from questree.tables.run import Run
from worlds import s3, stored

MOST = 200  # changes of a command
BEFORE = "synth --out AT/world --videos 2 --seed 3\ningest action-genome AT/world --out AT/run"
LINES = ("augment AT/run", "generate AT/run", "decompose AT/run", "export decomp AT/run --out AT/decomp")


def killed_in_stores(place: Path, every: int) -> Iterator[Failure | None]:
    """One item per kill."""
    stored.carried_out("\n".join([BEFORE, *LINES]), place / "here")
    with s3.served() as bucket, patch.dict(os.environ, QUESTREE_CACHE=str(place / "cache")):
        for number, line in enumerate(LINES):
            for change in range(1, MOST, every):
                at = f"{bucket}/{number}-{change}"
                stored.carried_out("\n".join([BEFORE, *LINES[:number]]), at)
                if not stored.killed(change, *line.replace("AT", at).split()):
                    break
                yield _after(place, at, number, f"{line}, change {change}")


def _after(place: Path, at: str, number: int, what: str) -> Failure | None:
    """As another machine sees it, which then does the command again and all that follow."""
    with tempfile.TemporaryDirectory(dir=place) as cache, patch.dict(os.environ, QUESTREE_CACHE=cache):
        forget()
        run = Run(path_of(f"{at}/run"))
        try:
            for folder in (run.raw, run.facts, run.questions, run.decomposed, path_of(f"{at}/decomp")):
                [path.read_bytes() for path in folder.rglob("*") if path.is_file()]  # checked against the markers
            stored.carried_out("\n".join(LINES[number:]), at)
        except Exception as error:
            return Failure("killed in a store", what, str(error))
        other = stored.content(at) != stored.content(place / "here")
        return Failure("killed in a store", what, "the rerun has other bytes") if other else None
