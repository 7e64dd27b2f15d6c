"""What the report says in words and draws: only what the numbers bear."""

import re

import numpy as np
import pytest

from questree.metrics.comparison import ModelDifference
from questree.metrics.dags import binned
from questree.metrics.scores import Score
from questree.show.dag import Dag
from questree.show.judged import Broken, Judged, reason
from questree.show.report.charts import Axis, around, composition_plot, dags_plot, models_plot, steps_plot
from questree.show.report.document import ScoreRows
from questree.show.report.verdicts import compared, verdicts

QUESTION = "Did they hold a dish after sneezing?"
TEXTS = (QUESTION, "Did they hold a dish?", "Did they sneeze?", "Does a dish exist?")


def score(metric: str, group: str, value: float | None, low: float, high: float, n: int | None = 40) -> Score:
    known = value is not None
    return Score(metric, "composition", group, value, n, low if known else None, high if known else None, "M")


def test_best_and_worst_are_told_where_intervals_lie_apart() -> None:
    rows = [
        score("CA", "And", 0.9, 0.85, 0.95, 120),
        score("CA", "Xor", 0.5, 0.4, 0.6, 30),
        score("CA", "After", 0.8, 0.1, 1.0, 31),
        score("CA", "While", 1.0, 1.0, 1.0, 29),
        score("CA", "First", None, 0, 0, 0),
        score("CA", "Overall", 0.75, 0.7, 0.8, 153),
    ]
    told = list(verdicts(ScoreRows(rows), "M"))
    assert told[-1] == "Nothing is said about While: fewer than 30 wholes."
    assert told[:4] == [
        "Overall CA is 75.00 [70.0, 80.0]: how often the model puts right parts together.",
        "Best, above its overall CA: And (CA 90.00 [85.0, 95.0], n 120).",
        "Worst, below its overall CA: Xor (CA 50.00 [40.0, 60.0], n 30).",
        "The intervals do not tell After from the overall CA.",
    ]


def test_nothing_is_called_best_where_all_intervals_overlap() -> None:
    rows = [score("CA", name, 0.7, 0.5, 0.9) for name in ("And", "Xor", "Overall")]
    told = list(verdicts(ScoreRows(rows), "M"))
    assert told[1] == "The intervals do not tell any composition from the overall CA."
    assert not any(text.startswith(("Best", "Worst")) for text in told)


def test_without_an_overall_value_the_ends_are_compared() -> None:
    rows = [score("IC", "And", 0.9, 0.8, 1.0, None), score("IC", "Xor", 0.5, 0.4, 0.6, None)]
    rows += [score("IC", "Overall", None, 0, 0, None), *(score("CA", name, 0.5, 0, 1) for name in ("And", "Xor"))]
    assert list(verdicts(ScoreRows(rows), "M"))[1] == (
        "Overall IC is N/A. Highest And (IC 90.00 [80.0, 100.0], n 40), lowest Xor (IC 50.00 [40.0, 60.0], n 40), "
        "apart from each other."
    )


def test_equal_ends_are_neither_highest_nor_lowest() -> None:
    rows = [score("IC", name, 1.0, 1.0, 1.0, None) for name in ("And", "Xor")]
    rows += [score("CA", name, 1.0, 1.0, 1.0) for name in ("And", "Xor")]
    assert list(verdicts(ScoreRows(rows), "M"))[:2] == [
        "Overall CA is N/A; it is 100.00 in And and Xor.",
        "Overall IC is N/A; it is 100.00 in And and Xor.",
    ]


def test_luck_is_a_delta_whose_interval_is_above_zero() -> None:
    rows = [
        score("Delta", "Equals", 0.04, 0.01, 0.07, None),
        score("Delta", "And", 0.02, -0.01, 0.05, None),
        score("Delta", "Xor", -0.3, -0.4, -0.2, None),
        score("Delta", "Choose", 0.9, 0.9, 0.9, None),
        *(score(metric, name, 0.5, 0.4, 0.6, 50) for metric in ("CA", "RWR") for name in ("And", "Xor")),
        score("CA", "Equals", 0.5, 0.4, 0.6, 70),
        score("RWR", "Equals", 0.54, 0.4, 0.6, 30),
        score("CA", "Choose", 0.1, 0.1, 0.1, 500),
        score("RWR", "Choose", 1.0, 1.0, 1.0, 2),
    ]
    assert list(verdicts(ScoreRows(rows), "M"))[-2:] == [
        "Right for the wrong reasons: right more often when a part is wrong, in Equals "
        "(Delta 4.00 [1.0, 7.0], n 70 and 30).",
        "Whether wrong parts do any harm cannot be told (the interval of Delta holds 0) in And.",
    ]


def test_models_differ_only_at_the_false_discovery_rate() -> None:
    cells = [
        ModelDifference("CA", "composition", "And", 0.5, 0.7, 0.2, 0.1, 0.3, 0.001, 0.01),
        ModelDifference("CA", "composition", "Xor", 0.7, 0.5, -0.2, -0.3, -0.1, 0.001, 0.01),
        ModelDifference("IC", "composition", "And", 0.7, 0.5, -0.2, -0.5, 0.1, 0.2, 0.3),
        ModelDifference("CA", "composition", "First", 0.0, 1.0, 1.0, 1.0, 1.0, 0.001, 0.01),
        ModelDifference("CA", "type", "Choose", 0.7, 0.5, -0.2, -0.5, 0.1, 0.001, 0.01),
    ]
    enough = [Score("CA", "composition", name, 0.5, 99, 0, 1, model) for name in ("And", "Xor") for model in "AB"]
    first, *others = compared(ScoreRows(enough), cells, "A", "B")
    assert "2 of 3 values" in first
    assert others == [
        "CA is higher for B in And (by 20.00 [10.0, 30.0]).",
        "CA is higher for A in Xor (by 20.00 [10.0, 30.0]).",
    ]


