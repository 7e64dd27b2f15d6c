"""Shares of structures: what is said where they cannot be had, and how far the others are cut to have them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import copy
from judges import naive_balance as judge
from questree.cli.stages import balance as command
from questree.faults import BadInput
from questree.stages.balance.levelling import SHARES, SPLITS, BalanceOptions, shrunk
from questree.stages.balance.rounds import balance
from questree.stages.balance.structure import Target, targets
from questree.stages.balance.told import BalanceReport, shortfalls
from questree.stages.questions import Bank
from questree.tables.questions import QUESTIONS, read_balanced
from questree.tables.run import Run

counted = st.fixed_dictionaries({name: st.integers(0, 3000) for name in SHARES})


@given(counted, st.sampled_from([0.0, 0.005, 0.02, 0.1, 0.3]))
def test_targets_within_a_tolerance_are_as_many_as_can_be_had(there: dict[str, int], tolerance: float) -> None:
    found = targets(there, BalanceOptions(share_tolerance=tolerance))
    assert all(0 <= found[name] <= there[name] for name in SHARES)
    total = sum(found.values())
    have = sum(share for name, share in SHARES.items() if there[name])
    shares = {name: share / have for name, share in SHARES.items() if there[name]}
    for name, share in shares.items():  # each was rounded down
        assert abs(found[name] - share * total) <= tolerance * total + len(SHARES) + 1
    most = there["query"] / SHARES["query"]
    assert total <= most
    assert judge.can_be_had(max(total - len(SHARES), 0), there, shares, tolerance)
    more = total + len(SHARES) + 1
    assert more > most or not judge.can_be_had(more, there, shares, tolerance)


@given(counted)
def test_with_any_share_allowed_query_loses_nothing(there: dict[str, int]) -> None:
    found = targets(there, BalanceOptions(share_tolerance=1.0))
    assert found["query"] == there["query"]
    assert targets(there, BalanceOptions())["query"] == there["query"]


@given(st.fixed_dictionaries({name: st.integers(0, 60) for name in SHARES}), st.sampled_from([None, 0.0, 0.01, 0.1]))
def test_every_share_that_is_missed_is_named_and_no_other(there: dict[str, int], tolerance: float | None) -> None:
    """Questions with two answers go in pairs, of however few."""
    options, own = BalanceOptions(share_tolerance=tolerance), list[Target]()
    for name, target in targets(there, options).items():
        pairs = min(target, there[name]) // 2 * 2
        own.append(Target("train", name, there[name], target, target if name == "query" else pairs))
    lines = [line.split() for line in shortfalls(BalanceReport(options, [], own, [])) if " instead of " in line]
    kept, near = {each.structure: each.kept for each in own}, 0.01 if tolerance is None else tolerance
    total = sum(kept.values())
    missed = [name for name in kept if total and abs(kept[name] / total - SHARES[name]) > near + 0.0005]
    assert [line[1] for line in lines if line[0] == "train:"] == missed
    assert all(kept[line[1]] == there[line[1]] for line in lines if {"only", "none"} & {*line})


def test_a_tolerance_is_named_where_it_cuts() -> None:
    """The share of what is not there is shared out, so that no tolerance brings the others closer."""
    for compare in (0, 10):
        there = {"query": 200, "compare": compare, "choose": 400, "verify": 400, "logic": 400}
        limits = targets(there, BalanceOptions())
        own = [Target("train", name, number, limits[name], min(limits[name], number)) for name, number in there.items()]
        lines = list(shortfalls(BalanceReport(BalanceOptions(), [], own, [])))
        assert any("as compare falls short" in line for line in lines)
        assert any("--share-tolerance" in line for line in lines) == (compare > 0)


@given(st.lists(st.integers(1, 90), min_size=1, max_size=12), st.floats(0, 1))
def test_answers_are_cut_in_proportion(counts: list[int], share: float) -> None:
    total = int(share * sum(counts))
    found = shrunk(np.array(counts), total)
    assert found.sum() == total
    assert all(abs(left - count * total / sum(counts)) < 1 for left, count in zip(found, counts, strict=True))


def kept(run: Run) -> dict[str, dict[str, int]]:
    """Split -> structure -> questions selected."""
    known, split = Bank(run).edition.by_code, run.load("facts").videos["split"].to_list()
    found = {name: dict.fromkeys(SHARES, 0) for name in SPLITS}
    chosen = set(read_balanced(run.balanced).rows())
    for folder in Bank(run).folders():
        for video, number, template in QUESTIONS.read(folder).select("video", "number", "template").rows():
            if (video, number) in chosen:
                name = "train" if split[video] == "train" else "test"
                found[name][known[template].categories.structural] += 1
    return found


@pytest.mark.parametrize("tolerance", [None, 0.0, 0.03])
def test_every_share_is_within_the_tolerance_and_query_loses_no_more_than_it_must(
    asked_run: Run, tmp_path: Path, tolerance: float | None
) -> None:
    run = copy(asked_run, tmp_path)
    first = {(t.split, t.structure): t for t in balance(run, BalanceOptions(), workers=1).targets}
    balance(run, BalanceOptions(share_tolerance=tolerance), workers=1)
    missed = 0
    for split, own in kept(run).items():
        total = sum(own.values())
        assert total
        have = sum(share for name, share in SHARES.items() if first[split, name].before)
        shares = {name: share / have for name, share in SHARES.items() if first[split, name].before}
        over = {name: abs(own[name] - share * total) - (tolerance or 0) * total for name, share in shares.items()}
        missed += sum(each > 8 for each in over.values())  # rounded, questions go in pairs, and keys with one answer
        if tolerance is None or all(first[split, name].short <= 1 for name in SHARES):
            assert own["query"] == first[split, "query"].before
    assert (missed > 0) == (tolerance is None)


def test_the_command_says_which_share_was_missed_by_how_much_and_why(
    asked_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copy(asked_run, tmp_path)
    command(run.folder, workers=1)
    lines = [line for line in capsys.readouterr().out.splitlines() if "of the questions instead of" in line]
    found, rare = kept(run), 0
    for line in lines:
        split, name, share, wanted = re.findall(r"^(\w+): (\w+) has ([\d.]+) % .* instead of ([\d.]+) %", line)[0]
        assert float(share) == pytest.approx(100 * found[split][name] / sum(found[split].values()), abs=0.06)
        assert float(wanted) == pytest.approx(100 * SHARES[name])
        rare += "falls short of its target by" in line or "there are none" in line
        assert float(share) > float(wanted) or "--share-tolerance" not in line
    assert 0 < rare < len(lines)
    said = {re.split(r"[: ]+", line)[0:2][0] + re.split(r"[: ]+", line)[1] for line in lines}
    for split, own in found.items():
        for name, share in SHARES.items():
            far = abs(own[name] / sum(own.values()) - share) > 0.02
            assert not far or f"{split}{name}" in said
    with pytest.raises(BadInput, match="share"):
        command(run.folder, share_tolerance=-1, workers=1)


@pytest.mark.parametrize("tolerance", [None, 0.0, 0.01])
def test_only_structures_without_a_share_leave_nothing(tolerance: float | None) -> None:
    shares = {"query": 0.0, "compare": 0.1, "choose": 0.2, "verify": 0.5, "logic": 0.2}
    options = BalanceOptions(shares=shares, share_tolerance=tolerance)
    nothing = dict.fromkeys(SHARES, 0)
    assert targets(nothing | {"query": 5}, options) == nothing
    assert targets(nothing | {"query": 5, "choose": 40, "verify": 500, "compare": 10, "logic": 40}, options) == {
        name: round(100 * share) for name, share in shares.items()
    }
    report = BalanceReport(options, [], [Target("train", "query", 5, 0, 0)], [])
    assert next(iter(shortfalls(report))).startswith("train: no question is left that has a share;")
