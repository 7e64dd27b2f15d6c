"""One example of every wording, for a person to read: each frame with each kind of time phrase and of reference."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar
from zlib import crc32

from questree.benchmarks.agqa.arguments import Argument, ArgumentMaker
from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.frames import Frame, render
from questree.benchmarks.agqa.phrases import indirect_action, noun
from questree.benchmarks.agqa.templates import (
    ALL,
    BEFORE,
    BETWEEN,
    CVS,
    DIRECT,
    FIRST,
    INDIRECT,
    LAST,
    LONGEST,
    ONE_OBJECT,
    REFERENCES,
    SHORTEST,
    WHOLE,
    Template,
)
from questree.faults import Fault, refuse
from questree.notation.own import show
from questree.terms import fill
from questree.vocabulary.words import NONE, Vocabulary

NO_TIME = ""
TIMED, DONE_TO = "timed object", "relation"  # references of edition 1.0
Item = TypeVar("Item")


class Example(NamedTuple):
    template: Template
    frame: Frame
    time: str
    reference: str
    program: str
    text: str


@dataclass(frozen=True)
class Hand:
    """Draws words by a hash of the example's key: they vary from example to example, not from run to run."""

    key: tuple[str | int, ...]

    def number(self, place: str) -> int:
        return crc32(repr((*self.key, place)).encode())

    def draw(self, place: str, choices: Sequence[Item]) -> Item:
        return choices[self.number(place) % len(choices)]

    def two(self, place: str, choices: Sequence[Item]) -> tuple[Item, Item]:
        """Two different ones, if there are two."""
        one = self.draw(place, choices)
        return one, self.draw(place + " again", [other for other in choices if other != one] or [one])


@dataclass(frozen=True)
class Pool:
    """The words of a vocabulary that may be asked about."""

    vocabulary: Vocabulary

    @cached_property
    def actions(self) -> list[int]:
        words = self.vocabulary
        return [at for at, word in enumerate(words.actions) if not word.merged and at not in words.never_localised]

    @cached_property
    def naming(self) -> list[int]:
        """Actions whose phrase names their object."""
        return [at for at in self.actions if indirect_action(at, noun(0, self.vocabulary), self.vocabulary)]

    @cached_property
    def pairs(self) -> set[tuple[int, int]]:
        """(relation, object) of the actions: pairs that make sense."""
        words = self.vocabulary
        found = {(int(words.verb_of[at]), int(words.object_of[at])) for at in self.actions}
        return {(verb, noun) for verb, noun in found if noun != NONE}

    def relations(self, groups: Sequence[str], *banned: Sequence[str]) -> list[int]:
        words = self.vocabulary
        never = {words.relation_at[name] for name in (*words.lists.never_asked_relations, *sum(map(tuple, banned), ()))}
        verbs = {verb for verb, _ in self.pairs}
        usable = (int(at) for at in words.group(*groups) if not words.relations[at].folds and at not in never)
        return [at for at in usable if words.relations[at].group != "verb" or at in verbs]

    def asked(self, template: Template) -> list[int]:
        """The relations a template may ask about."""
        lists = self.vocabulary.lists
        single = lists.single_object_verbs if ONE_OBJECT in template.rules else ()
        return self.relations(template.relations, single, template.banned("relation", lists))

    def referring(self, relation: int) -> list[int]:
        """The relations of references in a question about a relation."""
        return [at for at in self.relations(CVS, self.vocabulary.lists.single_object_verbs) if at != relation]

    def objects(self, relation: int, count: int) -> list[int]:
        """Objects that go with the relation; all of them where too few are known to."""
        words = self.vocabulary
        every = [
            at
            for at, word in enumerate(words.objects)
            if not (word.part_only or word.merged or word.id == words.person)
        ]
        fitting = [at for at in every if (relation, at) in self.pairs]
        return fitting if len(fitting) >= max(count, 1) else every

    def lacking(self, templates: Sequence[Template]) -> Iterator[Fault]:
        """What the vocabulary has too few of to show every wording."""
        there = {"actions": (self.actions, 2), "actions that name their object": (self.naming, 1)}
        there |= {"objects": (self.objects(NONE, 1), 2), "relations for references": (self.referring(NONE), 3)}
        for template in (template for template in templates if template.relations):
            there[f"relations {template.name} may ask about"] = (self.asked(template), 1)
        for what, (found, wanted) in there.items():
            if len(found) < wanted:
                yield Fault(f"vocabulary {self.vocabulary.name}", f"{len(found)} {what}, at least {wanted} are needed")


