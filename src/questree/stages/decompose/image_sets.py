"""Questions about image sets -> the tables of their DAGs, each node answered by execution; and those tables as text."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.domains.images import Corpus, ImageSets
from questree.domains.images.corpus import padded
from questree.domains.images.english import countable
from questree.domains.images.graph import Graph
from questree.domains.images.kinds import ATTRIBUTE, COUNT, GROUP, LINK_NAME, NOUN
from questree.notation.own_shapes import program_shapes
from questree.readings.answer import answer
from questree.readings.forms import NOTHING, ProgramShapes
from questree.readings.parts import node_type
from questree.rules import IMAGE_DAGS
from questree.search.same_words import SameWords
from questree.stages.decompose.columns import executed_blocks
from questree.stages.decompose.expand import Batch, Block, marked_apart
from questree.stages.decompose.forms import NodeForms, Variant
from questree.stages.decompose.spoken import SetTexts, english_of
from questree.tables.nodes import EXECUTED, NOT_SAID, UNDEFINED
from questree.terms import BOOL, UNKNOWN, Array, Kind, Node, Slot, Term, slots


@dataclass(frozen=True)
class SetWords:
    """The words of programs and answers about image sets, and how many sets there are."""

    words: list[str]
    sets: int

    @cached_property
    def at(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}


class ImageForms(NodeForms):
    """Forms of programs about image sets."""

    vocabulary: SetWords

    @cached_property
    def marked(self) -> dict[Kind, Array]:
        """A noun of what one does not count has other sub-questions."""
        return {NOUN: np.array([not countable(Graph(word)) for word in self.vocabulary.words], bool)}

    @property
    def width(self) -> int:
        return len(self.vocabulary.words).bit_length()

    def layout(self, words: int) -> list[int]:
        first = min(words, (63 - self.vocabulary.sets.bit_length()) // self.width)
        return [first, *(min(63 // self.width, words - at) for at in range(first, words, 63 // self.width))]

    def _forms(self, node: Node, option: Term | None) -> Iterator[Variant]:
        yield Variant(*self.canonical(node, option))

    def alone(self, term: Term) -> bool:
        return isinstance(term, Slot) and term.alone


@dataclass(frozen=True)
class SetFacts:
    """What questions about image sets are taken apart with, whichever they are.

    merged: the corpus with one word for what means the `same`; the answer to a sub-question it changes is not said.
    """

    said: SetWords
    corpus: Corpus
    same: SameWords | None = None
    merged: Corpus | None = None

    @cached_property
    def forms(self) -> ImageForms:
        return ImageForms(self.said)

    @cached_property
    def texts(self) -> SetTexts:
        return SetTexts(pl.Series(self.said.words, dtype=pl.String))


@dataclass(frozen=True)
class AskedSets:
    """Questions about image sets, all that are about these sets, and what they are taken apart with."""

    facts: SetFacts
    questions: pl.DataFrame  # form, words and answer; those that some template asks
    images: Ints  # [set, image] rows of images, padded
    scope: Ints  # [question] its set

    @classmethod
    def of(cls, questions: pl.DataFrame, corpus: Corpus) -> "AskedSets":
        """All of them at once."""
        asked, numbers = questions.filter(known_forms(questions)), dict[tuple[int, ...], int]()
        scope = [numbers.setdefault(tuple(sorted(images)), len(numbers)) for images in asked["images"].to_list()]
        words = all_words([program_shapes(questions).words], corpus.words, corpus.groups)
        facts = SetFacts(SetWords(words, len(numbers)), corpus)
        return cls(facts, asked, padded(list(numbers)), np.array(scope, np.int64))

    @cached_property
    def programs(self) -> ProgramShapes:
        """Their words as numbers among those of all questions."""
        own = program_shapes(self.questions)
        at = np.array([self.facts.said.at[word] for word in own.words], np.int64)
        filled = np.where(own.filled == NOTHING, NOTHING, at[own.filled])
        return replace(own, words=self.facts.said.words, filled=filled)


def known_forms(questions: pl.DataFrame) -> pl.Series:
    """[question] does some template ask it?"""
    programs = program_shapes(questions)
    known = np.array([node_type(shape) in IMAGE_DAGS.types for shape in programs.shapes], bool)
    return pl.Series(known[programs.code])


def all_words(met: Iterable[Iterable[str]], corpus: Iterable[str], groups: Iterable[str]) -> list[str]:
    """The words of questions as they are met, then those of images and of groups of attributes."""
    return list(dict.fromkeys(chain(chain.from_iterable(met), corpus, groups)))


def batches(programs: ProgramShapes, forms: ImageForms, scope: Ints) -> Iterator[Batch]:
    """The questions by form; `scope`: [question] its set."""
    for shape, every in programs.by_shape:
        words = {name: programs.filled[every, int(name)] for name in slots(shape)}
        yield from marked_apart(forms, shape, words, scope[every], every)


def answered_nodes(asked: AskedSets, blocks: list[Block], tops: Ints) -> tuple[Array, Array]:
    """[node] its answer, and how it is known."""
    facts = asked.facts
    answers = executed_blocks(blocks, runner(blocks, facts.said, facts.corpus, asked.images))
    how = np.where(answers == UNKNOWN, UNDEFINED, EXECUTED).astype(np.uint8)
    if facts.same is not None and facts.merged is not None:
        other = changed(blocks, facts.said, facts.corpus, facts.merged, facts.same, asked.images)
        other[tops] = False  # whoever asked knew the answer
        how[other & (how == EXECUTED)] = NOT_SAID
    return answers, how


Answering = Callable[[Node, Array, dict[str, Array]], Array]  # (form, [row] set, words of each slot) -> [row] answer


def runner(
    blocks: list[Block], said: SetWords, corpus: Corpus, images: Ints, same: SameWords | None = None
) -> Answering:
    position: dict[Kind, Ints] = {}  # of every word in the facts
    # the word of every position in the facts; the last is that of none
    word_of, group_of = (np.array([*map(said.at.get, own), UNKNOWN]) for own in (corpus.words, corpus.groups))
    for kind in {slot.kind for block in blocks for slot in block.form.slots}:
        words = [word if kind != COUNT or word.lstrip("-").isdigit() else "0" for word in said.words]
        position[kind] = corpus.positions([same.one(word, kind) for word in words] if same else words, kind)

    def run(form: Node, scope: Array, values: dict[str, Array]) -> Array:
        columns = {name: position[slot.kind][values[name]] for name, slot in slots(form).items()}
        own = answer(form, ImageSets(corpus, images[scope]), columns)
        return own if form.kind in (BOOL, COUNT) else (group_of if form.kind == GROUP else word_of)[own]

    return run


def changed(
    blocks: list[Block], said: SetWords, corpus: Corpus, merged: Corpus, same: SameWords, images: Ints
) -> Array:
    """[node] is its answer another if words that mean the same are one? Only nodes with such a word are run."""
    kinds = (NOUN, ATTRIBUTE, LINK_NAME)
    one = {kind: np.array([said.at[same.one(word, kind)] for word in said.words]) for kind in kinds}
    several = {kind: np.array([word in same.by_kind[kind] for word in said.words], bool) for kind in kinds}
    first, second = runner(blocks, said, corpus, images), runner(blocks, said, merged, images, same)

    def run(form: Node, scope: Array, values: dict[str, Array]) -> Array:
        found = np.zeros(len(scope), np.int64)
        there = [several[slot.kind][values[name]] for name, slot in slots(form).items() if slot.kind in several]
        rows = np.flatnonzero(np.any(there, axis=0)) if there else np.zeros(0, np.int64)
        if len(rows):
            few = {name: column[rows] for name, column in values.items()}
            own, other = first(form, scope[rows], few), second(form, scope[rows], few)
            if form.kind in one:
                own = np.where(own == UNKNOWN, UNKNOWN, one[form.kind][own])
            found[rows] = own != other
        return found

    return executed_blocks(blocks, run).astype(bool)


def questions_of(forms: pl.DataFrame, nodes: pl.DataFrame, texts: SetTexts) -> pl.Series:
    """[node] the question in English; one that was asked before it was part of another keeps its own words."""
    others = np.flatnonzero(nodes["question"].is_null())
    return nodes["question"].scatter(others, english_of(forms, nodes[others], texts))


def own_words(nodes: int, tops: pl.DataFrame, edges: pl.DataFrame) -> pl.Series:
    """[node] the words it was asked in, if it was asked before it was part of another; tops: node, question."""
    node, first = own_nodes(nodes, tops["node"].to_numpy(), edges)
    return pl.Series([None], dtype=pl.String).new_from_index(0, nodes).scatter(node, tops["question"].gather(first))


def own_nodes(nodes: int, tops: Ints, edges: pl.DataFrame) -> tuple[Ints, Ints]:
    """The same nodes and numbers of questions; tops: [question] its node."""
    asked = np.full(nodes, len(tops), np.int64)  # [node] the first question that it is
    np.minimum.at(asked, tops, np.arange(len(tops)))
    below = np.full_like(asked, len(tops))  # [node] the first question that it is below
    parent, child = edges["parent"].to_numpy(), edges["child"].to_numpy()
    before = None
    while before is None or (below != before).any():
        before = below.copy()
        np.minimum.at(below, child, np.minimum(asked, below)[parent])
    node = np.flatnonzero(asked < below)
    return node, asked[node]
