"""Answers by execution: first all references, those of one shape together, then the questions, form by form."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from questree.benchmarks.covr.forms import TemplateForm
from questree.benchmarks.covr.programs import Program, shape
from questree.domains.images import Corpus, spelled
from questree.domains.images.corpus import Bits, ImageSets, Ints, padded
from questree.domains.images.kinds import THINGS
from questree.program import REASONS, slots
from questree.readings.answer import evaluate
from questree.stages.drafts.drafts import Draft
from questree.stages.drafts.rules import Candidates, against

SPELLED = {True: "yes", False: "no"}
Things = dict[str, Bits]  # slot -> [question, page] what the reference in it describes


@dataclass(frozen=True)
class Answer:
    value: str = ""
    reason: str = ""  # why there is none


@dataclass
class Answerer:
    corpus: Corpus

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
        columns = {name: self.corpus.positions(said[int(name)], slot.kind) for name, slot in slots(node).items()}
        return evaluate(node, ImageSets(self.corpus, images), columns).values[node]

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
                columns[name] = self.corpus.positions([str(asked[row].slots[name][0]) for row in rows], slot.kind)
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
