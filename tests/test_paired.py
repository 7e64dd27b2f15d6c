"""Stars mean something: p against judges that count, no test of too little, few stars without a difference."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from judges.naive_pairs import Video, signed, swapped
from questree.metrics.best import differing, marks
from questree.metrics.cells import COMBINE, Cell, How, Tallies, evaluate
from questree.metrics.comparison import ModelDifference, compare, ranked
from questree.metrics.paired import EXACT, benjamini_hochberg, contributions
from questree.metrics.scores import Resampling, Score, Scored

Draw = np.random.Generator
Counted = NDArray[np.int64]


def model(passed: Counted, total: Counted, cells: list[Cell]) -> Scored:
    columns = [("column", at) for at in range(total.shape[1])]
    return Scored(Tallies(list(columns), passed.astype(np.int32), total.astype(np.int32)), cells)


def ratios(count: int) -> list[Cell]:
    return [Cell("CA", "type", str(at), ((at,),)) for at in range(count)]


def one(videos: list[Video], fewest: int = 1) -> ModelDifference:
    table = np.array(videos)
    a, b = (model(table[:, [at]], table[:, [at + 1]], ratios(1)) for at in (0, 2))
    (row,) = compare(a, b, Resampling(40), fewest)
    return row


@pytest.mark.parametrize("seed", range(30))
def test_p_is_what_swapping_the_models_in_every_way_gives(seed: int) -> None:
    """Asked the same, a model is right on a video or not: every way to swap them, counted with fractions."""
    draw = np.random.default_rng(seed)
    asked = draw.integers(0, 4, int(draw.integers(4, 10)))
    videos = [(int(draw.binomial(n, 0.4)), int(n), int(draw.binomial(n, 0.7)), int(n)) for n in asked]
    row = one(videos)
    if row.p is None:
        assert row.difference is None or (row.weak and row.low == row.high)
    else:
        assert row.p == swapped(videos) == signed(videos)


@pytest.mark.parametrize("seed", range(30))
def test_p_of_ratios_that_count_differently_is_what_their_videos_add(seed: int) -> None:
    draw = np.random.default_rng(seed)
    videos: list[Video] = []
    for _ in range(int(draw.integers(4, 11))):
        a, b = draw.integers(0, 5, 2)
        videos.append((int(draw.binomial(a, 0.4)), int(a), int(draw.binomial(b, 0.7)), int(b)))
    row = one(videos)
    assert row.p is None or row.p == signed(videos)
    assert row.p is not None or row.difference is None or row.weak


@pytest.mark.parametrize("how", sorted(COMBINE))
def test_what_videos_add_is_the_difference_or_its_slope(how: How) -> None:
    """Of ratios, means and differences of these it adds up; of all, a little more of a video moves the value by it."""
    draw, size = np.random.default_rng(7), COMBINE[how][0]
    total = draw.integers(5, 9, (200, 2 * size if how.startswith("mean") else size))
    if how == "correlation":
        x, y = draw.random((2, *total.shape))[:, :, 0]
        made = [np.stack([x, one, x * x, one * one, x * one], axis=1) * total for one in (y, (x + y) / 2)]
        tables = [Tallies([(at,) for at in range(5)], own, total.astype(np.int32)) for own in made]
    else:
        shares = np.linspace(0.3, 0.7, total.shape[1])
        made = [draw.binomial(total, np.clip(shares + more, 0, 1)) for more in (0.0, 0.02)]
        tables = [Tallies([(at,) for at in range(total.shape[1])], own, total.astype(np.int32)) for own in made]
    cell = Cell("m", "all", "Overall", tuple((at,) for at in range(total.shape[1])), how)
    null, free = contributions((cell, tables[0]), (cell, tables[1]))
    values = [evaluate([cell], *own.summed())[0] for own in tables]
    if how in ("ratio", "rest", "mean", "mean of defined", "difference"):
        assert null.sum() == pytest.approx(values[1] - values[0], abs=1e-9)
    else:
        assert null.sum() == pytest.approx(values[1] - values[0], rel=0.2)
    assert free.sum() == pytest.approx(0, abs=1e-9)
    moved = [
        evaluate([cell], own.passed.sum(axis=0) + own.passed[3] / 100, own.total.sum(axis=0) + own.total[3] / 100)[0]
        for own in tables
    ]
    assert moved[1] - moved[0] - (values[1] - values[0]) == pytest.approx(free[3] / 100, rel=0.01, abs=1e-9)


def test_few_items_on_either_side_are_not_tested() -> None:
    videos: list[Video] = [(0, 1, 1, 1)] * 9 + [(0, 0, 1, 2)]
    row = one(videos, 10)
    assert (row.n_a, row.n_b, row.p, row.q, row.weak) == (9, 11, None, None, True)
    assert one(videos, 9).p is not None
    assert one([(c, d, a, b) for a, b, c, d in videos], 10).p is None
    assert one([(0, 1, 2, 2)], 1).weak, "two against one"


def test_what_all_resamples_share_is_not_tested() -> None:
    assert one([(0, 2, 2, 2)] * 40).weak
    assert one([(1, 2, 1, 2)] * 40).weak
    row = one([(0, 2, 2, 2)] * 39 + [(0, 2, 1, 2)])
    assert row.p == pytest.approx(1 / 41) and not row.weak


def test_a_difference_of_shares_rests_on_the_smaller_one() -> None:
    """And a mean on all that it is a mean of."""
    total = np.array([[30, 4]] * 2)
    passed = np.array([[20, 1], [12, 3]])
    cells = [
        Cell("Delta", "type", "a", ((0,), (1,)), "difference", False),
        Cell("IC", "type", "a", ((0,), (1,)), "mean"),
    ]
    delta, mean = compare(model(passed, total, cells), model(passed[::-1], total + 1, cells), Resampling(20))
    assert (delta.n_a, delta.n_b, delta.weak) == (8, 10, True)
    assert (mean.n_a, mean.n_b, mean.weak) == (68, 72, False)


def test_q_is_over_the_rows_that_are_shown() -> None:
    rows = [ModelDifference("CA", "type", str(at), 0, 1, 1, 0, 1, p) for at, p in enumerate((0.01, None, 0.04, 0.03))]
    assert [row.q for row in ranked(rows)] == [pytest.approx(0.03), None, pytest.approx(0.04), pytest.approx(0.04)]
    assert [row.q for row in ranked(rows[2:3])] == [0.04]
    p = np.array([0.01, np.nan, 0.04, 0.03, 0.5])
    assert benjamini_hochberg(p) == pytest.approx([0.04, np.nan, 0.16 / 3, 0.16 / 3, 0.5], nan_ok=True)


def alike(draw: Draw, videos: int) -> tuple[Scored, Scored]:
    """Two models with the same chance to be right in every video; CA counts what each knows, which differs."""
    hard, size = draw.beta(2, 1, (videos, 1)), draw.gamma(1.0, 2.0, (videos, 1))
    asked = draw.poisson(size * np.array([3.0, 1.0, 0.5, 2.0]))
    return alike_but_for(draw, hard, asked, 0.8, 0.8)


def unlike_in_what_they_know(draw: Draw, videos: int) -> tuple[Scored, Scored]:
    """One knows the parts of many more questions, both put parts together alike: CA has no difference."""
    hard, size = draw.beta(8, 4, (videos, 1)), draw.gamma(1.0, 3.0, (videos, 1))
    return alike_but_for(draw, hard, draw.poisson(size * np.array([3.0, 2.0, 2.0, 2.0])), 0.9, 0.4)


def alike_but_for(draw: Draw, hard: NDArray[np.float64], asked: Counted, *known: float) -> tuple[Scored, Scored]:
    cells = [*ratios(4), Cell("CA", "type", "Overall", ((0, 1, 2, 3),))]
    cells += [Cell("Delta", "type", "0", ((0,), (1,)), "difference", False)]
    cells += [Cell("IC", "type", "0", ((0,), (2,), (3,)), "mean", False)]
    totals = [draw.binomial(asked, share) for share in known]
    a, b = (model(draw.binomial(total, hard), total, cells) for total in totals)
    return a, b


@pytest.mark.parametrize("videos", [4, 8, 13, 30, 120])
@pytest.mark.parametrize("drawn", [alike, unlike_in_what_they_know])
def test_models_without_a_difference_have_stars_in_one_of_twenty_cells_at_most(
    drawn: Callable[[Draw, int], tuple[Scored, Scored]], videos: int
) -> None:
    """And a table has one in one of twenty, within what 200 tables tell."""
    draw, starred, tested, tables = np.random.default_rng(videos), 0, 0, 200
    some, low = 0, 0
    for seed in range(tables):
        rows = ranked(compare(*drawn(draw, videos), Resampling(200, seed)))
        found = [row for row in rows if row.p is not None and row.q is not None]
        stars = sum((row.q or 0) <= 0.05 for row in found)
        starred, tested, some = starred + stars, tested + len(found), some + (stars > 0)
        low += sum((row.p or 0) <= 0.05 for row in found)
    assert tested > tables and starred <= 0.05 * tested
    assert some <= 0.05 * tables + 2 * np.sqrt(0.05 * 0.95 * tables)
    assert low <= 0.06 * tested


def test_models_that_differ_have_stars_even_on_few_videos() -> None:
    draw = np.random.default_rng(1)
    total = np.full((EXACT, 1), 20)
    a, b = (model(draw.binomial(total, share), total, ratios(1)) for share in (0.5, 0.8))
    (row,) = ranked(compare(a, b, Resampling(50)))
    assert row.q is not None and row.q < 0.01 and row.q == row.p
    assert row.p is not None and row.p * 2**EXACT == int(row.p * 2**EXACT), "every pattern is counted"


@pytest.mark.parametrize("models", [3, 8])
def test_of_models_without_a_difference_the_best_is_ahead_in_one_of_twenty_tables_at_most(models: int) -> None:
    """The best is chosen among them: of 8, p alone would say so in more tables."""
    draw, tables, starred, alone = np.random.default_rng(models), 200, 0, 0
    for seed in range(tables):
        hard, asked = draw.beta(3, 2, (30, 1)), draw.poisson(5, (30, 1))
        cells = [Cell("accuracy", "type", "Overall", ((0,),))]
        drawn = {str(at): model(draw.binomial(asked, hard), asked, cells) for at in range(models)}
        rows = [Score(*cells[0].name, own.values()[0], 150, None, None, name) for name, own in drawn.items()]
        p = marks(rows, drawn, Resampling(600, seed)).p
        starred += bool(differing(p))
        alone += bool(differing({key: one * 2 / models for key, one in p.items()}))
    assert starred <= 0.05 * tables + 2 * np.sqrt(0.05 * 0.95 * tables)
    assert alone > starred
