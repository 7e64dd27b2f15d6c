"""COVR's balancing: texts with two answers first, then the least used answer, then the least used structure."""

from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pytest

from questree.columns.hashing import seed_of
from questree.faults import BadInput
from questree.stages.balance.pairs import PairsOptions, balance, ranked, select
from questree.tables.image_questions import BALANCED, MADE, answered
from questree.tables.questions import with_forms
from questree.tables.run import Run
from worlds.question_shards import write_questions


def questions(
    rows: list[tuple[str, str, tuple[int, int]]], split: str = "train", template: str = "COUNT"
) -> pl.DataFrame:
    """(text, answer, (length, depth)) as a table."""
    made = [
        {
            "id": f"{split}-{template}-{at}",
            "split": split,
            "template": template,
            "question": text,
            "answer": answer,
            "program": "",
            "images": [],
            "length": structure[0],
            "depth": structure[1],
            "attributes": 0,
            "pair": at,
        }
        for at, (text, answer, structure) in enumerate(rows)
    ]
    return MADE.frame(with_forms(pl.DataFrame(made)))


def naive(table: pl.DataFrame, room: int, seed: int) -> list[int]:
    """Step by step, everything counted anew."""
    rows = [(r["question"], r["answer"], (r["length"], r["depth"]), r["id"]) for r in table.iter_rows(named=True)]
    seen: dict[str, set[str]] = {}
    for text, answer, _, _ in rows:
        seen.setdefault(text, set()).add(answer)
    first = [at for at, row in enumerate(rows) if len(seen[row[0]]) > 1]
    rest = [at for at in range(len(rows)) if at not in first]
    together = len(first) > room
    taken, waiting = ([], list(first)) if together else (list(first), rest)
    there = [count for _, count in Counter(row[1] for row in rows).most_common()]
    most = there[1] if len(there) > 1 else len(rows)
    while waiting and len(taken) < room:
        answers, structures = Counter(rows[at][1] for at in taken), Counter(rows[at][2] for at in taken)
        fitting = [at for at in waiting if answers[rows[at][1]] < most]
        if not fitting:
            break
        at = min(
            fitting,
            key=lambda at: (
                answers[rows[at][1]],
                int(seed_of(seed, rows[at][1])),
                structures[rows[at][2]],
                rows[at][2],
                int(seed_of(seed, rows[at][3])),
            ),
        )
        taken.append(at)
        waiting.remove(at)
        twins = [other for other in waiting if rows[other][0] == rows[at][0] and rows[other][1] != rows[at][1]]
        if together and twins and len(taken) < room:
            answers = Counter(rows[at][1] for at in taken)
            twin = min(twins, key=lambda other: (answers[rows[other][1]], int(seed_of(seed, rows[other][3]))))
            taken.append(twin)
            waiting.remove(twin)
    return taken


@pytest.mark.parametrize("seed", range(30))
def test_the_selection_is_that_of_a_naive_judge(seed: int) -> None:
    draw = Random(seed)
    structures, texts = [(1, 1), (3, 3), (5, 3), (5, 5)], draw.choice([10, 40, 1000])
    rows = [
        (str(draw.randrange(texts)), draw.choice("0001122345"), draw.choice(structures))
        for _ in range(draw.randrange(150))
    ]
    table = questions(rows)
    for room in (0, 1, 7, 40, 200):
        assert select(ranked(table, seed), room, seed)[0] == naive(table, room, seed)


def test_texts_with_two_answers_come_first_then_rare_answers_then_rare_structures() -> None:
    rows = [("q", "yes", (1, 1)), ("q", "no", (3, 3))]
    rows += [(f"y{i}", "yes", (1, 1)) for i in range(5)] + [("y5", "yes", (3, 3))]
    rows += [("n0", "no", (1, 1)), ("n1", "no", (1, 1)), ("n2", "no", (5, 3))]
    taken, first = select(ranked(questions(rows), 1), 6, seed=1)
    assert first == 2
    assert taken[:2] == [0, 1]
    assert Counter(rows[at][1] for at in taken) == {"yes": 3, "no": 3}
    assert {10, 7} <= set(taken)  # the only ones of structures not used yet