def failed(said: str, truth: str, broken: list[Broken] | None = None) -> str:
    """y or n per node: the question, its parts 1 and 2 by After, and 3, a part of 1 by Interaction."""
    words = {"y": "yes", "n": "no"}
    edges = {0: [("After", 1), ("After", 2)], 1: [("Interaction", 3)]}
    rows = [{"text": text, "answer": words[answer]} for text, answer in zip(TEXTS, truth, strict=True)]
    dag = Dag(rows, [[("", text)] for text in TEXTS], edges)
    right: list[bool | None] = [a == b for a, b in zip(said, truth, strict=True)]
    found = Judged("M", [words[a] for a in said], right, broken or [], [(0, 1), (0, 2), (1, 3)])
    return reason(dag, found)


@pytest.mark.parametrize(
    ("said", "truth", "told"),
    [
        ("nyyy", "yyyy", "Both parts are right and the whole is not: it fails in the last step (After)."),
        (
            "nnyn",
            "yyyy",
            "The error begins at “Does a dish exist?” (“no” instead of “yes”) and reaches the question by "
            "Interaction, then After.",
        ),
        ("yyny", "yyyy", "Right for the wrong reasons: “Did they sneeze?” (“no” instead of “yes”)."),
        (
            "nnnn",
            "yyyy",
            "The error begins at “Did they sneeze?” (“no” instead of “yes”) and reaches the question by After. "
            "Errors also begin at “Does a dish exist?” (“no” instead of “yes”).",
        ),
        ("yyyn", "yyyy", "The answer is right. Errors begin at “Does a dish exist?” (“no” instead of “yes”)."),
        (
            "nyyn",
            "yyyy",
            "Both parts are right and the whole is not: it fails in the last step (After). "
            "Errors also begin at “Does a dish exist?” (“no” instead of “yes”).",
        ),
    ],
)
def test_a_failure_is_told_by_where_it_begins(said: str, truth: str, told: str) -> None:
    assert failed(said, truth) == told


def test_a_contradiction_is_told_with_both_answers() -> None:
    broken = [Broken("Interaction Yes", "Interaction", 1, (3,)), Broken("After Yes", "After", 0, (2,))]
    assert failed("yyny", "yyny", broken).endswith(
        "The model contradicts itself (After: a yes needs every sub-question to be yes): "
        "it says “yes” to the question and “no” to “Did they sneeze?”."
    )


def test_an_axis_puts_values_on_pixels_and_ticks_on_round_numbers() -> None:
    x = Axis(0, 1, 100, 300)
    assert (x(0), x(0.25), x(1)) == (100, 150, 300)
    assert x.ticks(5) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert Axis(0.07, 0.33, 0, 1).ticks(3) == pytest.approx([0.1, 0.2, 0.3])
    low, high = around([0.5])
    assert low < 0.5 < high and high - low == pytest.approx(0.1, abs=0.03)
    assert around([0.0, 1.0]) == (0.0, 1.0)


def steps(model: str, values: dict[int, float]) -> list[Score]:
    return [Score("accuracy", "steps", str(at), v, 10 * at, None, None, model) for at, v in values.items()]


def test_dots_stand_where_the_accuracy_is_and_grow_with_n() -> None:
    rows = [*steps("M", {1: 0.5, 4: 0.9}), *steps("oracle", {1: 1.0, 4: 1.0})]
    drawing = steps_plot(ScoreRows(rows), ["M"], ["oracle"])
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"[^>]*><title>M, (\d)', drawing)
    (x1, y1, r1, _), (x4, y4, r4, _) = dots
    assert float(x1) < float(x4) and float(y1) > float(y4) and float(r1) < float(r4)
    assert drawing.count("<polyline") == 1 and "stroke-dasharray" in drawing  # the bot; without a fit there is no line
    assert steps_plot(ScoreRows([]), ["M"], []) == ""


def test_the_fit_is_drawn_with_its_band() -> None:
    fit = [Score("fit, 80 % band", "steps", str(at), 0.6, 5, 0.5, 0.7, "M") for at in (1, 2)]
    drawing = steps_plot(ScoreRows([*steps("M", {1: 0.5, 2: 0.7}), *fit]), ["M"], [])
    assert drawing.count("<polygon") == 1 and drawing.count("<polyline") == 1


def test_compositions_without_a_value_are_not_drawn() -> None:
    rows = [score("CA", "And", 0.9, 0.85, 0.95), score("RWR", "And", None, 0, 0), score("CA", "First", None, 0, 0)]
    drawing = composition_plot(ScoreRows(rows), ["M"], [])
    assert "M, And: CA 90.00 [85.0, 95.0], n 40" in drawing
    assert "First" not in drawing
    assert composition_plot(ScoreRows([]), ["M"], []) == ""


def test_models_without_consistency_are_not_drawn() -> None:
    rows = [
        Score("accuracy", "type", "Overall", 0.5, 10, 0.4, 0.6, "M"),
        Score("IC", "composition", "Overall", None, None, None, None, "M"),
    ]
    assert models_plot(ScoreRows(rows), ["M"], []) == ""


def test_dags_are_counted_where_both_numbers_are_known() -> None:
    drawing = dags_plot("M", binned(np.array([1.0, 1.0, 0.5, np.nan]), np.array([1.0, 1.0, 0.0, 0.3])))
    assert "M: 3 DAGs" in drawing
    assert re.findall(r"<title>(\d+) DAGs, accuracy from (\d+) %, consistency from (\d+) %", drawing) == [
        ("1", "50", "0"),
        ("2", "95", "95"),
    ]
