"""Agreement of people: as published examples have it, as loops compute it, and with intervals from draws of people."""

import math
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges import raters as judge
from questree.metrics.raters import Ratings, agreement, majority, rows
from questree.metrics.scores import Resampling, find


def table(rated: judge.Rated) -> pl.DataFrame:
    found = [(unit, rater, value) for unit, said in rated.items() for rater, value in said.items()]
    return pl.DataFrame(found, schema=dict.fromkeys(("unit", "rater", "value"), pl.String), orient="row")


def measured(rated: judge.Rated) -> list[float]:
    found: list[float] = agreement(Ratings.of(table(rated)))[0].tolist()
    return found


def by_rater(lines: Sequence[str]) -> judge.Rated:
    """A line per rater, a letter per unit, a dot for none."""
    return {
        str(unit): {str(rater): line[unit] for rater, line in enumerate(lines) if line[unit] != "."}
        for unit in range(len(lines[0]))
    }


def test_alpha_of_krippendorffs_own_example() -> None:
    """Computing Krippendorff's Alpha-Reliability, 2011, part C: four observers, twelve units, values missing."""
    rated = by_rater(["123321412...", "1233224125.3", ".3332342251.", "12332441251."])
    assert measured(rated)[1] == pytest.approx(0.743, abs=0.0005)


def test_kappa_of_fleiss_counts() -> None:
    counts = [
        *((0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1), (7, 7, 0, 0, 0)),
        *((3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)),
    ]
    said = ["".join(str(value) * n for value, n in enumerate(row)) for row in counts]
    rated = {str(unit): {str(rater): value for rater, value in enumerate(values)} for unit, values in enumerate(said)}
    assert measured(rated)[0] == pytest.approx(0.378, abs=0.0005)
    assert measured(rated)[2] == pytest.approx(0.210, abs=0.0005)


UNITS = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.dictionaries(st.sampled_from("1234"), st.sampled_from("xyz"), min_size=1),
    min_size=1,
)
WHOLE = st.dictionaries(
    st.sampled_from("abcdefgh"), st.fixed_dictionaries({rater: st.sampled_from("xyz") for rater in "123"}), min_size=1
)


def same(found: float, wanted: float | None) -> bool:
    return math.isnan(found) if wanted is None else found == pytest.approx(wanted)


@given(UNITS)
def test_agreement_and_alpha_are_what_loops_compute(rated: judge.Rated) -> None:
    found = measured(rated)
    assert same(found[0], judge.agreement(rated))
    assert same(found[1], judge.alpha(rated))


@given(WHOLE)
def test_kappa_is_what_loops_compute(rated: judge.Rated) -> None:
    assert same(measured(rated)[2], judge.kappa(rated))


def test_intervals_come_from_draws_of_people() -> None:
    rated = by_rater(["xyxyxyxyxx", "xyxyxyxyxy", "xyxxxyxyyy", "yxxyxyxyxx"])
    found = rows(table(rated), Resampling(200, 1), "task")
    alpha = find(found, "alpha", "raters", "Overall")
    assert alpha.value == pytest.approx(judge.alpha(rated))
    assert alpha.n == 10
    assert alpha.low is not None
    assert alpha.high is not None
    assert -1 <= alpha.low < alpha.high <= 1
    assert rows(table(rated), Resampling(200, 1), "task") == found
    assert find(found, "unanimous", "raters", "Overall").value == 0.5
    assert find(found, "majority", "raters", "Overall").value == 0.9  # the last but one is two against two


def test_one_person_alone_agrees_with_nobody() -> None:
    found = rows(table({"a": {"1": "x"}}), Resampling(10), "task")
    assert [row.value for row in found] == [None, None, None, 1.0, 1.0]


def test_the_majority_is_more_than_half() -> None:
    rated = {
        "a": dict(zip("123", "xxy", strict=True)),
        "b": dict(zip("123", "xyz", strict=True)),
        "c": {"1": "x", "2": "y"},
    }
    assert majority(table(rated)).rows() == [("a", "x", 2, 3), ("b", None, 1, 3), ("c", None, 1, 2)]
