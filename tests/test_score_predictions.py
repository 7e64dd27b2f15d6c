"""Predictions in the forms people have, who is missing, and the named ways to read a free-form answer."""

import gzip
import json
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from questree.faults import BadInput
from questree.metrics.scores import coverage
from questree.models.policies import read_answers
from questree.models.predictions import read_predictions
from questree.said.lexicon import normal, vocabulary_ways
from questree.scoring.answer_kinds import kinds_of_records
from questree.scoring.compared import PredictionReader, Scoring, looked_up, silent
from questree.tables.scored import ASKED, FLAGS, QuestionRecords
from questree.vocabulary.load import default

ROWS = [("007", "yes"), ("V-1", "no"), ("007", "a cup, or two")]


def write(path: Path, form: str) -> Path:
    named = {"id": [id for id, _ in ROWS], "prediction": [said for _, said in ROWS]}
    if form == "jsonl":
        path.write_text("".join(json.dumps({"id": id, "prediction": said}) + "\n" for id, said in ROWS))
    elif form == "csv":
        pl.DataFrame(named).rename({"id": "question_id"}).write_csv(path)
    elif form == "parquet":
        pl.DataFrame(named).write_parquet(path)
    else:
        text = json.dumps([{form: id, "prediction": said} for id, said in ROWS])
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("m.jsonl", "jsonl"),
        ("m.json", "csv_q_id"),
        ("m.json", "questionId"),
        ("m.json.gz", "questionId"),
        ("m.csv", "csv"),
        ("m.parquet", "parquet"),
    ],
)
def test_every_form_gives_the_same_and_ids_stay_strings(tmp_path: Path, name: str, form: str) -> None:
    read = read_predictions(write(tmp_path / name, form))
    assert read.model == "m"
    assert read.table.select("id", "prediction").sort("id").rows() == [("007", "a cup, or two"), ("V-1", "no")]
    assert read.duplicates == 1


