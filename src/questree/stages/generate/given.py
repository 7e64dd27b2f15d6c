"""Templates from outside the package: read from a TOML file or given by a plugin, and checked before anything runs."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any, TypeVar

import msgspec

from questree.benchmarks.agqa import templates as t
from questree.benchmarks.agqa.editions import SECOND
from questree.benchmarks.agqa.frames import faults as wrong_wordings
from questree.extensions import wrong
from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.stages.generate.rules import RULES, look
from questree.terms import ACTION, OBJECT, RELATION, Node, ProgramError, Word, slots, walk

SLOTS = {  # the names a slot may have, with their kinds
    "relation": RELATION.name,
    "time": "window",
    **dict.fromkeys(("object", "first", "second"), OBJECT.name),
    **dict.fromkeys(("a", "b"), ACTION.name),
}
GROUPS = (t.CONTACT, t.SPATIAL, t.VERB)
NAMED = (t.DIRECT, t.LONGEST, t.SHORTEST)  # indirect objects of actions come with the second pass
RANGES = {"times": t.TIMES, "relations": GROUPS, "objects": t.REFERENCES, "actions": NAMED, "bans": tuple(t.BANS)}
MOST = 200  # templates of a run: what the tables have numbers for
TAKEN = "name: expected a new one, got one that is taken"


class GivenName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of any template."""

    name: str
    program: str
    wordings: tuple[str, ...]


Given = TypeVar("Given", bound=GivenName)
Made = TypeVar("Made")


class GivenTemplate(GivenName, frozen=True, forbid_unknown_fields=True):
    """A template of videos as a file says it."""

    group: str
    key: str
    rules: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    every_relation: bool = False
    objects: tuple[str, ...] = ()
    every_object: bool = False
    actions: tuple[str, ...] = ()
    every_action: bool = False
    second_pass: bool = False
    bans: tuple[str, ...] = ()

    def template(self) -> t.Template:
        said = msgspec.structs.asdict(self)
        return t.Template(local=said.pop("key"), **said)


def read(files: Iterable[Path]) -> tuple[t.Template, ...]:
    return read_files(files, GivenTemplate, GivenTemplate.template, {*SECOND.codes, *t.ADDED}, check)


def read_files(
    files: Iterable[Path],
    form: type[Given],
    make: Callable[[Given], Made],
    taken: Collection[str],
    check: Callable[[Made], Iterator[str]],
) -> tuple[Made, ...]:
    """The templates of TOML files, of either medium; the faults of all of them at once."""
    found, faults = dict[str, Made](), list[Fault]()
    for file in files:
        for at, raw in enumerate(tables(file), 1):
            place = f"{file}, template {raw.get('name', at) if isinstance(raw, dict) else at}"
            try:
                given = msgspec.convert(raw, form)
            except msgspec.ValidationError as error:
                known = f"; choose from {', '.join(form.__struct_fields__)}" if "unknown field" in str(error) else ""
                faults.append(Fault(place, f"{error}{known}"))
                continue
            template, name = make(given), given.name
            messages = [TAKEN] * (name in taken or name in found)
            faults += [Fault(place, message) for message in (*messages, *check(template))]
            found[name] = template
    refuse(faults)
    return tuple(found.values())


def tables(file: Path) -> list[Any]:
    try:
        found = msgspec.toml.decode(file.read_bytes())
    except OSError as error:
        raise BadInput.at(file, f"cannot be read ({error.strerror})") from error
    except UNREADABLE as error:
        raise BadInput.at(file, f"expected TOML, got something else ({error})") from error
    tables = found.get("template")
    if not isinstance(tables, list) or not tables or len(found) > 1:
        raise BadInput.at(file, f"expected tables [[template]] and nothing else, got {', '.join(found) or 'nothing'}")
    return tables


def add(template: t.Template) -> t.Template:
    """Register a template of a plugin: it is asked in every run that is generated with the plugin."""
    faults = [*[TAKEN] * (template.name in {*SECOND.codes, *t.ADDED}), *check(template)]
    if faults:
        raise BadInput([fault for message in faults for fault in wrong("template", template.name, message).faults])
    return t.ADDED.add(template.name, replace(template))


