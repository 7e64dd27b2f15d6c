"""What the vocabulary and the corpus say about words, as columns to gather from: which may be asked, and how."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.frames import Phrase
from questree.benchmarks.agqa.held_out import HeldOut, held_out
from questree.benchmarks.agqa.phrases import indirect_action
from questree.benchmarks.agqa.templates import Template
from questree.columns.joins import Ints
from questree.columns.sets import Flags, Pairs, Sets, occurring, pairs_of, sets_of
from questree.stages.rules_alone import WordRules
from questree.tables.facts import TRACKS, Facts, StoredFacts
from questree.vocabulary.words import Vocabulary


@dataclass(frozen=True)
class WordColumns:
    edition: Edition
    vocabulary: Vocabulary
    held_out: HeldOut
    groups: dict[str, Flags]  # group -> [relation]
    askable: Flags  # [object] may fill a slot or be an answer
    occurring: tuple[Flags, Flags]  # [relation], [object] does the corpus have it?
    never_asked: Flags  # [relation]
    one_object: Flags  # [relation] single-object verbs
    touching: Flags  # [relation] is it what any contact amounts to?
    rare: Pairs  # [relation, object] too few annotations in the corpus
    common_sense: Pairs  # [relation, object]
    alike: Pairs  # [object, object] never together in one question
    similar: Sets  # [object] set of similar objects
    localised: Flags  # [action] may stand in a time phrase
    transition: Flags  # [action] gets no length question
    indirect: Flags  # [action] a reference may stand for its noun

    @cached_property
    def rules(self) -> WordRules:
        return WordRules.of(self.vocabulary)

    def banned(self, what: str, template: Template) -> Flags:
        """[object] or [relation] what a template does not ask about, or verbs that would give the answer away.

        Nobody is asked about the person, whatever the vocabulary's lists say."""
        names = template.banned(what, self.vocabulary.lists)
        if what != "object":
            return _flags(len(self.never_asked), self.vocabulary.relations_named(names))
        kept = tuple(name for name in names if name not in self.edition.unbanned_objects)
        return _flags(len(self.askable), self.vocabulary.objects_named((*kept, self.vocabulary.person)))


def _flags(size: int, *positions: Any) -> Flags:
    found = np.zeros(size, bool)
    for at in positions:
        found[at] = True
    return found


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return first, second


def pair_counts(facts: Facts | StoredFacts, vocabulary: Vocabulary) -> Pairs:
    """[relation, object] on how many frames of the corpus the pair is annotated."""
    parts = [facts.tracks] if isinstance(facts, Facts) else (tracks for *_, tracks in facts.ranges(TRACKS))
    frames = pl.col("bits").list.eval(pl.element().bitwise_count_ones()).list.sum()
    sizes = pl.concat([part.group_by("relation", "object").agg(n=frames.cast(pl.Int64).sum()) for part in parts])
    relation, thing, count = (column.to_numpy().astype(np.int64) for column in sizes)
    return pairs_of(relation, thing, count, (len(vocabulary.relations), len(vocabulary.objects)))


def words(vocabulary: Vocabulary, counts: Pairs, rare_below: int = 10, edition: Edition = SECOND) -> WordColumns:
    """`counts` are the corpus' pair_counts: a pair seen on fewer frames is not asked about."""
    lists, relations, objects = vocabulary.lists, len(vocabulary.relations), len(vocabulary.objects)
    relation, thing = vocabulary.relation_at, vocabulary.object_at
    one_object = _flags(relations, vocabulary.relations_named(lists.single_object_verbs))
    never = _flags(relations, vocabulary.relations_named(lists.never_asked_relations))
    common = [(relation[by], thing[name]) for name, by in lists.commonsense_pairs]
    forbidden = [(thing[a], thing[b]) for pair in lists.forbidden_pairs for a, b in (pair, pair[::-1])]
    families = [vocabulary.objects_named(family).tolist() for family in lists.similar_objects]
    similar = {a: [(a, b) for b in family if b != a] for family in families for a in family}
    transition = _flags(len(vocabulary.actions), [vocabulary.action_at[i] for i in lists.transition_actions])
    verbs = [relation[action.verb] for action in vocabulary.actions]
    transition |= np.isin(
        verbs, [relation[name] for name in lists.transition_verbs if name not in edition.lasting_verbs]
    )
    unplaced = [
        at for at in vocabulary.never_localised if not edition.every_localised or at == vocabulary.other_action_at
    ]
    return WordColumns(
        edition=edition,
        vocabulary=vocabulary,
        held_out=held_out(vocabulary),
        groups={group: _flags(relations, vocabulary.group(group)) for group in ("contact", "spatial", "verb")},
        askable=np.array([not o.part_only and o.id != vocabulary.person for o in vocabulary.objects]),
        occurring=(occurring(counts, 0, relations), occurring(counts, 1, objects)),
        never_asked=never,
        one_object=one_object,
        touching=_flags(relations, vocabulary.relations_named(lists.plain_contacts)),
        rare=counts < rare_below,
        common_sense=pairs_of(*_columns(common), True, (relations, objects)),
        alike=pairs_of(*_columns([*forbidden, *((at, at) for at in range(objects))]), True, (objects, objects)),
        similar=sets_of(*_columns([pair for own in similar.values() for pair in own]), objects, objects),
        localised=~_flags(len(vocabulary.actions), unplaced),
        transition=transition,
        indirect=may_be_indirect(vocabulary, edition),
    )


def may_be_indirect(vocabulary: Vocabulary, edition: Edition) -> Flags:
    """[action] may its noun be replaced by a reference (5.3)? Its verb must take several objects, and is done to it
    unless the edition names places and tools so."""
    objects: dict[int, set[int]] = {}
    done_to = vocabulary.done_to == vocabulary.object_of
    for verb, thing, is_done_to in zip(vocabulary.verb_of, vocabulary.object_of, done_to, strict=True):
        objects.setdefault(int(verb), set()).update([int(thing)] if thing >= 0 and is_done_to else [])
    found, named = (
        np.zeros(len(vocabulary.actions), bool),
        vocabulary.objects_named(vocabulary.lists.always_named_objects),
    )
    for at in range(len(vocabulary.actions)):
        has_noun = indirect_action(at, {"": Phrase("")}, vocabulary) is not None
        banned = at in vocabulary.never_localised
        several = len(objects[int(vocabulary.verb_of[at])]) > 1
        always = banned or vocabulary.object_of[at] in named or not (done_to[at] or edition.places_named)
        found[at] = has_noun and several and not always
    return found
