"""The editions of AGQA: which templates are asked under which rules, and how things may be referred to."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec

from questree.benchmarks.agqa import templates as t
from questree.domains.video import Videos, videos
from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary

PAIR = "objRelExists"  # was this done to that?
MANY_STEPS = 255  # as good as no limit: all that the column of steps holds


@dataclass(frozen=True)
class Edition:
    name: str
    shipped: tuple[t.Template, ...]  # in the order they are asked
    most_steps: int
    relation_references: bool = False  # a relation may be named by what was done first to an object
    timed_references: bool = False  # an object reference may have a time of its own
    one_pass: bool = False  # actions whose object is a reference stand wherever others do, not in a second pass
    every_localised: bool = False  # in times also the actions that the vocabulary lets stand in none
    places_named: bool = False  # a reference may stand for the place or tool of an action
    lasting_verbs: tuple[str, ...] = ()  # no transitions: how long their actions took is asked
    unbanned_objects: tuple[str, ...] = ()  # asked in spite of the vocabulary's ban on object existence
    added: tuple[t.Template, ...] = ()  # from outside: asked after the shipped ones, numbered after them
    only_added: bool = False
    released_between: bool = False  # between two actions begins after the first one's last instance, as released

    @property
    def templates(self) -> tuple[t.Template, ...]:
        """In the order they are asked."""
        return self.added if self.only_added else self.shipped + self.added

    @cached_property
    def by_code(self) -> tuple[t.Template, ...]:
        """The templates as the tables number them, the same in every edition; one that is not asked stands there all
        the same."""
        own = {template.name: template for template in self.shipped}
        return (*(own.get(template.name, template) for template in (*t.TEMPLATES, t.ACT_EXISTS)), *self.added)

    @property
    def decomposed(self) -> bool:
        """Has every question a DAG?"""
        return not (self.relation_references or self.timed_references)

    def read(self, facts: Facts, vocabulary: Vocabulary) -> Videos:
        """The facts, with times as its questions mean them: whoever answers these, or shows them, reads them here."""
        return videos(facts, vocabulary, released_between=self.released_between)

    @cached_property
    def codes(self) -> dict[str, int]:
        return {template.name: code for code, template in enumerate(self.by_code)}


def first_rules(template: t.Template) -> Iterator[str]:
    """Its rules as they were: a relation reference is not about the object asked, a choice need not be decided by the
    window's first object, nor that something is first or last by several objects; what the time's action is done to may
    be in a pair or a choice if the action does not say the answer; and when an object was touched is asked of every
    object where its entries, seen or not, are on one side too, as the printed program says."""
    choice, when = template.categories.structural == "choose", "object_order" in template.operators
    left = {t.UNDECIDED, *[t.ONE_CHOICE] * ("equals" in template.operators), *[t.BANNED_OBJECT] * when}
    more = {t.SAME_RELATION: t.ABOUT_OBJECT, t.TIME_ANSWER: t.ABOUT_ANSWER} if template.relations else {}
    more |= {t.NO_ANSWER: t.ENTERED} if when else {}
    instead = {t.TIME_OBJECT: t.TIME_SAYS} if choice or template.name == PAIR else {}
    for rule in template.rules:
        yield from (instead.get(each, each) for each in (rule, more.get(rule)) if each and each not in left)


def first_edition(template: t.Template) -> t.Template:
    """A template as it was: a pair is asked of places, too, actions go by their own frames, whatever is seen of their
    verb and object, and all names of actions are used at once."""
    first = replace(
        template,
        rules=tuple(first_rules(template)),
        relations=t.CVS if template.name == PAIR else template.relations,
        program=template.program.replace("action_order", "instance_order"),
        actions=t.ACTION_REFERENCES if t.LONGEST in template.actions else template.actions,
        second_pass=False,
    )
    return in_times(first) if template.group == "length" and template.actions else first


def in_times(template: t.Template) -> t.Template:
    """Which of two actions took longer, asked of any time but their own, which opens the question."""
    program = re.sub(r"(longer|shorter)\((.*?)\)", r"\1_in(\2, $time)", template.program)
    wordings = tuple(f"{{Time}}, {text[0].lower()}{text[1:]}" for text in template.wordings)
    return replace(template, program=program, times=t.T5, rules=(t.TIME_ACTION, *template.rules), wordings=wordings)


def with_action_existence(asked: tuple[t.Template, ...], exists: t.Template) -> tuple[t.Template, ...]:
    """It was asked after the other questions whether anything of a kind exists at all."""
    at = max(at for at, template in enumerate(asked) if template.every_relation) + 1
    return (*asked[:at], exists, *asked[at:])


SECOND = Edition("2.0", t.TEMPLATES, most_steps=t.MOST_STEPS)
*_asked, _exists = t.said((*t.ASKED, t.ASKED_FIRST), "1.0")
FIRST = Edition(
    "1.0",
    with_action_existence(tuple(map(first_edition, _asked)), _exists),
    most_steps=MANY_STEPS,
    relation_references=True,
    timed_references=True,
    one_pass=True,
    every_localised=True,
    places_named=True,
    lasting_verbs=("opening",),
    unbanned_objects=("doorway",),
)
EDITIONS = {edition.name: edition for edition in (SECOND, FIRST)}


def edition_of(options: Mapping[str, Any]) -> Edition:
    """The edition a run's questions were generated with, and the templates that were given beside the shipped ones."""
    added = msgspec.convert(options.get("templates", ()), tuple[t.Template, ...])
    known = EDITIONS[options.get("edition", SECOND.name)]
    known = replace(known, released_between=True) if options.get("as_released") else known
    return replace(known, added=added, only_added=options.get("only_templates", False)) if added else known
