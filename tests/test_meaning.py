"""The operators over columns mean what the judge's sets and loops mean, for random programs over random worlds."""

from collections import Counter
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import operators as judge
from judges.facts import WORDS, Undefined, Video, read
from judges.facts import instances as instances_of
from questree.domains.video import VIDEO, Videos, videos
from questree.domains.video.facts import frames_of
from questree.domains.video.kinds import WINDOW
from questree.domains.video.time import whole
from questree.notation.own import parse, show
from questree.readings.answer import answer, evaluate, spell
from questree.terms import ACTION, UNKNOWN, Array, Node, Op, Slot, Word, fill, slots
from worlds import random_worlds as chance
from worlds.small import facts

ROWS = 60
Row = dict[str, int]
ASKABLE = [op for op in VIDEO.ops.values() if op.result.askable]
sizes = st.sampled_from([300, 200, 100, 3, 1])  # videos of a world


def examples(count: int) -> settings:
    """The same examples every time."""
    return settings(max_examples=count, derandomize=True, deadline=None, database=None)


@cache
def world(size: int, released: bool) -> tuple[list[str], list[Video], Videos]:
    """A world of so many videos: as text, as the judge reads it, and as columns."""
    texts = chance.world(seed=size, videos=size)
    tables = facts("\n".join(texts))
    return texts, read(tables, released), videos(tables, WORDS, released)


def columns(rows: list[Row], node: Node) -> dict[str, Array]:
    return {name: np.array([row[name] for row in rows]) for name in slots(node)}


def plain(node: Node, value: Any) -> Any:
    """A column's value of one row as the judge writes it."""
    kind = node.kind.name
    if kind == "frames":
        return set(frames_of(value))
    if kind == "window":
        return set(range(*value[:2]))
    if kind == "objects":
        return {word.id for at, word in enumerate(WORDS.objects) if int(value) >> at & 1}
    if kind in judge.LISTS:
        return judge.LISTS[kind][value].id
    return node.kind.answers[value] if kind == "order" else bool(value)


def judged(node: Node, video: Video, row: Row) -> Any:
    try:
        return judge.meaning(node, video, row)
    except Undefined:
        return UNKNOWN


def test_the_judge_knows_every_operator_and_no_other() -> None:
    assert judge.MEANINGS.keys() == VIDEO.ops.keys()


def asked(node: Node, size: int, released: bool = False) -> tuple[list[Row], Videos]:
    """Rows for the slots of a program, and the columns of the videos they are about."""
    _, sets, columnar = world(size, released)
    rows = chance.rows(Random(show(node)), node, sets, ROWS)
    return rows, columnar.ask([row["video"] for row in rows])


@pytest.mark.parametrize("name", VIDEO.ops)
def test_columns_mean_what_the_sets_mean(name: str) -> None:
    tally: Counter[str] = Counter()

    @examples(80)
    @given(chance.calls(VIDEO.ops[name]), sizes, st.booleans())
    def agree(node: Node, size: int, released: bool) -> None:
        texts, sets, _ = world(size, released)
        rows, columnar = asked(node, size, released)
        outcome = evaluate(node, columnar, columns(rows, node))
        found, defined = outcome.values, outcome.defined
        for at, row in enumerate(rows):
            got = plain(node, found[node][at]) if defined[at] else UNKNOWN
            want = judged(node, sets[row["video"]], row)
            assert got == want, f"{show(node)} {row}\n{texts[row['video']]}"
            tally[str(want)] += 1

    agree()
    del tally[str(UNKNOWN)]
    assert tally.total() >= 30 and len(tally) >= 2, "too few answers to judge by"


@examples(100)
@given(st.sampled_from(ASKABLE).flatmap(chance.calls), sizes)
def test_answers_are_printed_as_the_judge_prints_them(node: Node, size: int) -> None:
    sets = world(size, False)[1]
    rows, columnar = asked(node, size)
    for at, value in enumerate(answer(node, columnar, columns(rows, node))):
        assert spell(node.kind, int(value), WORDS) == judge.verdict(node, sets[rows[at]["video"]], rows[at])


@examples(100)
@given(st.sampled_from(ASKABLE).flatmap(chance.calls), sizes)
def test_a_batch_is_its_rows(node: Node, size: int) -> None:
    rows, columnar = asked(node, size)
    whole = answer(node, columnar, columns(rows, node))
    alone = [answer(node, columnar.ask(row["video"]), columns([row], node))[0] for row in rows[:12]]
    assert whole[:12].tolist() == alone


@examples(100)
@given(st.sampled_from(ASKABLE).flatmap(chance.calls), sizes)
def test_a_column_in_a_slot_is_its_words_filled_in(node: Node, size: int) -> None:
    rows, columnar = asked(node, size)
    whole = answer(node, columnar, columns(rows, node))
    for at, row in enumerate(rows[:12]):
        filled = fill(node, {name: word(slot, row[name]) for name, slot in slots(node).items()})
        assert isinstance(filled, Node) and not slots(filled)
        assert answer(filled, columnar.ask(row["video"]), {})[0] == whole[at]


def word(slot: Slot, position: int) -> Word:
    return Word(judge.LISTS[slot.kind.name][position].id, slot.kind)


@examples(200)
@given(st.sampled_from(list(VIDEO.ops.values())).flatmap(chance.calls))
def test_what_is_shown_can_be_read(node: Node) -> None:
    assert parse(show(node), VIDEO) == node


TAKES_ACTION = [op for op in VIDEO.ops.values() if ACTION in op.params.values() and op.name != "noun_of"]


@pytest.mark.parametrize("op", TAKES_ACTION, ids=lambda op: op.name)
@pytest.mark.parametrize(("gone", "stands"), [("c146", "c133"), ("c147", "c066")])
def test_an_action_merged_away_means_the_one_it_is_counted_as(op: Op, gone: str, stands: str) -> None:
    _, sets, columnar = world(300, False)
    node = op(*[whole() if kind == WINDOW else Slot(name, kind) for name, kind in op.params.items()])
    rows = chance.rows(Random(gone), node, sets, 600)
    asked = columnar.ask([row["video"] for row in rows])
    for name, kind in op.params.items():
        if kind == ACTION:
            both = [columns([row | {name: WORDS.action_at[action]} for row in rows], node) for action in (gone, stands)]
            first, second = (evaluate(node, asked, filled) for filled in both)
            assert (first.values[node] == second.values[node]).all() and (first.defined == second.defined).all()


def test_the_worlds_show_what_meanings_can_get_wrong() -> None:
    """Thresholds are met exactly, and every case that needs care occurs."""
    videos = world(300, False)[1]
    sizes = {len(video.seconds) for video in videos}
    assert {0, 1, 64, 65, 130} <= sizes
    instances = [(video, instance) for video in videos for instance in video.instances]
    assert any(len(instances_of(video, instance.action)) > 1 for video, instance in instances)
    assert any(instance.frames[0] == 0 and len(instance.frames) == len(video.seconds) for video, instance in instances)
    assert {instance.action for _, instance in instances} == set(chance.DEEDS)
    lengths = {a.length - b.length for video in videos for a in video.instances for b in video.instances}
    assert {7.0, 7.5} <= lengths
    steps = {b - a for video in videos for a in video.seconds for b in video.seconds}
    assert {0.0, 5.0, 5.5, 7.0} <= steps
    without_frames = facts("\n".join(world(300, False)[0])).actions["first"].null_count()
    assert without_frames > 10
