"""AGQA's and COVR's tables on questions few enough to count."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from questree.api.papers import score_grids
from questree.api.score_tables import agqa_tables
from questree.faults import BadInput
from questree.formats.agqa_import import read_questions
from questree.metrics.answers import AnswerCounts, fit_rows, line, most_likely, score_agqa
from questree.metrics.scores import Resampling, Score
from questree.metrics.sets import score_generalization
from questree.show.paper.latex import latex
from questree.sources.covr import read_covr_questions, read_plan
from questree.tables.scored import QuestionRecords
from worlds.decomp_files import table

Names = dict[tuple[str, str, str], Score]


def record(answer: str, kind: str, reasoning: list[str], steps: int, **more: Any) -> dict[str, Any]:
    given = {
        "answer": answer,
        "video_id": more.pop("video", "V"),
        "ans_type": kind,
        "global": reasoning,
        "steps": steps,
    }
    structural = "query" if kind == "open" else "verify"
    return given | {"semantic": "object", "structural": structural, "question": "?", "program": "p"} | more


QUESTIONS = {
    "V-1": record("yes", "binary", ["exists"], 1, direct_equiv="V-1"),
    "V-2": record("no", "binary", ["exists", "obj-rel"], 3, i_obj=1, direct_equiv="V-1", novel_comp=1, nc_seq=1),
    "V-3": record("cup", "open", ["obj-rel"], 3, i_obj=1, i_temp=1, direct_equiv="V-4", more_steps=1),
    "V-4": record("cup", "open", ["obj-rel"], 5, video="W"),
    "V-5": record("bag", "open", ["obj-rel"], 5, video="W", i_act=1, direct_equiv="gone"),
}
SAID = {"V-1": "yes", "V-2": "no", "V-3": "cup", "V-4": "dish", "V-5": "bag"}


@pytest.fixture
def asked(tmp_path: Path) -> QuestionRecords:
    path = tmp_path / "test_balanced.txt"
    path.write_text(json.dumps(QUESTIONS))
    return read_questions(path)


def by_name(rows: list[Score]) -> Names:
    return {(row.metric, row.by, row.group): row for row in rows}


def test_a_question_counts_in_all_its_categories(asked: QuestionRecords) -> None:
    rows = by_name(score_agqa(asked, table(SAID)).rows("m"))
    wanted = {
        ("accuracy", "reasoning", "exists"): (1, 2),
        ("accuracy", "reasoning", "obj-rel"): (3 / 4, 4),
        ("accuracy", "reasoning, binary", "obj-rel"): (1, 1),
        ("accuracy", "reasoning, open", "obj-rel"): (2 / 3, 3),
        ("accuracy", "reasoning, open", "exists"): (None, 0),
        ("accuracy", "reasoning", "superlative"): (None, 0),
        ("accuracy", "semantic", "object"): (4 / 5, 5),
        ("accuracy", "structural", "query"): (2 / 3, 3),
        ("accuracy", "structural", "Overall"): (4 / 5, 5),
        ("accuracy", "structural, open", "Overall"): (2 / 3, 3),
        ("accuracy", "novel composition", "Sequencing"): (1, 1),
        ("accuracy", "novel composition", "Overall"): (1, 1),
        ("accuracy", "more steps", "Overall"): (1, 1),
        ("accuracy", "steps", "5"): (1 / 2, 2),
        ("accuracy", "steps", "Overall"): (4 / 5, 5),
    }
    assert {name: (rows[name].value, rows[name].n) for name in wanted} == wanted


def test_precision_asks_only_where_the_direct_question_was_right(asked: QuestionRecords) -> None:
    """Of the indirect questions V-2 has a direct one answered right, V-3 one answered wrong, V-5 none in the file."""
    rows = by_name(score_agqa(asked, table(SAID)).rows("m"))
    by = "indirect reference"
    wanted = {
        ("recall", "Object"): (1, 2),
        ("precision", "Object"): (1, 1),
        ("recall", "Temporal"): (1, 1),
        ("precision", "Temporal"): (None, 0),
        ("recall", "Relationship"): (None, 0),
        ("recall", "Action"): (1, 1),
        ("precision", "Action"): (None, 0),
    }
    assert {(m, g): (rows[m, by, g].value, rows[m, by, g].n) for m, g in wanted} == wanted


def test_most_likely_is_half_of_binary_questions_and_the_commonest_answer_elsewhere(asked: QuestionRecords) -> None:
    rows = by_name(most_likely(AnswerCounts.of(asked.table)))
    assert rows["accuracy", "reasoning", "exists"].value == 1 / 2
    assert rows["accuracy", "reasoning, open", "obj-rel"].value == 2 / 3  # cup, cup, bag
    assert rows["accuracy", "reasoning", "obj-rel"].value == 2 / 4
    assert rows["accuracy", "reasoning", "Overall"].value == 2 / 5
    assert rows["accuracy", "reasoning", "superlative"].value is None


def test_a_line_through_points_on_a_line_explains_all() -> None:
    x, total = np.array([1.0, 2.0, 4.0]), np.array([10.0, 20.0, 10.0])
    slope, intercept, r2 = line(x, total * (0.9 - 0.1 * x), total)
    assert (slope, intercept, r2) == pytest.approx((-0.1, 0.9, 1))


def test_many_questions_pull_the_line() -> None:
    """Two points at 1 (weights 3) and one each at 2: by hand, y = 0.5 at x = 1 with 6 and 1.0 at x = 2 with 2."""
    slope, intercept, r2 = line(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 0.0]), np.array([6.0, 2.0, 2.0]))
    weights, x, y = np.array([6, 2, 2]), np.array([1, 2, 3]), np.array([0.5, 1, 0])
    wanted = np.polyfit(x, y, 1, w=np.sqrt(weights))
    assert (slope, intercept) == pytest.approx(tuple(wanted))
    rest = (weights * (y - np.polyval(wanted, x)) ** 2).sum() / (weights * (y - 0.5) ** 2).sum()
    assert r2 == pytest.approx(1 - rest)


def test_the_band_belongs_to_the_line(asked: QuestionRecords) -> None:
    rows = fit_rows(score_agqa(asked, table(SAID)).tallies, "m", Resampling(50))
    assert [row.metric for row in rows[:3]] == ["slope", "intercept", "R^2"]
    assert [row.group for row in rows[3:]] == ["1", "3", "5"]
    slope, intercept = rows[0].value, rows[1].value
    assert slope is not None and intercept is not None
    assert rows[5].value == pytest.approx(intercept + 5 * slope)


def test_one_number_of_steps_has_no_line(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"V-1": QUESTIONS["V-1"]}))
    rows = fit_rows(score_agqa(read_questions(path), table(SAID)).tallies, "m", None)
    assert [row.value for row in rows[:3]] == [None, None, None]


COVR = pl.DataFrame({"id": ["1", "2", "3", "4"], "answer": ["yes", "no", "3", "red"], "image": ["a", "a", "b", "c"]})


def right(*ids: str) -> pl.DataFrame:
    answers = dict(zip(COVR["id"], COVR["answer"], strict=True))
    return table({id: answers[id] if id in ids else "wrong" for id in answers})


def test_the_score_is_the_part_of_the_gap_that_is_closed() -> None:
    said = {
        "HAS-QUANT": {"text": right("1"), "model": right("1", "2"), "iid-size": right("1", "2", "3"), "iid": right()},
        "TPL": {"text": right("1", "2"), "model": right("1"), "iid-size": right("1", "2"), "iid": right("1")},
    }
    score, accuracies = score_generalization(COVR, {"HAS-QUANT": None, "TPL": ["1", "2"]}, said)
    values = {row.group: row.value for row in score.rows("m")}
    assert values == {"HAS-QUANT": (2 - 1) / (3 - 1), "TPL": None, "Overall": 1 / 2}
    text = {row.group: (row.value, row.n) for row in accuracies["text"].rows("m")}
    assert text == {"HAS-QUANT": (1 / 4, 4), "TPL": (1, 2), "Overall": (3 / 6, 6)}


def test_a_model_below_the_text_only_one_is_negative() -> None:
    said = {
        "S": {"text": right("1", "2"), "model": right("1"), "iid-size": right("1", "2", "3", "4"), "iid": right("1")}
    }
    (row, _) = score_generalization(COVR, {"S": None}, said)[0].rows("m")
    assert row.value == -1 / 2


def test_covr_questions_are_lists_or_lines_with_truth_values(tmp_path: Path) -> None:
    first = {"qid": "v_1", "answer": True, "scenes": ["s1", "s2"], "program": [], "utterance": "Is there a dog?"}
    rows = [first, {"qid": "v_2", "answer": 3}]
    wanted = [("v_1", "yes", "s1", None, "Is there a dog?"), ("v_2", "3", "v_2", None, None)]
    (tmp_path / "list.json").write_text(json.dumps(rows))
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name in ("list.json", "lines.jsonl"):
        assert read_covr_questions(tmp_path / name).rows() == wanted


def test_every_missing_file_of_a_plan_is_named(tmp_path: Path) -> None:
    (tmp_path / "here.json").write_text("[]")
    plan = {"S": {"text": "here.json", "model": "gone.json", "iid-size": "here.json", "iid": "lost.json"}}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(BadInput) as bad:
        read_plan(tmp_path / "plan.json")
    assert [fault.message for fault in bad.value.faults] == [
        "model: no such file gone.json",
        "iid: no such file lost.json",
    ]


def test_novel_compositions_by_type_are_a_line_each(asked: QuestionRecords) -> None:
    """Table 4 has no binary and open questions apart, so nothing says that these are all."""
    rows = score_agqa(asked, table(SAID)).rows("m")
    lines: Any = next(told[1] for told in agqa_tables(rows) if told[0] == "Novel compositions by type")
    assert [[*line] for line in lines] == [[" ", "m", "n"]] * 4
    (grid,) = (one for one in score_grids("agqa", rows, {}, None) if one.name == "agqa-novel-all")
    assert [line.heads for line in grid.lines] == [("Sequencing",), ("Superlative",), ("Duration",), ("Obj-rel",)]
    assert r"\midrule" + "\nSequencing & 100.00 & 1" in latex(grid)


def indirect_objects(rows: list[Score]) -> dict[str, Any]:
    lines: Any = next(told[1] for told in agqa_tables(rows) if told[0] == "Indirect references")
    return next(one for one in lines if (one[" "], one["  "]) == ("Object", "All"))


def test_every_metric_of_indirect_references_has_its_own_n(asked: QuestionRecords) -> None:
    rows = [row for model in ("a", "b") for row in score_agqa(asked, table(SAID)).rows(model)]
    line = indirect_objects(rows)
    assert (line["n of precision"], line["n of recall"]) == (1, 2)  # V-2 and V-3; the direct one of V-2 was right
    wrong = [*rows, *score_agqa(asked, table(SAID | {"V-1": "no"})).rows("c")]
    line = indirect_objects(wrong)
    own = {name: line[f"n of {name} precision"] for name in "abc"}
    assert (own, line["n of recall"]) == ({"a": 1, "b": 1, "c": 0}, 2)
    (grid,) = (one for one in score_grids("agqa", wrong, {}, None) if one.name == "agqa-indirect")
    at = [(column.over, column.title) for column in grid.columns]
    entries = next(one.entries for one in grid.lines if one.heads == ("Object", "All"))
    of = {at[place - 1]: entries[place] for place in range(1, len(at), 2)}
    assert of == {(model, metric): n for model in "abc" for metric, n in (("precision", own[model]), ("recall", 2))}
