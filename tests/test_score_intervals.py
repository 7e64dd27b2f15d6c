"""Intervals, comparisons and the number of videos needed: what resampling may and may not depend on."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questree.formats.decomp_files import hierarchies_of
from questree.metrics.cells import COMBINE, Cell, How, Tallies, evaluate, mean_tally, ratio, ratios, tally
from questree.metrics.comparison import compare, needs
from questree.metrics.dags import score_decomp
from questree.metrics.scores import Resampling, Scored, interval, resampled, weights
from worlds.decomp_files import by_id, load, random_files, table

HIERARCHIES = load("agqa_decomp/hierarchies.json.gz")


def model(name: str) -> Scored:
    return score_decomp(hierarchies_of(HIERARCHIES), table(by_id(load(f"agqa_decomp/preds_{name}.json.gz"))))


def test_a_resample_is_what_scoring_the_drawn_videos_anew_would_give() -> None:
    """The second resample of some videos, scored from copies of their files."""
    files, said = random_files(3)
    more, also = random_files(4)
    videos = {f"A{name}": content for name, content in files.items() if name != "isolated.json"}
    videos |= {f"B{name}": content for name, content in more.items() if name != "isolated.json"}
    names = sorted(videos)
    answers = {f"A{id}": word for id, word in said.items()} | {f"B{id}": word for id, word in also.items()}
    for name, content in videos.items():
        for each in content.values():
            for node in each["subquestion"].values():
                node["key"] = name[0] + node["key"]
    scored = score_decomp(hierarchies_of(videos), table(answers))
    how = Resampling(3, seed=5)
    times = next(weights(len(names), how))[1].astype(int).tolist()
    assert sorted(times) != [1] * len(names)
    drawn = {f"{n}{name}": videos[name] for name, count in zip(names, times, strict=True) for n in range(count)}
    anew = score_decomp(hierarchies_of(drawn), table(answers))
    values = dict(zip([cell.name for cell in anew.cells], anew.values(), strict=True))
    for cell, value in zip(scored.cells, resampled(scored.cells, scored.tallies, how)[1], strict=True):
        right = mean_of_the_same_parts(cell, anew, scored) if "mean" in cell.how else values.get(cell.name, np.nan)
        assert value == pytest.approx(right, abs=1e-9, nan_ok=True), cell.name


def mean_of_the_same_parts(cell: Cell, anew: Scored, scored: Scored) -> float:
    """What was not drawn at all has the ratio it has in the data."""
    found = list[float]()
    for part in cell.parts:
        names = [scored.tallies.columns[at] for at in part]
        sides = [
            (own.tallies, [at for at, name in enumerate(own.tallies.columns) if name in names])
            for own in (anew, scored)
        ]
        sums = [(int(own.passed[:, at].sum()), int(own.total[:, at].sum())) for own, at in sides]
        found += [passed / total for passed, total in sums if total][:1] or [np.nan]
    known = [one for one in found if not np.isnan(one)]
    if cell.how == "mean" and len(known) < len(found):
        return float("nan")
    return sum(known) / len(known) if known else float("nan")


def test_a_resample_depends_on_the_seed_and_its_number_only() -> None:
    few, many = (np.concatenate(list(weights(7, Resampling(n, seed=1)))) for n in (3, 120))
    assert (few == many[:3]).all()
    assert (many.sum(axis=1) == 7).all()
    assert (many != np.concatenate(list(weights(7, Resampling(120, seed=2))))).any()


def test_rows_are_the_same_twice_and_hold_their_value() -> None:
    first, second = (model("noisy").rows("m", Resampling(200, seed=1)) for _ in range(2))
    assert first == second
    held = [row for row in first if row.value is not None and row.by == "composition" and row.group == "Overall"]
    assert len(held) >= 5
    for row in held:
        assert row.low is not None and row.high is not None and row.value is not None
        assert row.low <= row.value <= row.high, row


def test_a_mean_over_answers_is_not_off_to_one_side() -> None:
    """Eight answers, six of them in one video only and always wrong; resamples without these would be too high."""
    video = np.array([*range(30), *range(30), *range(6)])
    answer = np.array([*[0] * 30, *[1] * 30, *range(2, 8)])
    right = np.array([*[True, False] * 15, *[True] * 30, *[False] * 6])
    made = tally(video, answer, right, 30, [(f"answer {at}",) for at in range(8)])
    cells = [Cell("accuracy", "type", "Overall", tuple((at,) for at in range(8)), "mean of defined")]
    (row,) = Scored(made, cells).rows("m", Resampling(500))
    assert row.value == (0.5 + 1) / 8
    draws = resampled(cells, made, Resampling(500))[:, 0]
    assert row.low is not None and row.high is not None
    assert row.low < row.value < row.high and abs(draws.mean() - row.value) < 0.002


@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from(sorted(COMBINE)))
@settings(max_examples=60)
def test_no_interval_excludes_its_value(seed: int, videos: int, how: How) -> None:
    """Few videos, rare columns, anything that is computed from them; also of differences."""
    draw = np.random.default_rng(seed)
    total = draw.integers(0, 4, (videos, 6)) * (draw.random((videos, 6)) < 0.6)
    models = [
        Tallies([(at,) for at in range(6)], draw.binomial(total, chance).astype(np.int32), total.astype(np.int32))
        for chance in (0.3, 0.8)
    ]
    size, _ = COMBINE[how]
    parts = tuple((int(at),) for at in draw.integers(0, 6, size * (3 if how.startswith("mean") else 1)))
    a, b = (Scored(own, [Cell("m", "all", "Overall", parts, how)]) for own in models)
    found = [(row.value, row.low, row.high) for row in a.rows("m", Resampling(7, seed))]
    found += [(row.difference, row.low, row.high) for row in compare(a, b, Resampling(7, seed))]
    for value, low, high in found:
        if value is not None and low is not None and high is not None:
            assert low <= value <= high, (how, parts)


def test_one_video_has_no_interval() -> None:
    files = {"A.json": HIERARCHIES["71YK1.json"]}
    said = by_id(load("agqa_decomp/preds_noisy.json.gz"))
    for row in score_decomp(hierarchies_of(files), table(said)).rows("m", Resampling(50)):
        assert row.low is None and row.high is None


def test_videos_that_agree_leave_no_doubt_and_videos_that_differ_do() -> None:
    """Ten videos of one right answer in two; ten of which half are right throughout."""
    alike = Tallies([("a",)], np.full((10, 1), 1, np.int32), np.full((10, 1), 2, np.int32))
    apart = Tallies([("a",)], np.array([[0], [2]] * 5, np.int32), np.full((10, 1), 2, np.int32))
    cells = [Cell("a", "all", "Overall", ((0,),))]
    low, high = interval(np.array([0.5]), resampled(cells, alike, Resampling(400)))
    assert (low[0], high[0]) == (0.5, 0.5)
    low, high = interval(np.array([0.5]), resampled(cells, apart, Resampling(400)))
    assert low[0] == pytest.approx(0.2, abs=0.11) and high[0] == pytest.approx(0.8, abs=0.11)


def test_quantiles_are_taken_over_defined_resamples() -> None:
    values = np.array([[0.0, np.nan], [np.nan, np.nan], [1.0, np.nan], [0.5, np.nan]])
    low, high = interval(np.array([0.5, 0.5]), values, 0.5)
    assert (low[0], high[0]) == (0.25, 0.75)
    assert np.isnan(low[1]) and np.isnan(high[1])


def test_a_model_does_not_differ_from_itself() -> None:
    for row in compare(model("noisy"), model("noisy"), Resampling(50)):
        assert row.difference in (0, None)
        assert row.p is None and row.weak == (row.difference == 0)  # no resample tells them apart


def test_a_worse_model_is_worse_cell_by_cell() -> None:
    rows = {(r.metric, r.by, r.group): r for r in compare(model("perfect"), model("random"), Resampling(500))}
    row = rows["accuracy", "type", "Overall"]
    assert row.a == 1 and row.b is not None and row.difference == pytest.approx(row.b - 1)
    assert row.high is not None and row.high < 0
    assert row.p == pytest.approx(1 / 501)
    assert (row.n_a, row.n_b) == (1347, 1347) and not row.weak
    assert rows["RWR", "type", "Overall"].difference is None  # a perfect model has no wrong reasons
    assert rows["RWR", "type", "Overall"].p is None


def test_four_times_the_videos_halve_the_interval() -> None:
    video = np.arange(40)
    made = tally(video, np.zeros(40, np.int64), video % 2 == 0, 40, [("a",)])
    scored = Scored(made, [Cell("a", "all", "Overall", ((0,),))])
    (now,) = needs(scored, 0.1, Resampling(500))
    assert now.half_width is not None
    (half,) = needs(scored, now.half_width / 2, Resampling(500))
    assert half.videos == pytest.approx(160, abs=1)
    assert now.half_width == pytest.approx(1.96 * (0.25 / 40) ** 0.5, rel=0.1)


@pytest.mark.parametrize(
    ("how", "parts", "value"),
    [
        ("ratio", ((0, 1),), 3 / 6),
        ("rest", ((0,),), 3 / 4),
        ("odds", ((1,),), np.nan),
        ("odds", ((0,),), 1 / 3),
        ("odds drop", ((2,), (0,)), 1 - (1 / 3) / 1),
        ("mean", ((0,), (1,)), (1 / 4 + 1) / 2),
        ("mean", ((0,), (3,)), np.nan),
        ("mean of defined", ((0,), (3,)), 1 / 4),
        ("difference", ((0,), (1,)), 1 - 1 / 4),
        ("difference", ((0,), (3,)), np.nan),
        ("score", ((2,), (0,), (1,)), (1 / 2 - 1 / 4) / (1 - 1 / 4)),
        ("score", ((2,), (1,), (1,)), np.nan),
        ("ratio", ((),), np.nan),
    ],
)
def test_a_cell_is_made_of_ratios(how: Any, parts: Any, value: float) -> None:
    passed, total = np.array([1.0, 2.0, 5.0, 0.0]), np.array([4.0, 2.0, 10.0, 0.0])
    found = evaluate([Cell("m", "all", "Overall", parts, how)], passed, total)
    assert found == pytest.approx([value], nan_ok=True)


def test_means_leave_out_what_is_not_a_number() -> None:
    made = mean_tally(np.array([0, 0, 1]), np.array([1.0, np.nan, 4.0]), 2, ("x",))
    assert made.passed.tolist() == [[1.0], [4.0]]
    assert made.total.tolist() == [[1], [1]]


def test_ratios_are_computed_together_as_one_by_one() -> None:
    """Pooled whole numbers, numbers that are none, columns that nobody counted."""
    draw = np.random.default_rng(2)
    passed, total = draw.integers(0, 5, (7, 12)).astype(float), draw.integers(0, 9, (7, 12)).astype(float)
    passed[:, 3:5] += 0.1
    parts = [(), (0,), (3,), (3, 4), (1, 2, 5), (2, 2), tuple(range(12))]
    for above, below in ((passed, total), (passed[0], total[0])):
        found = ratios(above, below, parts)
        assert all(np.array_equal(found[part], ratio(above, below, part), equal_nan=True) for part in parts)
