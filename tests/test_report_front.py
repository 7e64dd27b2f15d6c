"""What a report opens with: every sentence, line and mark follows from the numbers."""

import re

import msgspec

from questree.metrics.best import Marks
from questree.metrics.scores import Score
from questree.show.report.document import Number, ScoreRows
from questree.show.report.front import Front, forest_plot, front_blocks, scoreboard
from questree.show.report.summary import paragraph

ACCURACY = ("accuracy", "structural", "Overall")


def accuracy(model: str, value: float | None, room: float = 0.02, n: int = 1200) -> Score:
    low, high = (None, None) if value is None else (value - room, value + room)
    return Score("accuracy", "structural", "Overall", value, n, low, high, model)


def whole(
    model: str, metric: str, value: float, room: float = 0.01, n: int | None = 300, group: str = "Overall"
) -> Score:
    return Score(metric, "composition", group, value, n, value - room, min(value + room, 1.0), model)


def front(
    alone: list[Score], dags: list[Score], bots: tuple[str, ...] = (), p: dict[str, float] | None = None
) -> Front:
    models = [row.model for row in alone if row.model not in bots]
    marks = Marks(p={(*ACCURACY, model): value for model, value in (p or {}).items()})
    return Front(models, bots, ScoreRows(dags), ScoreRows(alone, marks), "structural")


def test_one_model_is_told_by_its_values() -> None:
    dags = [whole("M", "CA", 0.8), whole("M", "RWR", 0.4), whole("M", "IC", 0.7, n=None)]
    dags += [whole("M", "CA", 0.5, group="And"), whole("M", "CA", 0.9, group="Xor")]
    one = front([accuracy("M", 0.6), accuracy("guess", 0.3), accuracy("oracle", 1.0)], dags, ("oracle", "guess"))
    assert list(paragraph(one)) == [
        "M answers 60.00 % [58.0, 62.0] of 1,200 questions right.",
        "M does better than guess, which has 30.00 % [28.0, 32.0].",
        "Of 300 wholes whose parts M has right it has 80.00 % [79.0, 81.0] right (CA), of those with a wrong part "
        "40.00 % [39.0, 41.0] (RWR).",
        "It fails most at And (50.00 % [49.0, 51.0]).",
        "M keeps 70.00 % [69.0, 71.0] of the consistency rules that apply to its answers (IC).",
    ]


def test_who_is_always_right_has_neither_a_highest_nor_a_lowest_value() -> None:
    rows = [whole("M", metric, 1.0, 0.0, group=group) for metric in ("CA", "IC") for group in ("Overall", "And", "Xor")]
    assert list(paragraph(front([accuracy("M", 1.0, 0.0)], rows))) == [
        "M answers 100.00 % [100.0, 100.0] of 1,200 questions right.",
        "M composes without fault: all 300 wholes whose parts it has right are right (CA).",
        "M never contradicts itself.",
    ]


def test_a_lead_is_called_one_only_by_the_test() -> None:
    three = [accuracy("C", 0.5), accuracy("A", 0.7), accuracy("B", 0.69)]

    def second(p: dict[str, float], room: float = 0.02) -> list[str]:
        rows = [accuracy(row.model, row.value, room) for row in three]
        return list(paragraph(front(rows, [], p=p)))[1:]

    assert second({"B": 0.5, "C": 0.01}) == ["A is ahead of C; B cannot be told from it."]
    assert second({"B": 0.5, "C": 0.5}, 0.2) == ["These questions cannot tell A, B and C apart."]
    assert second({"B": 0.01, "C": 0.01}) == ["A is ahead of all other models by more than chance explains."]
    assert second({"B": 0.04, "C": 0.5}, 0.2) == ["These questions cannot tell A, B and C apart."]  # 0.08 of two
    assert second({"B": 0.01, "C": 0.5}) == ["A is ahead of B by more than chance explains."]  # C is far, yet untested
    assert second({}) == []  # without resampling nothing was tested


def test_a_model_no_better_than_guessing_is_named() -> None:
    rows = [accuracy("A", 0.7), accuracy("B", 0.31), accuracy("guess", 0.3), accuracy("coin", 0.1)]
    assert list(paragraph(front(rows, [], ("guess", "coin"))))[-1] == (
        "B is not shown to do better than guess, which has 30.00 % [28.0, 32.0]."
    )


def test_of_many_models_the_first_and_the_last_are_told() -> None:
    rows = [msgspec.structs.replace(accuracy(f"M{at}", at / 10), low=None, high=None) for at in range(1, 7)]
    assert list(paragraph(front(rows, []))) == [
        "M6 answers 60.00 % of 1,200 questions right, M1 10.00 % as the last of 6 models."
    ]


def test_without_models_nothing_is_said_and_the_bots_are_shown() -> None:
    bots = front([accuracy("guess", 0.3)], [], ("guess",))
    assert list(paragraph(bots)) == []
    assert [block.name for block in front_blocks(bots)] == ["scoreboard", "forest"]  # type: ignore[union-attr]


def test_the_scoreboard_has_the_best_first_and_bots_below() -> None:
    rows = [accuracy("B", 0.2), accuracy("none", None), accuracy("A", 0.7), accuracy("guess", 0.3)]
    grid = scoreboard(front(rows, [whole("A", "CA", 0.8)], ("guess",)))
    assert [line.heads[0] for line in grid.lines] == ["A", "B", "none", "guess"]
    assert grid.blocks == {0: "Models", 3: "Bots and baselines"}
    assert grid.lines[0].entries == (
        Number(0.7, 1200, 0.7 - 0.02, 0.7 + 0.02),
        None,
        Number(0.8, 300, 0.8 - 0.01, 0.8 + 0.01),
        *[None] * 3,
    )


def test_the_forest_has_a_mark_a_whisker_and_a_number_per_value() -> None:
    rows, dags = [accuracy("A", 0.7), accuracy("guess", 0.3)], [whole("A", "CA", 0.9)]
    drawing = forest_plot(front(rows, dags, ("guess",)))
    assert re.findall(r"<title>([^<]+)</title>", drawing) == [
        "A, Overall: accuracy 70.00 [68.0, 72.0], n 1,200",
        "guess, Overall: accuracy 30.00 [28.0, 32.0], n 1,200",
        "A, Overall: CA 90.00 [89.0, 91.0], n 300",
    ]
    places = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawing)]
    assert places[1] < places[0] < places[2]
    assert "70.00 [68.0, 72.0]</text>" in drawing
    assert forest_plot(front([], [])) == ""
