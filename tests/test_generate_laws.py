"""Every law by which the generator reads answers off the localised relations holds against the operators themselves."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judges.facts import WORDS
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.columns.sets import has
from questree.domains.video import VIDEO
from questree.domains.video.facts import anywhere
from questree.notation.own import parse
from questree.readings.answer import evaluate
from questree.stages.generate.cores import LAWS, PROGRAMS
from questree.stages.generate.localised import VideoChunk, chunk
from questree.stages.generate.word_columns import pair_counts, words
from questree.terms import UNKNOWN, Array, Node, walk
from worlds import generator_worlds as chance
from worlds.small import facts

ANNOTATED, INTERACTING = (WORDS.relation_at[name] for name in (WORDS.annotated, WORDS.interacting))

COUNTED = np.array([not thing.merged for thing in WORDS.objects])  # [object]


@cache
def chunked() -> VideoChunk:
    tables = facts("\n".join([*chance.world(seed=11, videos=150), *chance.RARE_CASES]))
    known = words(WORDS, pair_counts(tables, WORDS), 0)
    return chunk(tables, known, np.arange(len(tables.videos)).astype(np.uint64), 3)


@cache
def columns() -> dict[str, Array]:
    """Every relation of a video in every span, with two different objects, mostly objects of the relation."""
    part, random = chunked(), np.random.default_rng(5)
    loc, spans = part.localised, part.spans
    size = spans.start[loc.video + 1] - spans.start[loc.video]
    at = np.repeat(np.arange(len(loc.video)), 3 * size)
    offset = np.concatenate([np.tile(np.arange(count), 3) for count in size])
    span, row = spans.start[loc.video[at]] + offset, loc.base[at] + offset
    ever = np.asarray(loc.objects)[loc.base[at]]  # in the whole video
    x, y = (np.array([one_of(int(mask), random) for mask in ever]) for _ in range(2))
    found = {
        "video": loc.video[at],
        "relation": loc.relation[at],
        "x": x,
        "y": y,
        "lo": spans.window[span, 0],
        "hi": spans.window[span, 1],
    }
    found |= {name: getattr(loc, name)[row] for name in ("objects", "first", "last", "closing")}
    return {name: column[x != y] for name, column in found.items()}


def one_of(mask: int, random: np.random.Generator) -> int:
    """One of the relation's objects, or any object."""
    own = [at for at in range(len(WORDS.objects)) if mask >> at & 1]
    return int(random.choice(own)) if random.integers(4) else int(random.integers(len(WORDS.objects)))


def rows_for(text: str) -> dict[str, Array]:
    """The rows a law speaks about; of the choices, those that pass their rules."""
    rows = columns()
    relation, x, y = rows["relation"], rows["x"], rows["y"]
    has_x, has_y = has(rows["objects"], x), has(rows["objects"], y)
    speaks = {
        "annotated": relation == ANNOTATED,
        "within(interacting": relation == INTERACTING,
        "choose_first": has_x & has_y & ((rows["first"] == x) | (rows["first"] == y)),
        "choose_last": has_x & has_y & ((rows["last"] == x) | (rows["last"] == y)),
        "choose(": ~(has_x & has_y),
    }
    kept: Array = next((rows_of for head, rows_of in speaks.items() if text.startswith(head)), relation != ANNOTATED)
    if "interacting" not in text:  # slots hold what occurs; only objExists also asks about merged-away classes
        kept = kept & COUNTED[x] & COUNTED[y]
    return {name: column[kept] for name, column in rows.items()}


@pytest.mark.parametrize("text", LAWS)
def test_a_law_gives_what_the_operators_give(text: str) -> None:
    rows, node = rows_for(text), parse(text, VIDEO)
    slots = {"relation": rows["relation"], "object": rows["x"], "first": rows["x"], "second": rows["y"]}
    slots["time"] = np.stack([rows["lo"], rows["hi"]], axis=1)
    outcome = evaluate(node, chunked().world.ask(rows["video"]), slots)
    found, defined = outcome.values, outcome.defined
    by_law: Any = LAWS[text](SimpleNamespace(**rows))
    if node.kind.yes:
        assert np.array_equal(anywhere(by_law), node.kind.yes(found[node]))
        assert set(anywhere(by_law)) == {True, False}
    else:
        wanted = np.where(defined, found[node], found[node].dtype.type(0) if node.kind.name == "objects" else UNKNOWN)
        assert np.array_equal(by_law, wanted)
        assert len(set(wanted.tolist())) > 5
    assert len(rows["x"]) > 50, "too few rows to say anything"


def test_a_first_or_last_choice_is_never_undefined_where_its_law_is_used() -> None:
    for end in ("first", "last"):
        rows = rows_for(f"choose_{end}")
        assert (rows[end] >= 0).all() and len(rows["x"]) > 50


def test_the_generator_asks_no_program_of_objects_without_a_law() -> None:
    """A template about objects in a time is answered by laws alone: every part that looks at the time has one."""
    for template in TEMPLATES:
        if template.times and (template.relations or template.every_object or "annotated" in template.operators):
            assert by_laws(template.node), template.name


def by_laws(node: Node) -> bool:
    """Is the window only looked at inside a law?"""
    if node in PROGRAMS:
        return True
    inner = [arg for arg in node.args if isinstance(arg, Node)]
    direct = [arg for arg in node.args if not isinstance(arg, Node) and arg.kind.name == "window"]
    return not direct and all(by_laws(arg) for arg in inner) and any(term in PROGRAMS for term in walk(node))
