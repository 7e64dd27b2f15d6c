"""What augmented facts promise, so that questions and their parts never contradict each other."""

from collections.abc import Callable, Iterator

import polars as pl

from questree.stages.augment.graphs import SPOT, inside, rows, without
from questree.stages.augment.opposites import settled
from questree.stages.augment.relations import entailed, unnamed_facts, verb_facts
from questree.tables.facts import RELATIONS, Facts
from questree.vocabulary.words import Vocabulary

SHOWN = 5  # examples per broken promise


def guarantees(facts: Facts, vocabulary: Vocabulary) -> list[str]:
    """One line per broken promise, nothing when all are kept."""
    relations = facts.relations
    return [line for check in CHECKS for line in check(facts, relations, vocabulary)]


def _frames(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[str]:
    """Every action instance has a frame, and its frames are those inside its stamps."""
    bare = facts.actions.filter(pl.col("first").is_null())
    yield from _lines("actions without an annotated frame", _actions(bare, facts, vocabulary))
    right = inside(facts.actions, facts.frames).select(right_first="first", right_last="last")
    both = pl.concat([facts.actions, right], how="horizontal").filter(pl.col("first").is_not_null())
    wrong = both.filter(
        pl.col("first").ne_missing(pl.col("right_first")) | pl.col("last").ne_missing(pl.col("right_last"))
    )
    yield from _lines("actions whose frames are not those inside their stamps", _actions(wrong, facts, vocabulary))


def _verbs(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[str]:
    """An action with an object has its fact on each of its frames, and its verb is done to something."""
    missing = rows(
        without(verb_facts(facts.actions, vocabulary), relations), unnamed_facts(facts.actions, relations, vocabulary)
    )
    yield from _lines("facts missing on a frame of their action", _facts(missing, facts, vocabulary))


def _entailments(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[str]:
    missing = without(entailed(relations, vocabulary), relations)
    yield from _lines("entailed facts missing", _facts(missing, facts, vocabulary))


def _opposites(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[str]:
    """Nothing holds on a frame that another fact of the same object denies, unless actions say both."""
    wrong = settled(relations, facts.actions, vocabulary)
    yield from _lines("facts that another of their frame denies", _facts(wrong, facts, vocabulary))


def _names(facts: Facts, relations: pl.DataFrame, vocabulary: Vocabulary) -> Iterator[str]:
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


CHECKS: tuple[Callable[[Facts, pl.DataFrame, Vocabulary], Iterator[str]], ...] = (
    _frames,
    _verbs,
    _entailments,
    _opposites,
    _names,
)


def _lines(what: str, found: list[str]) -> Iterator[str]:
    if found:
        yield f"{len(found)} {what}: {'; '.join(found[:SHOWN])}{'; ...' if len(found) > SHOWN else ''}"


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
