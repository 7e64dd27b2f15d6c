"""Which answers a question can have: yes and no, the options it names, or any word of its kind."""

import numpy as np

from questree.models.asked import AskedShard, Group
from questree.program import ACTION, OBJECT, Array, Kind, Slot, Term
from questree.vocabulary.words import Vocabulary

UNSEEN = -2  # the answer of somebody who does not see what the question is about
CHOICES = ("Choose", "Longer Choose", "Shorter Choose")


def merged(word: Slot, group: Group, vocabulary: Vocabulary) -> Array:
    """[node] a plain word as answers name it."""
    table = vocabulary.merged_object if word.kind == OBJECT else vocabulary.merged_action
    return np.asarray(table[group.values[word.name]])


def options(shard: AskedShard, group: Group, said: Array) -> tuple[Array, Array]:
    """[node] the two answers of a choice, given the answers to all nodes; before and after, or what is named."""
    if group.node.kind.name == "order":
        zero = np.zeros(len(group.children), np.int64)
        return zero, zero + 1
    first, second = group.node.args[-2:]
    return option(shard, group, first, 0, said), option(shard, group, second, 1, said)


def option(shard: AskedShard, group: Group, term: Term, part: int, said: Array) -> Array:
    """[node] a plain word, or what an open sub-question gives; UNSEEN if no sub-question names it."""
    if isinstance(term, Slot):
        return merged(term, group, shard.words.vocabulary)
    named = group.children[:, part] if term.kind == ACTION else shard.first_part[group.children[:, part]]
    return np.where(shard.yes_no[named], UNSEEN, said[named])


def answerable(vocabulary: Vocabulary, kind: Kind) -> Array:
    """Positions of the words of a kind that answers name: those that no other word stands for."""
    table = vocabulary.merged_object if kind == OBJECT else vocabulary.merged_action
    return np.flatnonzero(table == np.arange(len(table)))


def another(shard: AskedShard, group: Group, answers: Array, said: Array, drawn: Array) -> Array:
    """[node] an answer that is not this one: of two the other, of many any."""
    if group.type in CHOICES:
        first, second = options(shard, group, said)
        return np.where(answers == first, second, first)
    if group.node.kind.yes:
        return 1 - answers
    many = answerable(shard.words.vocabulary, group.node.kind)
    step = 1 + (drawn % np.uint64(len(many) - 1)).astype(np.int64)
    return np.asarray(many[(np.searchsorted(many, np.maximum(answers, 0)) + step) % len(many)])


def any_answer(shard: AskedShard, group: Group, said: Array, drawn: Array) -> Array:
    """[node] each answer the question can have with the same probability."""
    if group.type in CHOICES:
        return np.where(drawn % np.uint64(2) == 0, *options(shard, group, said))
    if group.node.kind.yes:
        return (drawn % np.uint64(2)).astype(np.int64)
    many = answerable(shard.words.vocabulary, group.node.kind)
    return np.asarray(many[(drawn % np.uint64(len(many))).astype(np.int64)])