def examples(vocabulary: Vocabulary, edition: Edition = SECOND) -> Iterator[Example]:
    """By the numbers of the templates."""
    make, pool = ArgumentMaker(vocabulary, edition.name), Pool(vocabulary)
    asked = sorted(edition.templates, key=lambda template: edition.codes[template.name])
    refuse(list(pool.lacking(asked)))
    for template in asked:
        for number, frame in enumerate(template.frames):
            for time in template.times or (NO_TIME,):
                for reference in reference_kinds(template, time, edition):
                    hand = Hand((template.name, number, time, reference))
                    words = ExampleDraw(make, pool, hand, template, time, reference).arguments()
                    program = show(fill(template.node, {slot: word.term for slot, word in words.items()}))
                    text = render(frame, {slot: word.forms for slot, word in words.items()})
                    yield Example(template, frame, time, reference, program, text)


def reference_kinds(template: Template, time: str, edition: Edition) -> list[str]:
    """Plain words, then whatever its objects, its actions and those of its time phrase may be replaced by."""
    found = [DIRECT, *(kind for kind in template.objects if kind != DIRECT)]
    if time not in (ALL, NO_TIME) or LONGEST in template.actions:
        found += [LONGEST, SHORTEST]
        found += [INDIRECT] if edition.one_pass or (template.second_pass and time != BETWEEN) else []
    found += [TIMED] if edition.timed_references and template.objects else []
    if edition.relation_references:
        found += [DONE_TO] if template.relations and not template.every_relation else []
    return found


@dataclass(frozen=True)
class ExampleDraw:
    """The arguments of one example; the reference stands in the first slot it fits, often in the second too."""

    make: ArgumentMaker
    pool: Pool
    hand: Hand
    template: Template
    time: str
    reference: str

    def arguments(self) -> dict[str, Argument]:
        wanted = self.template.kinds
        slots = {kind: [slot for slot, own in wanted.items() if own == kind] for kind in wanted.values()}
        about = self.hand.draw("relation", self.pool.asked(self.template)) if "relation" in slots else NONE
        found = dict(zip(slots.get("object", ()), self.objects(about, len(slots.get("object", ()))), strict=False))
        if about != NONE:
            found["relation"] = self.relation(about)
        acts = self.actions()
        if "window" in slots:
            count = {ALL: 0, BETWEEN: 2}.get(self.time, 1)
            found["time"] = self.make.time(self.time, self.hand.number("time wording"), *acts[:count])
            acts = [self.make.action(at) for at in self.hand.two("action asked", self.pool.actions)]
        return found | dict(zip(slots.get("action", ()), acts, strict=False))

    def relation(self, about: int) -> Argument:
        if self.reference != DONE_TO:
            return self.make.relation(about)
        return self.make.relation_reference(self.hand.draw("done to", self.pool.objects(NONE, 1)))

    def objects(self, about: int, count: int) -> list[Argument]:
        one, other = (self.make.object(at) for at in self.hand.two("object", self.pool.objects(about, count)))
        if self.reference not in (*REFERENCES[1:], TIMED):
            return [one, other]
        first, second = self.hand.two("referring", self.pool.referring(about))
        both = self.hand.number("both") % 2
        return [self.referred(first, "first"), self.referred(second, "second") if both else other]

    def referred(self, relation: int, place: str) -> Argument:
        wording = self.hand.number(f"{place} wording")
        if self.reference != TIMED:
            return self.make.object_reference(self.reference, relation, wording)
        during = self.make.time(BEFORE, wording // 2, self.make.action(self.hand.draw(place, self.pool.actions)))
        return self.make.object_reference(self.hand.draw(place, (FIRST, LAST, WHOLE)), relation, wording, during)

    def actions(self) -> list[Argument]:
        one, other = self.hand.two("action", self.pool.actions)
        plain = [self.make.action(one), self.make.action(other)]
        if self.reference in (LONGEST, SHORTEST):
            plain[0] = self.make.action_reference(self.reference, self.hand.number("length wording"))
        elif self.reference == INDIRECT:
            plain[0] = self.indirect()
        two = self.time == BETWEEN or (LONGEST in self.template.actions and "a" in self.template.kinds)
        return plain[::-1] if two and self.hand.number("order") % 2 else plain

    def indirect(self) -> Argument:
        """An action with a noun, which is replaced by a reference that does not use the action's own verb."""
        at = self.hand.draw("indirect", self.pool.naming)
        relation = self.hand.draw("inner", self.pool.referring(int(self.pool.vocabulary.verb_of[at])))
        kind = self.hand.draw("inner kind", (FIRST, LAST, WHOLE))
        found = self.make.indirect_action(
            at, self.make.object_reference(kind, relation, self.hand.number("inner wording"))
        )
        assert found, "the phrase names its object"
        return found
