"""The editions of AGQA: which templates are asked under which rules, and how things may be referred to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec

from questree.benchmarks.agqa import templates as t

MANY_STEPS = 255  # as good as no limit: all that the column of steps holds


@dataclass(frozen=True)
class Edition:
    name: str
    shipped: tuple[t.Template, ...]  # in the order they are asked
    most_steps: int
    relation_references: bool = False  # a relation may be named by what was done first to an object
    timed_references: bool = False  # an object reference may have a time of its own
    one_pass: bool = False  # actions whose object is a reference stand wherever others do, not in a second pass
    unbanned_objects: tuple[str, ...] = ()  # asked in spite of the vocabulary's ban on object existence
    added: tuple[t.Template, ...] = ()  # from outside: asked after the shipped ones, numbered after them
    only_added: bool = False

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

    @cached_property
    def codes(self) -> dict[str, int]:
        return {template.name: code for code, template in enumerate(self.by_code)}


def first_edition(template: t.Template) -> t.Template:
    """A template as it was: a relation reference is not about the object asked, a choice need not be decided by the
    window's first object, nor that something is first or last by several objects, actions go by their own frames,
    whatever is seen of their verb and object, all names of actions are used at once, and when an object was touched is
    asked where its entries, seen or not, are on one side too, as the printed program says."""
    more = {t.SAME_RELATION: t.ABOUT_OBJECT, t.TIME_ANSWER: t.ABOUT_ANSWER} if template.relations else {}
    left = {t.UNDECIDED, *([t.ONE_CHOICE] if "equals" in template.operators else [])}
    rules = tuple(rule for old in template.rules for rule in (old, more.get(old)) if rule and rule not in left)
    if "object_order" in template.operators:
        rules = tuple(rule for old in rules for rule in (old, *[t.ENTERED] * (old == t.NO_ANSWER)))
    program = template.program.replace("action_order", "instance_order")
    actions = t.ACTION_REFERENCES if t.LONGEST in template.actions else template.actions
    return replace(template, rules=rules, program=program, actions=actions, second_pass=False)


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
    unbanned_objects=("doorway",),
)
EDITIONS = {edition.name: edition for edition in (SECOND, FIRST)}


def edition_of(options: Mapping[str, Any]) -> Edition:
    """The edition a run's questions were generated with, and the templates that were given beside the shipped ones."""
    added = msgspec.convert(options.get("templates", ()), tuple[t.Template, ...])
    known = EDITIONS[options.get("edition", SECOND.name)]
    return replace(known, added=added, only_added=options.get("only_templates", False)) if added else known
