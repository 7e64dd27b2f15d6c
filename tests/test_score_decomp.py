"""AGQA-Decomp scores equal the published evaluation: its vectors, a judge written with loops, and cases by eye."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judges.naive_scores import scores as naive
from questree.faults import BadInput
from questree.formats.decomp_files import hierarchies_of, read_hierarchies
from questree.metrics.answered import needed
from questree.metrics.dags import score_decomp
from questree.metrics.scores import Score, Scored
from questree.rules import VIDEO_DAGS
from worlds.decomp_files import by_id, dag, load, random_files, table

MODELS = ["perfect", "noisy", "random", "alwaysyes"]
HIERARCHIES = load("agqa_decomp/hierarchies.json.gz")
EDGE_CASES = load("agqa_decomp/edge_cases.json.gz")
Rows = dict[tuple[str, str, str], Score]


def rows_of(scored: Scored) -> Rows:
    return {(row.metric, row.by, row.group): row for row in scored.rows("m")}


def scored(files: dict[str, Any], said: dict[str, str], missing: Any = "error") -> Scored:
    return score_decomp(hierarchies_of(files), table(said), missing)


def passed_total(row: Score) -> tuple[int, int]:
    assert row.n is not None
    return round((row.value or 0) * row.n), row.n


def differences(result: Scored, expected: dict[str, Any]) -> list[Any]:
    """Whatever of the expected counts, values and correlation we do not have."""
    rows, found = rows_of(result), []
    found += count_differences(result, rows, expected["raw"])
    for name, grid in expected["tables"].items():
        if grid is not None and "count" not in name:
            found += grid_differences(rows, name, grid)
    row, pearson = rows["IC-accuracy correlation", "dag", "Overall"], expected["correlation"]["pearson"]
    if row.n != expected["correlation"]["n_dags_in_correlation"]:
        found.append(("dags", row.n))
    if pearson is None or row.value is None:
        found += [] if pearson is row.value else [("correlation", row.value, pearson)]
    elif abs(row.value - pearson) > 1e-9:
        found.append(("correlation", row.value, pearson))
    return found


def count_differences(result: Scored, rows: Rows, raw: dict[str, Any]) -> list[Any]:
    wanted: dict[Any, tuple[int, int]] = {}
    for group, answers in raw["acc_count"].items():
        for answer, each in answers.items():
            name = f"{group}-{'None' if answer == 'null' else answer}"
            wanted["accuracy", "answer", name] = each["correct"], each["total"]
    for key, by in (("parent_type_count", "type"), ("composition_rule_count", "composition")):
        for metric, groups in (raw.get(key) or {}).items():
            for group, each in groups.items():
                wanted[metric.upper(), by, group] = each["correct"], each["total"]
    for rule, each in raw["consistency_compo"].items():
        wanted["IC", "rule", rule] = each["Total"] - each["Wrong"], each["Total"]
    have = {name: passed_total(row) for name, row in rows.items() if row.n is not None}
    found: list[Any] = [(name, have.get(name), pair) for name, pair in wanted.items() if have.get(name) != pair]
    kinds = {(metric, by) for metric, by, _ in wanted}
    found += [(name, pair) for name, pair in have.items() if name[:2] in kinds and pair[1] and name not in wanted]
    passed, total = (sums.astype(int).tolist() for sums in result.tallies.summed())
    column = {name: pair for name, *pair in zip(result.tallies.columns, passed, total, strict=True)}
    for group, rules in raw["consistency_parent"].items():
        for rule, each in rules.items():
            pair = column.get(("IC", group, rule), [0, 0])
            if pair != [each["Total"] - each["Wrong"], each["Total"]]:
                found.append((group, rule, pair, each))
    return found


def grid_differences(rows: Rows, name: str, grid: dict[str, Any]) -> list[Any]:
    """Printed with two decimals."""
    metric = {"accuracy": "accuracy", "ca": "CA", "rwr": "RWR", "delta": "Delta", "ic": "IC"}[name.split("_")[0]]
    by = "rule" if "per_rule" in name else "composition" if "composition" in name else "type"
    found = []
    for group, *cells in grid["rows"]:
        for column, cell in zip(grid["columns"][1:], cells, strict=True):
            if column.startswith("Total"):
                continue
            value = rows[column.split()[0] if "rwr_n" in name else metric, by, group].value
            if (value is None) != (cell == "N/A") or (value is not None and abs(100 * value - cell) > 0.0050001):
                found.append((name, group, column, value, cell))
    return found


@pytest.mark.parametrize("model", MODELS)
def test_the_vectors_are_met_to_the_digit(model: str) -> None:
    result = scored(HIERARCHIES, by_id(load(f"agqa_decomp/preds_{model}.json.gz")))
    expected = load(f"agqa_decomp/expected_{model}.json.gz")
    by_type = rows_of(result)["IC", "type", "Overall"]
    by_composition = rows_of(result)["IC", "composition", "Overall"]
    assert by_type.value == by_composition.value  # on purpose, as the paper's Table 3 prints it
    left = [each for each in differences(result, expected) if each[:2] != ("ic_per_parent_type", "Overall")]
    assert left == []


PURPOSEFUL = {"choose_empty_pred": {"IC", "Choose", "ic_per_rule"}, "top_key_collision": {"dags", "correlation"}}


@pytest.mark.parametrize("case", EDGE_CASES)
def test_every_edge_case_is_met(case: str) -> None:
    each = EDGE_CASES[case]
    found = differences(scored(each["hierarchies"], by_id(each["preds"])), each["expected"])
    kinds = {one[0][0] if isinstance(one[0], tuple) else one[0] for one in found}
    assert kinds == PURPOSEFUL.get(case, set()), found


@pytest.mark.parametrize("seed", range(25))
def test_a_judge_with_loops_counts_the_same(seed: int) -> None:
    same_counts(*random_files(seed))


@pytest.mark.parametrize("seed", range(25))
def test_what_nobody_knows_needs_no_prediction_and_takes_part_where_it_has_one(seed: int) -> None:
    files, said = random_files(seed)
    nodes = [
        node for name in ("V1", "V2") for one in files[f"{name}.json"].values() for node in one["subquestion"].values()
    ]
    for node in [*nodes, *files["isolated.json"]]:
        node["answer"] = None if node["key"][-1] in "369" else node["answer"]
    wanted = hierarchies_of(files)
    known = {*wanted.keys.gather(needed(wanted))}
    assert len(said.keys() - known) > 15
    same_counts(files, {id: word for id, word in said.items() if id in known or id[-1] != "6"})


def same_counts(files: dict[str, Any], said: dict[str, str]) -> None:
    counts, dags = naive(files, said)
    result = scored(files, said)
    rows = rows_of(result)
    for what, (passed, total) in counts.items():
        if what[0] == "accuracy":
            assert passed_total(rows["accuracy", "answer", f"{what[1]}-{what[2]}"]) == (passed, total), what
        elif what[0] != "IC":
            assert passed_total(rows[what]) == (passed, total), what
        elif len(what) == 2:
            assert passed_total(rows["IC", "rule", what[1]]) == (passed, total), what
    counted = sum(row.n or 0 for name, row in rows.items() if name[1] == "answer" or name[:2] == ("IC", "rule"))
    assert counted == sum(total for what, (_, total) in counts.items() if what[0] == "accuracy" or len(what) == 2)
    row = rows["IC-accuracy correlation", "dag", "Overall"]
    assert row.n == len(dags)
    assert row.value == pytest.approx(np.corrcoef(np.array(dags).T)[0, 1], abs=1e-9)


PARENT = {"Is a cup held?": ("A-0", "Interaction", "yes"), "Does a cup exist?": ("A-1", "Object Exists", "yes")}
ONE = {"A.json": {"A-0": dag(PARENT, {"Is a cup held?": {"Interaction": ["Does a cup exist?"]}})}}


def test_a_yes_parent_with_a_no_child_fails_both_its_rules() -> None:
    rows = rows_of(scored(ONE, {"A-0": "yes", "A-1": "no"}))
    assert passed_total(rows["IC", "rule", "Interaction Yes"]) == (0, 1)
    assert passed_total(rows["IC", "rule", "Interaction No"]) == (0, 1)
    assert rows["IC", "composition", "Interaction"].value == 0
    assert rows["IC", "composition", "Overall"].value is None  # sixteen rules never applied
    assert rows["RWR-1", "composition", "Interaction"].value == 1
    assert rows["CA", "composition", "Interaction"] == Score(
        "CA", "composition", "Interaction", None, 0, None, None, "m"
    )


def test_a_missing_prediction_is_wrong_or_left_out_as_asked() -> None:
    wrong, skip = (rows_of(scored(ONE, {"A-0": "yes"}, missing)) for missing in ("wrong", "skip"))
    assert passed_total(wrong["accuracy", "type", "Overall"]) == (1, 2)
    assert passed_total(wrong["RWR", "type", "Interaction"]) == (1, 1)
    assert passed_total(wrong["IC", "rule", "Interaction Yes"]) == (0, 1)
    assert passed_total(skip["accuracy", "type", "Overall"]) == (1, 1)
    assert skip["RWR", "type", "Interaction"].n == skip["CA", "type", "Interaction"].n == 0
    assert skip["IC", "rule", "Interaction Yes"].n == 0


def test_two_missing_predictions_are_not_equal_answers() -> None:
    nodes = {"q": ("k0", "Object Equals", "yes"), "a": ("k1", "First Object", "cup"), "b": ("k2", "Last Object", "cup")}
    files = {"A.json": {"k0": dag(nodes, {"q": {"Equals": ["a", "b"]}, "a": {}})}}
    assert passed_total(rows_of(scored(files, {"k0": "yes"}, "wrong"))["IC", "rule", "Equals Yes"]) == (0, 1)
    assert passed_total(rows_of(scored(files, {"k0": "yes", "k1": "x", "k2": "x"}))["IC", "rule", "Equals Yes"]) == (
        1,
        1,
    )


def test_the_eighteen_rules_are_rows_and_the_last_is_overall() -> None:
    rows = [row for row in scored(ONE, {"A-0": "yes", "A-1": "no"}).rows("m") if row.by == "rule"]
    assert [row.group for row in rows] == [*VIDEO_DAGS.all_rules, "Overall"]
    assert len(VIDEO_DAGS.all_rules) == 18


def test_a_child_the_dag_does_not_have_is_named() -> None:
    broken = {"A.json": {"A-0": dag(PARENT, {"Is a cup held?": {"Interaction": ["Does a hat exist?"]}})}}
    with pytest.raises(BadInput) as bad:
        hierarchies_of(broken)
    assert [str(fault) for fault in bad.value.faults] == [
        "A.json, DAG A-0: the hierarchy mentions 'Does a hat exist?', which `subquestion` does not have"
    ]


@pytest.mark.processes
def test_a_folder_read_in_parts_is_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in HIERARCHIES.items():
        (tmp_path / name).write_text(json.dumps(content))
    said = table(by_id(load("agqa_decomp/preds_random.json.gz")))
    wanted = score_decomp(hierarchies_of(HIERARCHIES), said).rows("m")
    assert score_decomp(read_hierarchies(tmp_path), said).rows("m") == wanted
    monkeypatch.setattr("questree.formats.decomp_files.CHUNK", 5)
    assert score_decomp(read_hierarchies(tmp_path), said).rows("m") == wanted
    monkeypatch.setattr("questree.formats.decomp_files.ONE_PROCESS", 0)
    assert score_decomp(read_hierarchies(tmp_path, workers=2), said).rows("m") == wanted


def test_every_broken_file_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "A.json").write_text('{"A-0": {"subquestion": {}}}')
    (tmp_path / "B.json").write_text("nonsense")
    (tmp_path / "isolated.json").write_text('[{"key": "A-1"}]')
    with pytest.raises(BadInput) as bad:
        read_hierarchies(tmp_path)
    names = ["A.json", "B.json", "isolated.json"]
    assert [fault.place for fault in bad.value.faults] == [str(tmp_path / name) for name in names]
