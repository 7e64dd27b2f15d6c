"""Columns from the bytes of JSON files are what careful readers make of them, or there are none."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

from bench.grounded_files import write_grounded
from questree.columns.json_values import ANY, KEY, Kind, NotPlain, json_values
from questree.models import predictions
from questree.models.predictions import read_predictions
from questree.sources.grounded import PARTS, careful_annotated
from questree.sources.plain_gqa import plain_annotated

PATHS: dict[tuple[str, ...], Kind] = {
    (KEY,): "string",
    (ANY, "a"): "string",
    (ANY, "b", "c"): "number",
    (ANY, "d", ANY): "string",
    (ANY, "e"): "refused",
}


def found(text: str) -> dict[int, list[tuple[int, str]]]:
    values = json_values(text.encode(), PATHS)
    return {
        at: list(zip(*(part.to_list() for part in few), strict=True)) for at in range(5) for few in [pairs(values, at)]
    }


def pairs(values: Any, at: int) -> tuple[pl.Series, pl.Series]:
    record, _, written = values.under(at)
    return pl.Series(record), written


def test_values_are_found_by_their_paths_whatever_stands_beside_them() -> None:
    text = """ {"p" : {"x": [{"a": "not this"}, "]}\\\\\\"", {}], "a":"1", "b": {"z": {"c": 3}, "c" : -2.5e3 }},
        "q": {"d": {"k": "u", "l":"v"}, "a": "", "b": [{"c": 1}], "d2": null}, "r": [], "s": 7} """
    assert json.loads(text)
    assert found(text) == {
        0: [(0, "p"), (1, "q"), (2, "r"), (3, "s")],
        1: [(0, "1"), (1, "")],
        2: [(0, "-2.5e3")],
        3: [(1, "u"), (1, "v")],
        4: [],
    }


def test_records_may_be_items() -> None:
    values = json_values(b'[{"a": "x"}, {}, {"a": "y", "n": [[1], {"a": "z"}]}]', PATHS)
    assert (values.records, values.under(1)[0].tolist(), values.under(1)[2].to_list()) == (3, [0, 2], ["x", "y"])


def test_numbers_are_those_that_python_reads_to_the_last_bit() -> None:
    draw = Random(1)
    plain = [*("0", "-0", "-0.0", "7.50", "123456789012345", "1234567890123456", "9007199254740993", "0.1", "1e5")]
    plain += ["-2.5E-3", "3.0000000000000001", "179769313486231570000", f"{2**70}", "0.000000000000000000000001"]
    plain += [f"{draw.randrange(10**digits) / 10 ** draw.randrange(9)!r}" for digits in range(1, 19) for _ in range(40)]
    records = ", ".join(f'{{"b": {{"c": {number}}}}}' for number in plain)
    _, values = json_values(f"[{records}]".encode(), PATHS).numbers(2)
    assert values.tobytes() == np.array([float(number) for number in plain]).tobytes()


def test_what_only_begins_like_a_number_is_none() -> None:
    _, values = json_values(
        b'[{"b": {"c": 1x}}, {"b": {"c": -}}, {"b": {"c": 1.2.3}}, {"b": {"c": 4}}]', PATHS
    ).numbers(2)
    assert np.isnan(values).tolist() == [True, True, True, False]


def test_texts_are_cut_in_pieces_that_are_not_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    from questree.columns import json_values as module

    monkeypatch.setattr(module, "AT_ONCE", 5)
    texts = ["", "abc", "", "defghijk", "l", "mn", "", "o"]
    values = json_values(json.dumps([{"a": text} for text in texts]).encode(), PATHS)
    assert values.each(1).to_list() == texts
    assert json_values(b"[]", PATHS).each(1).to_list() == []


@pytest.mark.parametrize(
    "text",
    [
        *('{"p": {"a": 1}}', '{"p": {"a": null}}', '{"p": {"b": {"c": "1"}}}', '{"p": {"b": {"c": true}}}'),
        *('{"p": {"a": "\\u0061"}}', '{"p": {"a": "é"}}', '{"é": {}}', '{"p": {"e": []}}', '{"p": {"a": "x"}'),
        *(
            '{"p": {"a": "x"}}}',
            '{"p": {"a": "x"]}',
            '{"p" {"a": "x"}}',
            '{"p": {"a": "x",}}',
            '{"p": {"a": "x" "b": 1}}',
        ),
        *('{"p": {"a": "x}}', "", "{", '{"p": [}', '{"p": {"a": "x"}} 1', '{"p": {"a": "\\', '{"p": {"z": [1, 2}'),
    ],
)
def test_what_is_not_plain_is_left_to_a_careful_reader(text: str) -> None:
    with pytest.raises(NotPlain):
        json_values(text.encode(), PATHS)


def test_deep_nesting_is_skipped_or_refused() -> None:
    deep = "[" * 500 + "]" * 500
    assert found(f'{{"p": {{"x": {deep}, "a": "1"}}}}')[1] == [(0, "1")]
    with pytest.raises(NotPlain):
        json_values(('{"k":' * 100 + "1" + "}" * 100).encode(), {(ANY,) * 90: "string"})


def random_value(draw: Random, depth: int) -> Any:
    plain = [draw.randrange(9), draw.choice(["", "x", "a,b", "]", "{"]), None, True, -1.5]
    if depth == 0 or draw.random() < 0.4:
        return draw.choice(plain)
    many = [random_value(draw, depth - 1) for _ in range(draw.randrange(4))]
    return many if draw.random() < 0.4 else dict(zip(draw.sample("abcdxy", len(many)), many, strict=True))


def test_random_texts_give_what_a_parser_gives_or_nothing() -> None:
    draw, understood = Random(4), 0
    for _ in range(400):
        value = {f"k{n}": random_value(draw, 3) for n in range(3)}
        try:
            values = found(json.dumps(value, indent=draw.choice([None, 1])))
        except NotPlain:
            continue
        understood += 1
        members = [(n, one) for n, one in enumerate(value.values()) if isinstance(one, dict)]
        assert values[1] == [(n, one["a"]) for n, one in members if isinstance(one.get("a"), str)]
        inner = [(n, one["d"]) for n, one in members if isinstance(one.get("d"), dict)]
        assert values[3] == [(n, text) for n, some in inner for text in some.values() if isinstance(text, str)]
    assert understood > 100


# -- FPVG's files and predictions --------------------------------------------------------------------------


@pytest.mark.parametrize("annotations", ["path", "final"])
def test_questions_and_scene_graphs_are_read_the_same_either_way(tmp_path: Path, annotations: str) -> None:
    files = write_grounded(tmp_path, 70)
    asked = json.loads(files["questions"].read_text())
    asked["00000003"]["annotations"] = {"answer": [], "question": {}, "fullAnswer": {}}
    files["questions"].write_text(json.dumps(dict(reversed(asked.items())), indent=1))
    given = [files["questions"]], files["scene_graphs"], PARTS[annotations]
    plain, careful = plain_annotated(*given), careful_annotated(*given)
    assert plain.questions.equals(careful.questions) and np.array_equal(plain.boxes, careful.boxes)
    for at in range(70):
        own = [set(one.about[one.start[at] : one.start[at + 1]].tolist()) for one in (plain, careful)]
        assert own[0] == own[1]


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("questions", '"imageId":"2"', '"imageId":"none"'),
        ("questions", '"answer":"yes"', '"answer":"caf\\u00e9"'),
        ("scene_graphs", '"x":', '"x": 1.5e0, "x":'),
        ("scene_graphs", '"2004"', '"2003"'),
    ],
)
def test_what_needs_care_gets_it(tmp_path: Path, file: str, before: str, after: str) -> None:
    files = write_grounded(tmp_path, 70)
    text = files[file].read_text()
    assert before in text
    files[file].write_text(text.replace(before, after, 1))
    with pytest.raises(NotPlain):
        plain_annotated([files["questions"]], files["scene_graphs"], PARTS["path"])


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize(
    "rows",
    [
        [
            {"questionId": "1", "prediction": "a", "probability": 0.25},
            {"questionId": "2", "prediction": "b", "probability": 1},
        ],
        [{"id": "1", "prediction": "a"}, {"id": "2", "prediction": ""}, {"id": "1", "prediction": "c", "more": [{}]}],
        [{"id": "1", "prediction": "a", "qid": "9"}, {"id": "2", "prediction": "b"}],
        [{"id": 1, "prediction": True}, {"id": "2", "prediction": None}, {"id": "3", "prediction": 4}],
        [{"id": "1", "prediction": "a", "options": ["a", "b"]}],
        [{"qid": "1", "prediction": "a"}, {"key": "2", "prediction": "b", "probability": None}],
    ],
)
def test_predictions_are_read_the_same_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path / f"model.{ending}"
    path.write_text(json.dumps(rows) if ending == "json" else "\n\n".join(map(json.dumps, rows)))
    careful = read_predictions(path)
    monkeypatch.setattr(predictions, "LARGE", 0)
    plain = read_predictions(path)
    assert plain.table.equals(careful.table) and plain.duplicates == careful.duplicates
