"""Answers of models, kept in a run under a name of their own."""

from collections.abc import Mapping
from typing import Any

from questree.benchmarks import BENCHMARKS, Benchmark
from questree.faults import Fault
from questree.models.predictions import Predictions
from questree.models.stored import StoredCounts, store
from questree.scoring.compared import stored_models
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.tables.run import Run

LONGEST = 120  # bytes: with what is put around it while it is written, every system takes it
SIGNS = " ._+-:@="  # in the name of a model, besides letters and digits


def keep(run: Run, own: Benchmark, given: Predictions, options: Mapping[str, Any]) -> StoredCounts:
    """Store predictions beside the DAGs of a run."""
    return store(run, hierarchies_in(run, benchmark=own.name), given, options)


def named(run: Run, model: str, own: Benchmark, option: str = "--model") -> list[Fault]:
    """A model is a folder, and one of a list with commas; it answers about videos or about image sets."""
    if strange := plain_name(option, model, "a model"):
        return strange
    others = [one for one in BENCHMARKS.values() if one is not own and model in stored_models(run, one)]
    if others and model not in stored_models(run, own):
        return [Fault(option, f"{model!r} has answered about {others[0].scopes} here; choose another name")]
    return []


def plain_name(option: str, name: str, what: str) -> list[Fault]:
    """Names become folders."""
    plain = all(sign.isalnum() or sign in SIGNS for sign in name)
    if plain and name.strip() and not name.startswith(".") and len(name.encode()) <= LONGEST:
        return []
    wanted = f"expected letters, digits, spaces and {' '.join(SIGNS.strip())}"
    limits = f"no dot at the beginning and at most {LONGEST} bytes"
    return [Fault(option, f"{name!r} cannot be the name of {what}; {wanted}, {limits}")]
