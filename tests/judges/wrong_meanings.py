"""The faults a test of consistency must notice (13.11), each to be switched on alone."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import msgspec
import numpy as np
import polars as pl

from judges import contradictions
from questree.columns.sets import the_one
from questree.domains.video import Videos, actions, atoms, objects, time
from questree.domains.video.facts import ANY, first_frame, last_frame
from questree.readings.parts import parts
from questree.stages.decompose import columns
from questree.stages.generate import cores, references
from questree.stages.generate.cores import Core
from questree.stages.generate.references import References
from questree.stages.generate.word_columns import WordColumns
from questree.tables.facts import ACTIONS, Facts, pack
from questree.terms import UNKNOWN, Array, Node, Term
from questree.vocabulary import Vocabulary, default

WORDS = default()
TURNS = count()
EXISTS, INTERACTING, WITHIN, NAMED = atoms.exists.run, atoms.interacting.run, time.within.parts, references.indirect


@dataclass(frozen=True)
class Wrong:
    shown_by: str  # the templates whose questions show it
    on: Callable[[], AbstractContextManager[None]] = nullcontext  # the fault is on inside this
    facts: Callable[[Facts], Facts] = lambda facts: facts
    relabel: bool = True
    words: Vocabulary = WORDS  # questions are worded with them


def put(*changes: tuple[object, str, Any]) -> Callable[[], AbstractContextManager[None]]:
    """Other values for attributes of operators or modules, for a while."""

    @contextmanager
    def on() -> Iterator[None]:
        old = [(place, name, getattr(place, name)) for place, name, _ in changes]
        try:
            for place, name, value in changes:
                change(place, name, value)
            yield
        finally:
            for place, name, value in old:
                change(place, name, value)

    return on


def change(place: object, name: str, value: Any) -> None:
    """Operators are frozen."""
    (type if isinstance(place, type) else object).__setattr__(place, name, value)


def contacts_only(world: Videos, object: Array) -> Array:
    person = object == WORDS.object_at["person"]
    touched = world.track(WORDS.relation_at["interacting with"], WORDS.merged_object[object])
    return np.where(person[:, None], EXISTS(world, object), touched)


def strict_order(world: Videos, a: Array, b: Array) -> Array:
    """Only frames strictly before count, although the window of `before` has one more."""
    early, _, late = time.sides(world, b)
    frames, noun = world.doing(a), WORDS.done_to[a]
    pair = np.where(noun[:, None] >= 0, world.track(WORDS.verb_of[a], np.maximum(noun, 0)), 0)  # [row, word]
    once = (world.action(a, "count") == 1) & (world.action(b, "count") == 1)
    before = ~(frames & ~early).any(1) & ~(pair & late).any(1)
    after = ~(frames & ~late).any(1) & ~(pair & early).any(1)
    return np.where(once & (before != after), after, UNKNOWN)


def interacting_or_other(world: Videos, object: Array) -> Array:
    return np.asarray(INTERACTING(world, object) | world.track(WORDS.relation_at["other relationship"], object))


def order_without_other(world: Videos, object: Array, action: Array) -> Array:
    return time.side_of(world, INTERACTING(world, object), action)


def verb_of_any_action(vocabulary: Vocabulary, action: Term) -> list[tuple[str, Node]]:
    alone = atoms.alone(vocabulary, action)
    return [("Interaction", atoms.doing(atoms.verb_of(action)))] if alone else atoms.action_parts(vocabulary, action)


def the_only_one(world: Videos, object: Array, objects: Array) -> Array:
    one = (objects & (objects - np.uint64(1))) == 0
    return np.asarray(one & (objects == np.uint64(1) << WORDS.merged_object[object].astype(np.uint64)))


def any_choice(node: Node, world: Videos, rows: Any) -> Array:
    """What came first is what the first frame shows, whether or not the relation ever stops."""
    return np.ones(len(world), bool)


def by_end_frame(local: Any, seek: Callable[..., Array]) -> Array:
    """The only object of the first (or last) frame of the window that has the relation."""
    relation, window = local.args.relation[local.row], local.chunk.spans.window[local.span]
    world = local.chunk.world.ask(local.args.video[local.row])
    at = seek(objects.support(world, relation), window[:, 0], window[:, 1], True)
    return the_one(objects.objects_between(world, relation, at, np.where(at < 0, at, at + 1)))


def by_first_frame(core: Core) -> Array:
    return by_end_frame(core, first_frame if core.template.group == "first" else last_frame)


def laws_by_first_frame() -> dict[Term, Callable[[Any], Array]]:
    ends = {"choose_first": first_frame, "choose_last": last_frame}
    return cores.PROGRAMS | {
        term: partial(by_end_frame, seek=ends[term.op.name])
        for term in cores.PROGRAMS
        if isinstance(term, Node) and term.op.name in ends
    }


def own_class(world: Videos, object: Array) -> Array:
    return world.track(ANY, object)


def either_action(world: Videos, verb: Array, object: Array) -> Array:
    """Of two actions that fit the phrase, now the one and now the other."""
    row, instance = world.pairs()
    action = world.instances["action"][instance]
    fits = (WORDS.verb_of[action] == verb[row]) & (WORDS.done_to[action] == WORDS.merged_object[object][row])
    found = np.full((2, len(world)), UNKNOWN)
    for at, deed in zip(row[fits], action[fits], strict=True):
        found[0, at] = deed
        found[1, at] = deed if found[1, at] == UNKNOWN else found[1, at]
    return np.asarray(found[next(TURNS) % 2])


def named_twice(video: Array, action: Array, words: WordColumns, references: References) -> tuple[Array, ...]:
    """An action is named by verb and object although another one fits as well."""
    pairs = (video * 256 + WORDS.verb_of[action]) * 256 + WORDS.done_to[action]
    first = np.isin(np.arange(len(pairs)), np.unique(pairs, return_index=True)[1])
    rounds = [NAMED(video[rows], action[rows], words, references) for rows in (first, ~first)]
    return tuple(map(np.concatenate, zip(*rounds, strict=True)))


def pair_open_parts(vocabulary: Vocabulary, event: Node, window: Term) -> list[tuple[str, Node]]:
    assert WITHIN is not None
    opened = [edge.part for edge in parts(event, vocabulary) if edge.part.op in (objects.first, objects.last)]
    again = [("Interaction", part.op(part.args[0], window)) for part in opened]
    return WITHIN(vocabulary, event, window) + again


def plain_words() -> Vocabulary:
    relations = tuple(msgspec.structs.replace(word, something="something") for word in WORDS.relations)
    return msgspec.structs.replace(WORDS, relations=relations)


def with_empty_instances(facts: Facts) -> Facts:
    """Every video gets an action that has no frame: it would lie between its first two."""
    deed = WORDS.action_at["c070"]
    rows = [(video, deed, 1, 0.1, 0.2, 1, 0) for video in range(len(facts.videos))]
    more = ACTIONS.frame(pl.DataFrame(rows, schema=list(ACTIONS.columns), orient="row"))
    return replace(facts, actions=pl.concat([facts.actions, more]).sort("video", "start", maintain_order=True))


def without_hair(facts: Facts) -> Facts:
    return replace(facts, tracks=pack(facts.relations.filter(pl.col("object") != WORDS.object_at["hair"])))


FAULTS: dict[str, Wrong] = {
    "exists counts contacts only": Wrong("objWhatChoose objFirstVerify", put((atoms.exists, "run", contacts_only))),
    "Between is never relabelled": Wrong("objExists relExists", relabel=False),
    "actTime is strict": Wrong("actTime objRelExists", put((time.action_order, "run", strict_order))),
    "other relationship counts in objExists only": Wrong(
        "objExists objTime",
        put((atoms.interacting, "run", interacting_or_other), (time.object_order, "run", order_without_other)),
    ),
    "a verb is asked of an action without object": Wrong(
        "relExists actTime", put((atoms.happening, "parts", verb_of_any_action))
    ),
    "equals over objects is uniqueness": Wrong("objWhatChoose", put((objects.among, "run", the_only_one))),
    "a choice goes by the first frame": Wrong(
        "objFirstChoose objLastChoose", put((contradictions, "allowed", any_choice))
    ),
    "a merged noun is looked up by its own id": Wrong("relExists actTime", put((atoms.exists, "run", own_class))),
    "laughing reads the same with and without object": Wrong(
        "relExists actTime", put((contradictions, "WORDS", plain_words()))
    ),
    "an indirect action phrase fits two actions": Wrong(
        "objExists objRelExists", put((actions.to_action, "run", either_action))
    ),
    "instances without frames are kept": Wrong("relExists objExists", facts=with_empty_instances),
    "hair has no facts": Wrong("relExists actTime", facts=without_hair),
    "open children are paired": Wrong("objRelExists", put((time.within, "parts", pair_open_parts))),
}

# the same faults in what is generated and decomposed by columns
IN_TABLES: dict[str, Wrong] = FAULTS | {
    "Between is never relabelled": Wrong("", put((columns, "in_between", lambda node: False))),
    "a choice goes by the first frame": Wrong(
        "", put((Core, "decisive", property(by_first_frame)), (cores, "PROGRAMS", laws_by_first_frame()))
    ),
    "laughing reads the same with and without object": Wrong("", words=plain_words()),
    "an indirect action phrase fits two actions": Wrong("", put((references, "indirect", named_twice))),
}
