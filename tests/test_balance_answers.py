"""First round by counts: the same stopping conditions as deleting one question at a time."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questree.stages.balance.levelling import (
    Smoothing,
    answers_kept,
    even,
    lower,
    one_pass,
    remaining,
    smooth,
    smoothed,
    tail,
)

PAPER = Smoothing()
steady = settings(deadline=None, max_examples=60)  # no test is timed
effects = st.lists(st.integers(0, 12), min_size=4, max_size=4)
answers = st.lists(st.integers(1, 3000), min_size=3, max_size=40).map(lambda c: np.array(sorted(c, reverse=True)))
ratios = st.sampled_from([3.0, 2.25, 1.6875, 1.265625])


@pytest.mark.parametrize(
    ("counts", "k", "left"),
    [
        ((5, 2, 0, 0), 9, (0, 0, 0, 0)),  # more than there are
        ((5, 2, 9, 9), 2, (3, 2, 9, 9)),  # same and different are levelled first
        ((5, 2, 9, 9), 5, (2, 2, 7, 9)),  # then no_direct comes down to them
        ((6, 6, 2, 9), 5, (3, 4, 2, 9)),  # or they to it, by halves
        ((3, 3, 3, 9), 4, (3, 3, 3, 5)),  # then no_temporal
        ((5, 5, 5, 0), 7, (2, 3, 3, 0)),  # or the three, by thirds
        ((4, 4, 4, 4), 8, (2, 2, 2, 2)),  # then a quarter each
        ((4, 4, 4, 4), 10, (2, 2, 2, 0)),  # what is left over first from no_temporal
        ((4, 4, 4, 4), 11, (1, 2, 2, 0)),  # then from the pair
    ],
)
def test_deletions_level_the_temporal_effects(counts: tuple[int, ...], k: int, left: tuple[int, ...]) -> None:
    assert remaining(counts, k) == left


@steady
@given(effects, st.integers(0, 48))
def test_levelling_deletes_exactly_k_and_never_more_than_there_are(counts: list[int], k: int) -> None:
    left = remaining(counts, k)
    assert sum(left) == max(0, sum(counts) - k)
    assert all(0 <= after <= before for after, before in zip(left, counts, strict=True))


@steady
@given(effects, st.integers(0, 48))
def test_levelling_by_counts_is_levelling_one_at_a_time(counts: list[int], k: int) -> None:
    k = min(k, sum(counts) - 4 * min(counts))  # until all four are equal
    assert list(remaining(counts, k)) == one_at_a_time(counts, k) or k >= sum(counts)


def one_at_a_time(counts: list[int], k: int) -> list[int]:
    """Delete from the larger of same and different; when equal from these or no_direct; when equal from no_temporal."""
    now = list(counts)
    for _ in range(k):
        same, different, no_direct, no_temporal = now
        if same != different:
            at = 0 if same > different else 1
        elif no_direct != same:
            at = 2 if no_direct > same else 0
        else:
            at = 3 if no_temporal > same else 0
        now[at] -= 1
    return now


@steady
@given(answers, ratios)
def test_a_pass_deletes_as_many_as_one_deletion_at_a_time(counts: np.ndarray, ratio: float) -> None:
    """Which answers lose them is drawn at random there; how many go at each cut is not."""
    rng = np.random.default_rng(0)
    few = np.minimum(counts, 100)
    assert one_pass(few, ratio, 1).sum() == randomly(few, ratio, 1, rng).sum()


def randomly(counts: np.ndarray, ratio: float, few: int, rng: np.random.Generator) -> np.ndarray:
    """One question at a time, from a head answer that is strictly above the next one, large ones more often."""
    now = counts.copy()
    for cut in range(1, len(now)):
        if now[cut - 1] < few:
            break
        rest = now[cut:].sum() / (len(now) - cut)
        while now[:cut].sum() / cut / rest > ratio:
            may = np.flatnonzero(now[:cut] > now[1 : cut + 1])
            if not len(may):
                break
            now[rng.choice(may, p=now[may] / now[may].sum())] -= 1
    return now


@steady
@given(answers)
def test_smoothing_stops_where_the_rules_say(counts: np.ndarray) -> None:
    after = smoothed(counts, PAPER)
    assert (after <= counts).all() and (np.diff(after) <= 0).all()  # the order is never inverted
    left = tail(counts, PAPER.tail)
    head = len(counts) - left if len(counts) - left > 2 else len(counts)
    assert (after[head:] == counts[head:]).all()  # the tail is untouched
    assert after[:head].sum() >= PAPER.least * counts[:head].sum()  # at most 90 % are deleted
    states, ratio = [counts[:head]], PAPER.ratio
    while ratio >= 1 and not (len(states) > 1 and even(states[-1], PAPER)):
        states, ratio = [*states, one_pass(states[-1], ratio, PAPER.few)], ratio * PAPER.factor
    enough = [state for state in states if state.sum() >= PAPER.least * counts[:head].sum()]
    assert after[:head].tolist() == enough[-1].tolist()  # 30 % reached, or no ratio left, or too little would stay


@steady
@given(answers, ratios)
def test_after_a_pass_every_cut_has_its_ratio_or_a_flat_head(counts: np.ndarray, ratio: float) -> None:
    now = counts.copy()
    for cut in range(1, len(now)):
        rest = int(now[cut:].sum())
        most = math.floor(ratio * cut * rest / (len(now) - cut))
        now[:cut] = lower(now[:cut], most, int(now[cut])) if now[:cut].sum() > most else now[:cut]
        mean = now[:cut].sum() / cut
        assert mean <= ratio * rest / (len(now) - cut) or (now[:cut] == now[cut]).all()
    assert (now == one_pass(counts, ratio, 0)).all()


def test_one_answer_goes_and_two_are_made_equal() -> None:
    assert answers_kept(np.array([7]), PAPER).tolist() == [0]
    assert answers_kept(np.array([3, 9]), PAPER).tolist() == [3, 3]
    assert answers_kept(np.array([3, 97]), PAPER).tolist() == [3, 3]  # the rarer one is within the tail, but needed


def test_a_bed_is_no_longer_the_safe_guess() -> None:
    """Of what is lain on 64 % are beds; a third at most are left (the paper's example)."""
    counts = np.array([640, 160, 90, 60, 30, 20])
    after = answers_kept(counts, PAPER)
    assert after.tolist() == [79, 78, 70, 60, 30, 20]
    assert counts[0] / counts.sum() == 0.64 and after[0] / after.sum() < 0.34


def test_the_tail_holds_at_most_its_share() -> None:
    assert tail(np.array([50, 45, 3, 2]), 0.05) == 2
    assert tail(np.array([50, 44, 3, 3]), 0.05) == 1


def test_smoothing_that_would_delete_too_much_is_not_done() -> None:
    counts = np.array([10000, 100, 60, 30])
    assert smooth(counts, PAPER).tolist() == counts.tolist()
    assert smooth(counts, Smoothing(least=0.0)).tolist() == [39, 39, 35, 30]


def test_rounding_never_inverts_an_order() -> None:
    assert lower(np.array([10, 9, 8, 2]), 14, 2).tolist() == [4, 4, 4, 2]
    assert lower(np.array([10, 9, 8, 2]), 3, 2).tolist() == [2, 2, 2, 2]
