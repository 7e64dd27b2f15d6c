"""Columns of numbers as files that are mapped into memory: processes of one machine share what they look at."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENDING = ".npy"


def write_columns(columns: Mapping[str, NDArray[Any]], folder: Path) -> None:
    for name, column in columns.items():
        with (folder / f"{name}{ENDING}").open("wb") as file:
            np.save(file, column)


def mapped(folder: Path, name: str) -> NDArray[Any]:
    """Nothing is read before it is looked at. It may be written to, in this process alone, as kernels that are
    compiled for arrays do not take read-only ones."""
    path = os.fspath(folder / f"{name}{ENDING}")
    return np.asarray(np.load(path, mmap_mode="c"))
