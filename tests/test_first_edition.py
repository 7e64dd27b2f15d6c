"""Edition 1.0 through every stage after generation."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.benchmarks.agqa.editions import FIRST
from questree.cli.app import app
from questree.domains.video import videos
from questree.formats.agqa import ExportOptions, export
from questree.notation.agqa import read
from questree.readings.answer import answer
from questree.stages.audit.audited import AuditOptions
from questree.stages.audit.videos import audit
from questree.stages.balance.levelling import BalanceOptions
from questree.stages.balance.rounds import balance
from questree.stages.decompose.dag_shards import BEYOND, IN_PART, TIMED, UNDECIDED, DecomposeOptions, decompose
from questree.stages.generate.shards import GenerateOptions, generate
from questree.stages.questions import Bank
from questree.stages.split.engine import SplitOptions
from questree.stages.split.videos import read_split, split
from questree.tables.questions import read_balanced
from questree.tables.run import Run


@pytest.fixture(scope="module")
def run(cleaned_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(cleaned_run, tmp_path_factory.mktemp("first"))
    generate(run, GenerateOptions(shard=5, rare_below=3, edition="1.0"), workers=1)
    balance(run, BalanceOptions(), workers=1)
    return run


def asked(run: Run) -> pl.DataFrame:
    bank = Bank(run)
    return pl.concat([bank.shard(folder).questions for folder in bank.folders()])


def named(run: Run, template: str) -> int:
    return [known.name for known in Bank(run).edition.by_code].index(template)


def test_a_selection_has_questions_whether_an_action_occurs(run: Run) -> None:
    chosen = asked(run).join(read_balanced(run.balanced), on=["video", "number"])
    own = chosen.filter(template=named(run, "actExists"))
    assert len(own) > 0 and own["answer"].mean() == 0.5  # as often yes as no
    assert Bank(run).edition is FIRST


def test_splits_know_the_relation_a_question_only_refers_to(run: Run) -> None:
    split(run, SplitOptions(), workers=1)
    sides = read_split(run, "novel-compositions")
    every = asked(run).join(pl.concat(sides.values()), on=["video", "number"])
    assert every.filter(template=named(run, "actExists")).height
    assert json.loads((run.folder / "splits" / "report.json").read_text())["options"]["more steps"]["actExists"] >= 1


def test_exported_programs_are_read_again_and_give_the_answer(run: Run, tmp_path: Path) -> None:
    found = export(run, tmp_path / "out", ExportOptions(graphs=False), pool=ThreadPoolExecutor(1))
    bank, facts = Bank(run), run.load("facts")
    world, place = videos(facts, bank.vocabulary), {name: at for at, name in enumerate(bank.ids)}
    records = json.loads((tmp_path / "out" / "AGQA_balanced" / "test_balanced.txt").read_text())
    assert found["test_balanced.txt"] == len(records) > 0
    spans = 0
    for record in list(records.values())[:: max(1, len(records) // 200)]:
        program = read(record["program"], bank.vocabulary, "1.0")
        value = answer(program, world.ask([place[record["video_id"]]]), {})
        assert program.kind.answers[int(value[0])] == record["answer"] if program.kind.answers else value[0] >= 0
        for span in record["sg_grounding"]:
            begin, end = map(int, span.split("-"))
            assert 0 <= begin <= end <= len(record["question"])
            spans += 1
    assert spans


def test_an_audit_scores_every_template_asked(run: Run) -> None:
    found = audit(run, AuditOptions(), workers=1)
    assert "template: actExists" in {measure.type for measure in found.measures}


def test_what_decomposition_does_not_cover_is_counted_by_reason(run: Run) -> None:
    summary = decompose(run, DecomposeOptions(), workers=1)
    assert summary.questions + summary.beyond.total() == len(asked(run))
    assert set(summary.beyond) == {*BEYOND.values(), TIMED, UNDECIDED, IN_PART}
    tops = pl.concat(
        [pl.read_parquet(folder / "tops.parquet") for folder in run.decomposed.iterdir() if folder.is_dir()]
    )
    taken = asked(run).join(tops, on=["video", "number"])
    assert np.isin(named(run, "actExists"), taken["template"].to_numpy())
    assert (taken["done_to"] == 255).all() and summary.clashes == 0


def ask(*words: object) -> None:
    app([*map(str, words), "--quiet"], exit_on_error=False, result_action="return_value")


def test_true_answers_break_no_rule(run: Run, tmp_path: Path) -> None:
    decompose(run, DecomposeOptions(), workers=1)
    ask("answer", run.folder, "--model", "oracle")
    scored = ("--model", "oracle", "--missing", "skip", "--json", tmp_path / "scores.json")
    ask("score", "decomp", run.folder, *scored)
    rows = json.loads((tmp_path / "scores.json").read_text())
    values = [row["value"] for row in rows if row["metric"] in ("accuracy", "CA", "IC") and row["value"] is not None]
    assert len(values) > 50 and set(values) == {1.0}


def test_dags_and_grounds_are_written(run: Run, tmp_path: Path) -> None:
    ask("decompose", run.folder, "--workers", 1)
    ask("export", "decomp", run.folder, "--out", tmp_path / "dags", "--workers", 1)
    assert list((tmp_path / "dags").glob("*_hierarchies/*.json"))
    ask("ground", run.folder, "--split", "all", "--out", tmp_path / "grounds")
    rows = [json.loads(line) for line in (tmp_path / "grounds" / "questions.jsonl").read_text().splitlines()]
    assert len(rows) == len(read_balanced(run.balanced)) and any(not row["left_out"] for row in rows)