def check(template: t.Template) -> Iterator[str]:
    """What is wrong with a template."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", template.name):
        yield f"name: expected letters and digits, got {template.name!r}"
    try:
        node = template.node
    except (ProgramError, BadInput) as error:
        yield f"program: {error}"
        return
    messages = [*_program(node), *_slots(template)]
    yield from messages
    if messages:  # what follows reads the slots
        return
    yield from _ranges(template)
    yield from _rules(template)
    for where, message in wrong_wordings("", template.wordings, template.kinds, "wording"):
        yield f"{where or 'wordings'}: {message}"
    if not template.wordings:
        yield "wordings: expected at least one, got none"
    for field in _fields(template.local):
        if field not in template.kinds:
            yield f"key: expected slots of the program, got {field}; choose from {', '.join(template.kinds)}"
    if not template.local or not template.group:
        yield f"group and key: expected both, got {template.group!r} and {template.local!r}"


def _program(node: Node) -> Iterator[str]:
    if not (node.kind.askable or node.kind.yes):
        yield f"program: expected a question, got a program of kind {node.kind.name}"
    for term in walk(node):
        if isinstance(term, Word):
            yield f"program: expected slots for words, got the word {term.name!r}"


def _slots(template: t.Template) -> Iterator[str]:
    sides: dict[int, str] = {}
    for name, slot in slots(template.node).items():
        if SLOTS.get(name) != slot.kind.name:
            fitting = [f"${known}" for known, kind in SLOTS.items() if kind == slot.kind.name]
            yield f"slot ${name}: expected a name for a slot of kind {slot.kind.name}; choose from {', '.join(fitting)}"
        elif name in t.SIDES and sides.setdefault(t.SIDES[name], name) != name:
            other = sides[t.SIDES[name]]
            yield f"slot ${name}: expected one of ${other} and ${name}, got both; a second one is $second or $b"


def _fields(text: str) -> list[str]:
    try:
        return [field for _, field, _, _ in Formatter().parse(text) if field is not None]
    except ValueError:
        return [text]


def _ranges(template: t.Template) -> Iterator[str]:
    """Every slot has its range, every range its slot."""
    for field, choices in RANGES.items():
        for value in getattr(template, field):
            if value not in choices:
                yield f"{field}: expected one of {', '.join(choices)}, got {value!r}"
    count = [*template.kinds.values()].count
    for kind, field, every in (
        ("window", "times", ""),
        (RELATION.name, "relations", ""),
        (OBJECT.name, "objects", "every_object"),
        (ACTION.name, "actions", "every_action"),
    ):
        given = bool(getattr(template, field)) + bool(every and getattr(template, every))
        either = f"{field} or {every}" if every else field
        if count(kind) and given != 1:
            yield f"{either}: expected {'one of them' if every else 'some'} for the slot of kind {kind}, got {given}"
        if not count(kind) and given:
            yield f"{either}: expected none without a slot of kind {kind}, got some"
    if (template.every_object or template.every_action) and len(template.sides) != 1:
        yield f"every_object, every_action: expected one slot for objects and actions, got {len(template.sides)}"
    if template.every_relation and "relation" not in template.kinds:
        yield "every_relation: expected a slot $relation, got none"
    if template.second_pass and not ("time" in template.kinds or template.actions):
        yield "second_pass: expected a slot $time or actions, got neither"


def _rules(template: t.Template) -> Iterator[str]:
    for name in template.rules:
        if name not in RULES:
            yield f"rule {name!r}: expected a rule of generation; choose from {', '.join(RULES)}"
        elif look(template, name) is None:
            wanted = " or ".join(repr(way.needs) for way in RULES[name])
            yield f"rule {name!r}: expected a template with {wanted}, got {' '.join(sorted(template.features))}"
    if len({*template.rules}) < len(template.rules):
        yield "rules: expected each once, got one twice"