def test_a_null_is_no_prediction_and_an_empty_text_is_one(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('[{"id": 1, "prediction": null}, {"id": "2", "prediction": ""}, {"id": "3", "prediction": true}]')
    assert read_predictions(path).table.select("id", "prediction").rows() == [("2", ""), ("3", "yes")]
    csv = tmp_path / "m.csv"
    csv.write_text("id,prediction\n2,\n03,no\n")
    assert read_predictions(csv).table.select("id", "prediction").rows() == [("2", ""), ("03", "no")]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("m.json", '[{"prediction": "yes"}]', "record 1: no id; expected one of id, csv_q_id"),
        ("m.json", '[{"id": "1"}]', "record 1: no prediction"),
        ("m.json", '{"1": "yes"}', "expected a JSON list of {csv_q_id, prediction}"),
        ("m.jsonl", '{"id": "1", "prediction": "yes"}\nnonsense\n', "line 2: "),
        ("m.csv", "name,prediction\n1,yes\n", "no column with the id; expected one of id"),
        ("m.csv", "id,answer\n1,yes\n", "no column prediction; the columns are id, answer"),
        ("m.parquet", "nonsense", "not a readable Parquet file"),
        ("m.txt", "1 yes", "unknown form of predictions; expected .jsonl"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, name: str, text: str, fault: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput) as bad:
        read_predictions(tmp_path / name)
    assert fault in str(bad.value)
    assert str(tmp_path / name) in str(bad.value)


def test_coverage_counts_needed_found_and_unknown() -> None:
    said = pl.DataFrame({"id": ["a", "b", "z"], "prediction": ["yes"] * 3})
    found = coverage(pl.Series(["a", "b", "c", "a"]), pl.Series(["a", "b", "c", "d"]), said)
    assert (found.needed, found.found, found.missing, found.unknown, found.examples) == (3, 2, 1, 1, ("c",))
    assert str(found) == "2 of 3 questions (66.67 %), 1 for no question here"


ANSWERS = ["yes", "no", "cup", "putting on a shoe", "2", "phone", "food"]


def meant(said: str, policy: str, options: list[str] | None = None) -> str:
    columns = {"id": ["1"], "prediction": [said], "options": [options]}
    schema = {"id": pl.String(), "prediction": pl.String(), "options": pl.List(pl.String)}
    table = pl.DataFrame(columns, schema=schema)
    return str(read_answers(table, ANSWERS, policy, default()).table["prediction"][0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "exact", "vqa", "lenient"),
    [
        ("yes", "yes", "yes", "yes"),
        ("Yes.", "Yes.", "yes", "yes"),
        ("A cup", "A cup", "cup", "cup"),
        ("two", "two", "2", "2"),
        ("Putting on the shoe!", "Putting on the shoe!", "putting on a shoe", "putting on a shoe"),
        ("No, they did not.", "No, they did not.", "no they did not", "no"),
        ("nobody knows", "nobody knows", "nobody knows", "nobody knows"),
        ("I think the answer is: the cup.", "I think the answer is: the cup.", "i think answer is cup", "cup"),
        ("(b) cup", "(b) cup", "b cup", "cup"),
        ("The answer is (A) phone", "The answer is (A) phone", "answer is phone", "phone"),
        ("camera", "camera", "camera", "phone"),
        ("sandwich", "sandwich", "sandwich", "food"),
    ],
)
def test_a_policy_reads_as_it_says(said: str, exact: str, vqa: str, lenient: str) -> None:
    assert [meant(said, policy) for policy in ("exact", "vqa", "lenient")] == [exact, vqa, lenient]


def test_a_letter_alone_needs_the_options() -> None:
    assert meant("B", "lenient", ["phone", "cup"]) == "cup"
    assert meant("B", "lenient") == "b"
    assert meant("D", "lenient", ["phone", "cup"]) == "d"


def test_unparsed_answers_are_counted() -> None:
    table = pl.DataFrame({"id": ["1", "2", "3"], "prediction": ["yes", "Yes!", "no idea at all"]})
    counted = {policy: read_answers(table, ["yes"], policy, default()).unparsed for policy in ("exact", "vqa")}
    assert counted == {"exact": 2, "vqa": 1}


def test_no_synonym_takes_the_place_of_an_answer() -> None:
    words = vocabulary_ways(default())
    answers = list(words)
    table = pl.DataFrame({"id": answers, "prediction": answers})
    read = read_answers(table, answers, "lenient", default())
    assert [a for a, b in zip(answers, read.table["prediction"].to_list(), strict=True) if normal(a) != normal(b)] == []


def test_the_kind_of_answer_is_that_of_the_type_whatever_the_wording() -> None:
    """Two questions to be verified, one of them asked in words that do not say so; one that is open."""
    table = ASKED.frame(
        pl.DataFrame(
            {
                "id": ["a", "b", "c"],
                "video": ["v"] * 3,
                "answer": ["yes", "no", "phone"],
                "reasoning": [["exists"], ["exists"], ["obj-rel"]],
                "semantic": ["object"] * 3,
                "structural": ["verify", "verify", "query"],
                "binary": [True, True, False],
                "steps": [1] * 3,
                "direct": [None] * 3,
                **dict.fromkeys(FLAGS, [False] * 3),
            }
        )
    )
    texts = pl.DataFrame({"id": ["a", "c"], "question": ["Tell me whether a phone is there"] * 2})
    asked = QuestionRecords(table, ["v"], np.zeros(3, np.int64), lambda: texts)
    said = pl.DataFrame({"id": ["a", "c"], "prediction": ["There was a phone."] * 2})
    kinds = partial(kinds_of_records, table)
    reader = PredictionReader.of(table, Scoring(policy="lenient"), silent, looked_up(asked.texts), kinds)
    found = reader.understood(said, "lenient").table
    assert found.rows() == [("a", "yes"), ("c", "phone")]
