"""Printed tables: no figure is cut however narrow the screen, every N/A says why, weak intervals are marked."""

import random
import re

import pytest

from questree.api.score_tables import decomp_tables, score_grid
from questree.cli.layout import laid_out, width_of
from questree.cli.terminal import print_table, tell
from questree.metrics.scores import Score
from questree.scoring.footnotes import lettered, why

FIGURES = ("82.29 [79.81, 84.31]", "-50.00 [-100.00, 0.00]?", "N/A a", "1,347", "")


@pytest.mark.parametrize("width", [30, 40, 80, 120, 160])
def test_no_figure_is_cut_at_any_width(width: int) -> None:
    draw = random.Random(width)
    for _ in range(20):
        names = ["Question type", "model", *(f"metric {at}" for at in range(draw.randrange(1, 8)))]
        rows = [
            [" ".join(["Temporal"] * draw.randrange(1, 5)), "a-model", *(draw.choice(FIGURES) for _ in names[2:])]
            for _ in range(4)
        ]
        lines = laid_out(names, rows, [False] * len(names), width)
        text = "\n".join(lines)
        for figure in FIGURES[:-1]:
            assert text.count(figure) == sum(row.count(figure) for row in rows)
        assert all(line == line.rstrip() for line in lines)
        if width >= 80:
            assert max(map(width_of, lines)) <= width


def test_text_is_wrapped_and_wide_letters_count_twice() -> None:
    assert laid_out(["id", "text"], [["a", "one two three four five six"]], [False, False], 24) == [
        " id  text",
        " a   one two three four",
        "     five six",
    ]
    assert laid_out(["x", "n"], [["両", "1"], ["a\x1b", "2"]], [False, True], 80) == [" x   n", " 両  1", " a   2"]


def test_the_width_of_the_screen_is_kept(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    print_table("Title", [{"group": "Overall", **dict.fromkeys(("accuracy", "CA", "RWR"), FIGURES[0])}])
    assert capsys.readouterr().out.splitlines() == [
        "Title",
        " group    accuracy",
        " Overall  82.29 [79.81, 84.31]",
        "",
        " group    CA",
        " Overall  82.29 [79.81, 84.31]",
        "",
        " group    RWR",
        " Overall  82.29 [79.81, 84.31]",
    ]


def score(metric: str, by: str, group: str, value: float | None, n: int | None, model: str = "m") -> Score:
    return Score(metric, by, group, value, n, None, None, model)


def test_every_cell_without_a_value_says_why() -> None:
    idle = ["And Yes", "Xor No"]
    assert why(score("CA", "type", "Choose", None, 0), idle) == "no parent whose sub-questions are all right"
    assert why(score("RWR-2", "type", "Choose", None, 0), idle) == "no parent with exactly 2 of its sub-questions wrong"
    assert why(score("IC", "rule", "And Yes", None, 0), idle) == "the rule never applied"
    assert why(score("IC", "rule", "Overall", None, None), idle) == "never applied: And Yes, Xor No"
    assert why(score("IC", "composition", "And", None, None), idle) == "never applied: And Yes"
    assert why(score("IC", "type", "Conjunction", None, None), idle) == "never applied: And Yes, Xor No"
    assert why(score("IC", "composition", "First", None, None), idle) == "no rule is about this"
    assert why(score("accuracy", "reasoning", "sequencing", None, 0), []) == "no such question"
    assert [lettered(at) for at in (0, 25, 26, 27)] == ["a", "z", "aa", "ab"]


def test_models_are_rows_with_intervals_and_weak_ones_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        Score("CA", "type", "Choose", 0.5, 40, 0.25, 0.75, "a"),
        Score("CA", "type", "Choose", 0.5, 9, 0.25, 0.75, "b"),
        Score("CA", "type", "Equals", 1.0, 40, 1.0, 1.0, "a"),
        Score("CA", "type", "Equals", None, 0, None, None, "b"),
    ]
    tell(score_grid("Title", "Type", rows, "type", ["CA"]))
    assert capsys.readouterr().out.splitlines() == [
        "Title",
        " Type    model  CA                         n",
        " Choose  a      50.00 [25.00, 75.00]      40",
        " Choose  b      50.00 [25.00, 75.00]?      9",
        " Equals  a      100.00 [100.00, 100.00]?  40",
        " Equals  b      N/A a                      0",
        " a no parent whose sub-questions are all right",
        " ? an interval of fewer than 10 items, or of no width: do not rely on it",
    ]


def test_rows_by_answer_are_printed_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [score("accuracy", "answer", "Overall-gray", 1.0, 6), score("accuracy", "type", "Overall", 1.0, 6)]
    tell(decomp_tables(rows))
    assert "gray" not in capsys.readouterr().out
    tell(decomp_tables(rows, by_answer=True))
    assert re.search(r"Overall-gray +100.00 +6", capsys.readouterr().out)
