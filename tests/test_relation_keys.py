"""Relation rows as numbers: the same rows come back, in order, and look-ups find what is there."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from questree.columns.keys import BY_FRAME, BY_TRACK, distinct, from_keys, keys, known
from questree.tables.facts import RELATIONS, pack, unpack

Row = tuple[int, int, int, int]
rows = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 70_000, 2**32 - 1]),
        st.sampled_from([0, 1, 63, 64, 65, 200, 2**16 - 1]),
        st.integers(0, 255),
        st.integers(0, 255),
    ),
    max_size=12,
)


def table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, dict(RELATIONS.columns), orient="row")


@given(rows)
def test_rows_come_back_from_their_keys(some: list[Row]) -> None:
    for weights in (BY_FRAME, BY_TRACK):
        assert from_keys(keys(table(some), weights), weights).rows() == some


@given(rows)
def test_distinct_keys_are_the_set_of_rows_in_order(some: list[Row]) -> None:
    assert from_keys(distinct(keys(table(some + some)))).rows() == sorted(set(some))


@given(rows, rows)
def test_known_keys_are_those_among_the_others(some: list[Row], others: list[Row]) -> None:
    found = known(keys(table(some)), distinct(keys(table(others))))
    assert found.tolist() == [row in others for row in some]


@given(rows)
def test_tracks_hold_the_same_rows(some: list[Row]) -> None:
    tracks = pack(table(some))
    assert unpack(tracks).rows() == sorted(set(some))
    assert len(tracks) == len({(video, relation, object) for video, _, relation, object in some})
    assert all(np.asarray(bits)[-1] for bits in tracks["bits"]), "a track ends with its last word"
