"""Compiled loops: one that is kept is fetched without what compiling needs, and all that are kept can be."""

import subprocess
import sys

import numpy as np

from questree.formats.json_records import last_member

FETCHED = """
import importlib, sys
from pathlib import Path
import numpy as np
import questree
from questree.columns.compiled import Loop
from questree.formats.json_records import last_member

print(last_member(np.arange(5, dtype=np.uint8))[0], "numba.misc.cffiimpl" in sys.modules)
src, fetched = Path(questree.__file__).parent, 0
for path in sorted(src.rglob("*.py")):
    if "njit" in path.read_text("utf-8"):
        name = ".".join(["questree", *path.relative_to(src).with_suffix("").parts])
        for loop in vars(importlib.import_module(name)).values():
            if isinstance(loop, Loop) and loop.__module__ == name:
                kept = loop.compiled._cache
                for signature, *_ in kept._cache_file._load_index():
                    fetched += kept.load_overload(signature, loop.compiled.targetctx) is not None
print(fetched > 0, "numba.misc.cffiimpl" in sys.modules)
"""


def test_kept_loops_are_fetched_without_what_compiling_needs() -> None:
    """A symbol that such a loop lacks would end the process, so this is one of its own."""
    there = last_member(np.arange(5, dtype=np.uint8))[0]
    done = subprocess.run([sys.executable, "-c", FETCHED], capture_output=True, text=True)
    assert done.stdout.split() == [str(there), "False", "True", "False"], done.stderr
