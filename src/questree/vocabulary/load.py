"""Reading a vocabulary from its TOML file; the one we ship is AGQA's."""

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from questree.faults import BadInput, Fault, refuse
from questree.vocabulary.check import check
from questree.vocabulary.words import Action, HeldOutWords, Lists, Object, Relation, Vocabulary

WORDS: dict[str, type[msgspec.Struct]] = {"objects": Object, "relations": Relation, "actions": Action}
LISTS: dict[str, type[msgspec.Struct]] = {"lists": Lists, "held_out": HeldOutWords}
BYTE_ORDER_MARK = "\ufeff"  # some editors put it before the text


@lru_cache(maxsize=4)  # a command asks several times, and of thousands of words it takes most of a second
def parse(text: bytes | str, place: Path | str) -> Vocabulary:
    try:
        plain = text if isinstance(text, str) else text.decode("utf-8")
        raw = msgspec.toml.decode(plain.removeprefix(BYTE_ORDER_MARK))
    except RecursionError:
        raise BadInput.at(place, "nested too deeply to be read") from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise BadInput.at(place, f"not TOML: {error}") from error
    refuse(list(_misshapen(raw, str(place))))
    vocabulary = msgspec.convert(raw, Vocabulary)
    refuse(check(vocabulary, str(place)))
    return vocabulary


def _misshapen(raw: dict[str, Any], place: str) -> Iterator[Fault]:
    """Missing, unknown or wrongly typed fields: every word and every list on its own, then the file as a whole."""
    rest = dict(raw)
    for kind, shape in WORDS.items():
        if isinstance(raw.get(kind), list):
            rest[kind] = []
            for number, word in enumerate(raw[kind], 1):
                yield from _not_a(shape, word, f"{place}, {kind} number {number}")
    for table, lists in LISTS.items():
        if isinstance(raw.get(table), dict):
            rest[table] = {}
            for name, entries in raw[table].items():
                yield from _not_a(lists, {name: entries}, f"{place}, {table}")
    for name in (each.name for each in msgspec.structs.fields(Vocabulary) if each.required):
        if name not in raw:
            yield Fault(place, f"missing required field `{name}`")
            rest[name] = [] if name in WORDS else ""
    yield from _not_a(Vocabulary, rest, place)


def _not_a(shape: type[msgspec.Struct], value: object, place: str) -> Iterator[Fault]:
    try:
        msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        choices = f" (fields are {', '.join(shape.__struct_fields__)})" if "unknown field" in str(error) else ""
        yield Fault(place, str(error).removeprefix("Object ") + choices)


def load(path: Path) -> Vocabulary:
    try:
        return parse(path.read_bytes(), path)
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror})") from error


def default_text() -> str:
    return resources.files("questree.vocabulary").joinpath("agqa.toml").read_text("utf-8")


@cache
def default() -> Vocabulary:
    return parse(default_text(), "agqa.toml")
