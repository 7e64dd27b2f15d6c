"""Shards with more questions than are read at once: every stage makes the same of their pieces."""

from pathlib import Path
from weakref import ref

import polars as pl
import pytest

from conftest import copy
from questree.formats.agqa import ExportOptions, export
from questree.formats.plain import questions
from questree.scoring.agqa_questions import of_run
from questree.stages.audit.audited import AuditOptions
from questree.stages.audit.videos import audit
from questree.stages.balance.levelling import BalanceOptions
from questree.stages.balance.rejected import numbered
from questree.stages.balance.rounds import balance
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.stages.questions import Bank
from questree.stages.split.engine import SplitOptions
from questree.stages.split.videos import split
from questree.tables import table
from questree.tables.run import Run
from questree.tables.table import rows_in

PIECE = 300


def made(run: Run, place: Path, rules_only: bool = False) -> dict[str, bytes]:
    """All that later stages write, and what is scored."""
    own = copy(run, place)
    balance(own, BalanceOptions())
    split(own, SplitOptions(all=True))
    every = {f"all {path.relative_to(own.folder)}": path.read_bytes() for path in own.folder.glob("splits/**/*.*")}
    split(own, SplitOptions())
    decompose(own, DecomposeOptions(balanced=True, rules_only=rules_only))
    audit(own, AuditOptions(seed=1))
    found = {str(path.relative_to(own.folder)): path.read_bytes() for path in own.folder.rglob("*.*")}
    rejected = pl.DataFrame({"id": [f"{Bank(own).ids[1]}-{at}" for at in (3, 700, 10**8)]})
    told = {
        "keys": hierarchies_in(own).hierarchies.keys.to_list(),
        "scored": of_run(own, "test", every=True).table.rows(),
        "without": numbered(own, rejected).rows(),
        "plain": [row for shard in questions(own) for row in shard.rows()],
    }
    return found | every | {name: repr(rows).encode() for name, rows in told.items()}


def exported(run: Run, out: Path) -> dict[str, bytes]:
    """AGQA's files: of the selection, of all questions, of some."""
    for name, options in {
        "balanced": ExportOptions(),
        "all": ExportOptions(unbalanced=True),
        "some": ExportOptions(unbalanced=True, sample=3000),
    }.items():
        export(run, out / name, options, workers=1)
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}


@pytest.mark.parametrize("rules_only", [False, True])
def test_stages_make_the_same_of_pieces(
    asked_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules_only: bool
) -> None:
    sizes = [rows_in(folder / "questions.parquet") for folder in Bank(asked_run).folders()]
    assert min(sizes) > 2 * PIECE
    (tmp_path / "whole").mkdir()
    whole = made(asked_run, tmp_path / "whole", rules_only)
    monkeypatch.setattr(table, "WHOLE", 2 * PIECE)
    monkeypatch.setattr(table, "PIECE", PIECE)
    (tmp_path / "pieces").mkdir()
    assert made(asked_run, tmp_path / "pieces", rules_only) == whole
    assert any(name.startswith("decomposed/") for name in whole) and len(whole["keys"]) > 1000
    assert len(eval(whole["without"])) == 2, "those that are there"


def test_exports_have_the_same_records_of_pieces(
    asked_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = copy(asked_run, tmp_path)
    balance(run, BalanceOptions())
    whole = exported(run, tmp_path / "whole")
    monkeypatch.setattr(table, "WHOLE", 2 * PIECE)
    monkeypatch.setattr(table, "PIECE", PIECE)
    assert exported(run, tmp_path / "pieces") == whole
    assert len(whole["all/AGQA_unbalanced/train_unbalanced.txt"]) > 10 * len(
        whole["balanced/AGQA_balanced/train_balanced.txt"]
    )


def test_the_columns_of_a_shard_go_with_it(asked_run: Run) -> None:
    bank = Bank(asked_run)
    shard = bank.shard(bank.folders()[0])
    assert len(shard.words["relation"]) == len(shard.forms)
    gone = ref(shard)
    del shard
    assert gone() is None, "without waiting for the collector, until which those of many pieces would be kept"
