"""What a DAG talks about: the objects, relations and actions its questions name, and which tracks show them."""

from dataclasses import dataclass

import polars as pl

from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.notation.spelling import names
from questree.program import Kind, Node, Word, fill
from questree.readings.answer import position
from questree.show.opened import Opened
from questree.stages.decompose.forms import ordered_slots
from questree.vocabulary.words import NONE, Vocabulary


@dataclass(frozen=True)
class Mentioned:
    """Positions in the vocabulary."""

    objects: frozenset[int]
    relations: frozenset[int]
    actions: frozenset[int]

    def track(self, relation: int, thing: int) -> bool:
        """Is a relation with an object worth looking at?"""
        return relation in self.relations or thing in self.objects


def programs(shard: Opened, vocabulary: Vocabulary) -> list[Node]:
    """[node] its program, with words in its slots."""
    found = []
    for row in shard.nodes.iter_rows(named=True):
        form = parse(shard.forms["program"][row["form"]], VIDEO)
        words = {
            slot.name: Word(name_of(slot.kind, row[slot.name], vocabulary), slot.kind) for slot in ordered_slots(form)
        }
        filled = fill(form, words)
        assert isinstance(filled, Node)
        found.append(filled)
    return found


def name_of(kind: Kind, at: int, vocabulary: Vocabulary) -> str:
    """A word as it is read, or its id where another word is called the same."""
    name = names(kind, vocabulary)[at]
    return name if position(Word(name, kind), vocabulary) == at else getattr(vocabulary, kind.words)[at].id


def mentioned(shard: Opened, vocabulary: Vocabulary) -> Mentioned:
    """Actions bring their verb and noun along."""
    found: dict[str, set[int]] = {"objects": set(), "relations": set(), "actions": set()}
    for form, text in enumerate(shard.forms["program"]):
        own = shard.nodes.filter(pl.col("form") == form)
        for slot in ordered_slots(parse(text, VIDEO)):
            found[slot.kind.words] |= set(own[slot.name].to_list())
    for action in found["actions"]:
        found["relations"].add(int(vocabulary.verb_of[action]))
        found["objects"].add(int(vocabulary.object_of[action]))
    person = vocabulary.object_at[vocabulary.person]
    return Mentioned(
        frozenset(int(vocabulary.merged_object[at]) for at in found["objects"] - {NONE, person}),
        frozenset(int(vocabulary.folded[at]) for at in found["relations"]),
        frozenset(int(vocabulary.merged_action[at]) for at in found["actions"]),
    )
