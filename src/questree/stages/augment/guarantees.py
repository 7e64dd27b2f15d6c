"""What augmented facts promise, so that questions and their parts never contradict each other."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from questree.stages.augment.graphs import SPOT, rows, without
from questree.stages.augment.opposites import settled
from questree.stages.augment.relations import entailed, unnamed_facts, verb_facts
from questree.tables.action_frames import inside
from questree.tables.facts import RELATIONS, Facts
from questree.vocabulary.words import Vocabulary

SHOWN = 5  # examples per broken promise


@dataclass(frozen=True)
class BrokenPromise:
    what: str
    times: int
    examples: list[str]

    def __str__(self) -> str:
        return f"{self.times} {self.what}: {'; '.join(self.examples)}{'; ...' if self.times > SHOWN else ''}"

    def __add__(self, other: "BrokenPromise") -> "BrokenPromise":
        """The same promise, broken by later videos as well."""
        return BrokenPromise(self.what, self.times + other.times, [*self.examples, *other.examples][:SHOWN])


def guarantees(facts: Facts, vocabulary: Vocabulary, as_released: bool = False) -> list[str]:
    """One line per broken promise, nothing when all are kept."""
    return list(map(str, broken_promises(facts, facts.relations, vocabulary, as_released)))


def broken_promises(
    facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary, as_released: bool = False
) -> list[BrokenPromise]:
    """Of facts and their relation rows."""
    others = [promise for check in CHECKS for promise in check(facts, relations, vocabulary)]
    return [*_frames(facts, vocabulary, as_released), *others]


def together(parts: Iterable[list[BrokenPromise]]) -> list[BrokenPromise]:
    """What the parts of a corpus break, each promise once."""
    found = dict[str, BrokenPromise]()
    for promise in (promise for part in parts for promise in part):
        found[promise.what] = found[promise.what] + promise if promise.what in found else promise
    return list(found.values())


def _frames(facts: Facts, vocabulary: Vocabulary, as_released: bool) -> Iterator[BrokenPromise]:
    """The frames of every action are those at which it is going on; as released, each has one."""
    if as_released:
        bare = facts.actions.filter(pl.col("first").is_null())
        yield from _lines("actions without an annotated frame", _actions(bare, facts, vocabulary))
    right = inside(facts.actions, facts.frames, as_released).select(right_first="first", right_last="last")
    both = pl.concat([facts.actions, right], how="horizontal")
    wrong = both.filter(
        pl.col("first").ne_missing(pl.col("right_first")) | pl.col("last").ne_missing(pl.col("right_last"))
    )
    yield from _lines("actions whose frames are not those inside their stamps", _actions(wrong, facts, vocabulary))


def _verbs(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[BrokenPromise]:
    """An action with an object has its fact on each of its frames, and its verb is done to something."""
    missing = rows(
        without(verb_facts(facts.actions, vocabulary), relations), unnamed_facts(facts.actions, relations, vocabulary)
    )
    yield from _lines("facts missing on a frame of their action", _facts(missing, facts, vocabulary))


def _entailments(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[BrokenPromise]:
    missing = without(entailed(relations, vocabulary), relations)
    yield from _lines("entailed facts missing", _facts(missing, facts, vocabulary))


def _opposites(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[BrokenPromise]:
    """Nothing holds on a frame that another fact of the same object denies, unless actions say both."""
    wrong = settled(relations, facts.actions, vocabulary)
    yield from _lines("facts that another of their frame denies", _facts(wrong, facts, vocabulary))


def _names(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[BrokenPromise]:
    """Only merged classes, folded verbs and merged actions are used, with one annotation per class and frame."""
    objects = [at for at, to in enumerate(vocabulary.merged_object) if at != to]
    folds = [at for at, to in enumerate(vocabulary.folded) if at != to]
    actions = [at for at, to in enumerate(vocabulary.merged_action) if at != to]
    old = relations.filter(pl.col("object").is_in(objects) | pl.col("relation").is_in(folds))
    yield from _lines("facts under a name that is counted as another", _facts(old, facts, vocabulary))
    stale = facts.actions.filter(pl.col("action").is_in(actions))
    yield from _lines("actions that are counted as another", _actions(stale, facts, vocabulary))
    twice = facts.objects.filter(pl.struct(SPOT).is_duplicated() | pl.col("object").is_in(objects))
    yield from _lines("annotations that are double or counted as another class", _spots(twice, facts, vocabulary))


CHECKS: tuple[Callable[[Facts, pl.DataFrame, Vocabulary], Iterator[BrokenPromise]], ...] = (
    _verbs,
    _entailments,
    _opposites,
    _names,
)


def _lines(what: str, found: list[str]) -> Iterator[BrokenPromise]:
    if found:
        yield BrokenPromise(what, len(found), found[:SHOWN])


def _actions(actions: pl.DataFrame, facts: Facts, vocabulary: Vocabulary) -> list[str]:
    ids = facts.videos["id"]
    return [
        f"{ids[row['video']]} {vocabulary.actions[row['action']].id}/{row['instance']}"
        for row in actions.iter_rows(named=True)
    ]


def _facts(rows: pl.DataFrame, facts: Facts, vocabulary: Vocabulary) -> list[str]:
    ids = facts.videos["id"]
    return [
        f"{ids[video]} frame {frame} {vocabulary.relations[relation].name} {vocabulary.objects[object].name}"
        for video, frame, relation, object in rows.select(*RELATIONS.columns).sort(*RELATIONS.columns).iter_rows()
    ]


def _spots(rows: pl.DataFrame, facts: Facts, vocabulary: Vocabulary) -> list[str]:
    ids = facts.videos["id"]
    spots = rows.select(SPOT).iter_rows()
    return [f"{ids[video]} frame {frame} {vocabulary.objects[object].name}" for video, frame, object in spots]
