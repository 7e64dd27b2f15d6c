"""The condition of balancing: a template's top answers have at most 30 % of its questions, or it is said why."""

from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import copy
from judges import naive_balance as judge
from questree.benchmarks.agqa.editions import SECOND
from questree.cli.stages import balance as command
from questree.stages.balance.levelling import BalanceOptions, Smoothing, lowered
from questree.stages.balance.rounds import balance
from questree.stages.balance.told import BalanceReport
from questree.stages.questions import Bank
from questree.stages.template_columns import TemplateColumns
from questree.tables.questions import QUESTIONS, read_balanced
from questree.tables.run import Run

KNOWN = TemplateColumns(SECOND.by_code)
counted = st.lists(st.integers(1, 200), min_size=1, max_size=40)


@given(counted, st.sampled_from([0.1, 0.2, 0.3, 0.5]), st.integers(0, 9000), st.sampled_from([0.0, 0.1, 0.5]))
def test_top_answers_are_lowered_as_by_trying_every_level(
    counts: list[int], most: float, gone: int, least: float
) -> None:
    before = sum(counts) + gone
    found = lowered(np.array(counts), before, Smoothing(top_questions=most, least=least))
    assert found.tolist() == judge.lowered(counts, before, most, least)


def test_one_two_three_and_six_answers_cannot_be_even_enough_and_are_made_equal() -> None:
    for answers in range(1, 40):
        counts = np.arange(answers) + 20
        left = lowered(counts, int(counts.sum()), Smoothing())
        assert judge.top_share(np.repeat(np.arange(answers), left))[1] <= 0.3 or answers in (1, 2, 3, 6)
        assert (len(set(left)) == 1) == (answers in (1, 2, 3, 6))


def open_questions(run: Run, report: BalanceReport | None = None) -> dict[tuple[str, str], list[int]]:
    """Split, template -> the answers of its questions, of the selection with a report, or of all."""
    asked = pl.concat([QUESTIONS.read(folder) for folder in Bank(run).folders()])
    if report:
        asked = asked.join(read_balanced(run.balanced), on=["video", "number"])
    split = ["train" if name == "train" else "test" for name in run.load("facts").videos["split"]]
    found: dict[tuple[str, str], list[int]] = {}
    for video, code, answer in asked.select("video", "template", "answer").rows():
        if KNOWN.open[code]:
            kind = int(KNOWN.of_actions[code])
            for name in (KNOWN.templates[code].name, "all"):
                found.setdefault((split[video], name), []).append(answer + 1000 * kind)
    return found


@pytest.mark.parametrize("released", [False, True])
def test_a_run_says_the_shares_of_its_top_answers_and_meets_the_condition_or_says_why(
    asked_run: Run, tmp_path: Path, released: bool
) -> None:
    run = copy(asked_run, tmp_path)
    report = balance(run, BalanceOptions(as_released=released), workers=1)
    before, after = open_questions(run), open_questions(run, report)
    assert {(row.split, row.template) for row in report.top_answers} == set(before)
    for row in report.top_answers:
        own = after.get((row.split, row.template), [])
        answers, share = judge.top_share(own) if own else (0, None)
        assert row.answers == answers
        assert row.after == (share if share is None else pytest.approx(share))
        assert row.before == pytest.approx(judge.top_share(before[row.split, row.template])[1])
        assert bool(row.reason) == (share is not None and share > 0.3)
        if row.reason and row.template != "all" and not released:
            left = judge.lowered(list(Counter(own).values()), 1, 0.3, 0.0)
            equal = sum(left) == len(own)  # and so as even as they can be
            assert equal or sum(left) < 0.1 * len(before[row.split, row.template])
            assert ("would stay" in row.reason) != equal
    reasons = {row.reason.partition(", ")[0] for row in report.top_answers if row.template != "all"}
    assert ("smoothing stops before" in reasons) == released


def test_too_many_of_a_template_are_not_taken_to_make_it_even(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    report = balance(run, BalanceOptions(smoothing=Smoothing(least=0.9)), workers=1)
    reasons = [row.reason for row in report.top_answers if row.template == "objWhat"]
    assert all("would stay, less than --least 0.9" in reason for reason in reasons)
    assert reasons


def test_the_command_prints_the_condition_and_its_file_has_it(
    asked_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copy(asked_run, tmp_path)
    command(run.folder, workers=1, json=tmp_path / "balance.json")
    out = capsys.readouterr().out
    assert "train: questions with the top 20 % of answers, at most 30 %" in out
    rows = msgspec.json.decode((tmp_path / "balance.json").read_bytes())["top_answers"]
    row = next(row for row in rows if row["split"] == "train" and row["template"] == "objWhat")
    line = next(line.split() for line in out.partition("at most 30 %")[2].splitlines() if " objWhat " in line)
    assert [line[3], line[5]] == [f"{100 * row[name]:.1f}" for name in ("before", "after")]
    assert row == next(
        row
        for row in msgspec.json.decode((run.balanced / "report.json").read_bytes())["top_answers"]
        if (row["split"], row["template"]) == ("train", "objWhat")
    )