def test_a_template_below_its_quota_is_balanced_too() -> None:
    """61 to 6 without twins: 6 to 6; with three answers the most common one is cut to the second."""
    rows = [(f"q{at}", "yes" if at < 61 else "no", (1, 1)) for at in range(67)]
    taken, _ = select(ranked(questions(rows), 1), 100, seed=1)
    assert Counter(rows[at][1] for at in taken) == {"yes": 6, "no": 6}
    rows += [(f"r{at}", "perhaps", (1, 1)) for at in range(20)]
    taken, _ = select(ranked(questions(rows), 1), 100, seed=1)
    assert Counter(rows[at][1] for at in taken) == {"yes": 20, "perhaps": 20, "no": 6}
    twins = [(f"q{at}", answer, (1, 1)) for at in range(4) for answer in ("yes", "no")]  # these stay whole
    taken, _ = select(ranked(questions([*twins, *((f"y{at}", "yes", (1, 1)) for at in range(9))]), 1), 100, seed=1)
    assert taken == list(range(8))


def test_a_pair_is_not_torn_where_only_pairs_fit() -> None:
    rows = [(f"q{i}", answer, (1, 1)) for i in range(20) for answer in ("yes", "no")]
    taken, first = select(ranked(questions(rows), 1), 10, seed=1)
    assert first == 40
    assert len(taken) == 10
    assert set(Counter(rows[at][0] for at in taken).values()) == {2}


def run_of(table: pl.DataFrame, folder: Path) -> Run:
    run = Run(folder)
    run.covr.mkdir(parents=True)
    write_questions(table, run)
    return run


def test_every_split_and_template_has_the_same_room(tmp_path: Path) -> None:
    parts = [
        questions([(f"a{i}", str(i % 3), (1, 1)) for i in range(60)], "train", "COUNT"),
        questions([(f"b{i}", "yes", (1, 1)) for i in range(20)], "train", "VERIFYATTR"),
        questions([(f"c{i}", "yes", (1, 1)) for i in range(12)], "test", "VERIFYATTR"),
    ]
    run = run_of(pl.concat(parts), tmp_path)
    rows = balance(run)
    assert [(r.split, r.template, r.before, r.room, r.kept) for r in rows] == [
        ("train", "VERIFYATTR", 20, 40, 20),
        ("train", "COUNT", 60, 40, 40),
        ("test", "VERIFYATTR", 12, 12, 12),
    ]
    assert [r.alone for r in rows] == ["yes", "", "yes"]
    assert len(BALANCED.read(run.covr)) == 72
    fewer = balance(run, PairsOptions(46))
    assert [(r.template, r.kept) for r in fewer] == [("VERIFYATTR", 20), ("COUNT", 20), ("VERIFYATTR", 6)]
    kept = answered(run).join(BALANCED.read(run.covr), on="id", how="semi")
    answers = Counter(kept.filter(template="COUNT")["answer"])
    assert sorted(answers.values()) == [6, 7, 7]


def test_the_same_seed_selects_the_same_and_another_another(tmp_path: Path) -> None:
    run = run_of(questions([(f"q{i}", str(i % 5), (1, 1)) for i in range(200)]), tmp_path)
    balance(run, PairsOptions(50, 1))
    first = (run.covr / "balanced.parquet").read_bytes()
    balance(run, PairsOptions(50, 2))
    assert (run.covr / "balanced.parquet").read_bytes() != first
    balance(run, PairsOptions(50, 1))
    assert (run.covr / "balanced.parquet").read_bytes() == first


def test_there_must_be_questions(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no image questions here; `questree generate` makes them"):
        balance(Run(tmp_path))
    with pytest.raises(BadInput, match="questions: expected at least 1, got 0"):
        balance(Run(tmp_path), PairsOptions(0))
