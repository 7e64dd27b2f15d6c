"""Answers by execution: first all references, those of one shape together, then the questions, form by form; with what
speaks against asking a question although it has an answer."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from questree.benchmarks.covr.forms import Program, TemplateForm, shape
from questree.domains.images import Corpus, answers, spelled
from questree.domains.images.corpus import Bits, Bools, ImageSets, Ints, padded
from questree.domains.images.kinds import ABSENT, THINGS
from questree.domains.images.loops import attributed, has_attribute, number_of
from questree.readings.answer import Outcome, evaluate
from questree.search.same_words import SameWords
from questree.stages.drafts.sources import Draft
from questree.terms import REASONS, Array, Kind, Node, Op, Slot, Term, slots

LARGEST = 5  # nobody is asked to count further


@dataclass(frozen=True)
class Candidates:
    """Questions of one form while rules look at them."""

    world: ImageSets
    columns: Mapping[str, Ints]
    outcome: Outcome
    values_of_group: Ints  # [group, place] words

    def value(self, term: Term) -> Array:
        return self.columns[term.name] if isinstance(term, Slot) else self.outcome.values[term]

    def number(self, term: Term) -> Ints:
        """[row] how many things."""
        return np.asarray(number_of(self.value(term)))


Rule = Callable[[Candidates, Node], Bools]  # [row] does it speak against asking?


def _large(asked: Candidates, node: Node) -> Bools:
    return np.asarray(asked.value(node) > LARGEST)


def _absent(asked: Candidates, node: Node) -> Bools:
    return np.asarray(asked.value(node) == ABSENT)


def _few(asked: Candidates, node: Node) -> Bools:
    return np.asarray(asked.number(node.args[0]) < 2)


def _untold(asked: Candidates, node: Node) -> Bools:
    """Some of the things have no value of the group."""
    things, group = map(asked.value, node.args)
    told = attributed(asked.world.facts, asked.world.page, things, asked.values_of_group[group])
    return np.asarray(number_of(told) < number_of(things))


def _both(asked: Candidates, node: Node) -> Bools:
    thing, x, y = map(asked.value, node.args)
    return has_attribute(asked.world.facts, thing, x) & has_attribute(asked.world.facts, thing, y)


def _alike(asked: Candidates, node: Node) -> Bools:
    """The two options are one word."""
    _, x, y = map(asked.value, node.args)
    return np.asarray(x == y)


TOO_MANY, TOO_FEW, UNTOLD, BOTH = "a count above 5", "fewer than two things", "attribute not told", "both options"
RULES: dict[Op, tuple[tuple[str, Rule], ...]] = {
    answers.count: ((TOO_MANY, _large),),
    answers.query_attr: ((UNTOLD, _absent),),  # two absent ones would be the same
    answers.choose_attr: ((BOTH, _both),),
    answers.choose_name: ((BOTH, _alike),),
    answers.choose_relation: ((BOTH, _alike),),
    answers.every: ((TOO_FEW, _few),),
    answers.some: ((TOO_FEW, _few),),
    answers.none: ((TOO_FEW, _few),),
    answers.all_same: ((TOO_FEW, _few), (UNTOLD, _untold)),
}


def against(asked: Candidates) -> Iterator[tuple[str, Bools]]:
    """(reason, [row] does it apply?) in the order the parts of the program are computed."""
    for term in asked.outcome.values:
        if isinstance(term, Node):
            for reason, speaks_against in RULES.get(term.op, ()):
                yield reason, speaks_against(asked, term)


SPELLED = {True: "yes", False: "no"}
Things = dict[str, Bits]  # slot -> [question, page] what the reference in it describes


@dataclass(frozen=True)
class Answer:
    value: str = ""
    reason: str = ""  # why there is none


@dataclass
class Answerer:
    corpus: Corpus
    same: SameWords | None = None  # of a corpus with one word for what means the same

    def answer(self, drafts: Sequence[Draft]) -> list[list[Answer]]:
        """[draft, set]"""
        rows = [(draft, images) for draft in drafts for images in draft.sets]
        if not rows:
            return [[] for _ in drafts]
        images = padded([images for _, images in rows])  # [question, image]
        asked = [draft for draft, _ in rows]
        things = self._references(asked, images)
        members: dict[TemplateForm, list[int]] = defaultdict(list)
        for row, draft in enumerate(asked):
            members[draft.form].append(row)
        found = [Answer()] * len(rows)
        for form, own in members.items():
            for row, one in zip(own, self._answers(form, own, asked, images, things), strict=True):
                found[row] = one
        answers = iter(found)
        return [[next(answers) for _ in draft.sets] for draft in drafts]

    def _references(self, asked: Sequence[Draft], images: Ints) -> Things:
        members: dict[str, list[tuple[int, str, Program]]] = defaultdict(list)  # pattern -> (row, slot, reference)
        for row, draft in enumerate(asked):
            for name, (filling, _) in draft.slots.items():
                if isinstance(filling, Program):
                    members[filling.pattern].append((row, name, filling))
        width = ImageSets(self.corpus, images).page.shape[1]
        found: Things = defaultdict(lambda: np.zeros((len(asked), width), np.int64))
        for pattern, own in members.items():
            rows = np.array([row for row, _, _ in own])
            value = self._things(pattern, [program.words for _, _, program in own], images[rows])
            names = np.array([name for _, name, _ in own])
            for name in set(names.tolist()):
                found[name][rows[names == name], : value.shape[1]] = value[names == name]
        return found

    def _things(self, pattern: str, words: list[tuple[str, ...]], images: Ints) -> Bits:
        node, said = shape(pattern), list(zip(*words, strict=True))
        columns = {name: self._positions(said[int(name)], slot.kind) for name, slot in slots(node).items()}
        return evaluate(node, ImageSets(self.corpus, images), columns).values[node]

    def _positions(self, words: Sequence[str], kind: Kind) -> Ints:
        if self.same is not None:
            words = [self.same.one(word, kind) for word in words]
        return self.corpus.positions(words, kind)

    def _answers(
        self, form: TemplateForm, rows: list[int], asked: Sequence[Draft], images: Ints, things: Things
    ) -> list[Answer]:
        node, world = form.node, ImageSets(self.corpus, images[rows])
        columns: dict[str, Ints] = {}
        for name, slot in slots(node).items():
            if slot.kind == THINGS:
                own = things[name][rows, : world.page.shape[1]]  # the pages of a row come first
                columns[name] = np.ascontiguousarray(own)
            else:
                columns[name] = self._positions([str(asked[row].slots[name][0]) for row in rows], slot.kind)
        outcome = evaluate(node, world, columns)
        reasons = np.array([*REASONS, ""], object)[outcome.reason]  # WELL is the last
        for reason, applies in against(Candidates(world, columns, outcome, self._values_of_group)):
            reasons[(reasons == "") & applies] = reason
        return [
            Answer(reason=reason) if reason else Answer(SPELLED[value] if isinstance(value, bool) else str(value))
            for value, reason in zip(spelled(node, outcome, world), reasons, strict=True)
        ]

    @cached_property
    def _values_of_group(self) -> Ints:
        group_of, groups = self.corpus.facts.group_of, range(len(self.corpus.groups))
        return padded([np.flatnonzero(group_of == group).tolist() for group in groups])


ANOTHER_WORD = "another word for the same would change the answer"
CHANGED = Answer(reason=ANOTHER_WORD)


@dataclass
class SureAnswerer:
    """Answers that stay what they are if words that mean the same are one."""

    answerer: Answerer
    merged: Answerer | None = None  # of the corpus with one word; None if all words differ in meaning

    def answer(self, drafts: Sequence[Draft]) -> list[list[Answer]]:
        """[draft, set]"""
        found = self.answerer.answer(drafts)
        if self.merged is None or (same := self.merged.same) is None:
            return found
        several = [at for at, draft in enumerate(drafts) if not same.words.isdisjoint(draft.program.words)]
        for at, others in zip(several, self.merged.answer([drafts[at] for at in several]), strict=True):
            kind = drafts[at].form.node.kind
            found[at] = [
                own if own.reason or (same.one(own.value, kind) == other.value and not other.reason) else CHANGED
                for own, other in zip(found[at], others, strict=True)
            ]
        return found
