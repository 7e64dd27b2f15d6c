"""A vocabulary as the file that is read again, one line per word."""

import json
from typing import Any

import msgspec

from questree.vocabulary.words import Vocabulary

KINDS = ("objects", "relations", "actions")


def vocabulary_text(vocabulary: Vocabulary) -> str:
    """TOML; what has its default is left out."""
    plain = [field for field in msgspec.structs.fields(Vocabulary) if field.type is str]  # its name, ids of some words
    said = {field.name: getattr(vocabulary, field.name) for field in plain}
    lines = [f"{field.name} = {toml_value(said[field.name])}" for field in plain if said[field.name] != field.default]
    for kind in KINDS:
        lines += ["", f"{kind} = [", *(f"  {_inline(word)}," for word in getattr(vocabulary, kind)), "]"]
    given, held = ({} if of is None else _given(of) for of in (vocabulary.lists, vocabulary.held_out))
    for title, table in (("lists", given), ("entailments", vocabulary.entailments), ("held_out", held)):
        if table:
            lines += ["", f"[{title}]", *(f"{toml_value(name)} = {toml_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _inline(word: msgspec.Struct) -> str:
    """{ id = "o4", name = "blanket", article = "a" }"""
    return "{ " + ", ".join(f"{name} = {toml_value(value)}" for name, value in _given(word).items()) + " }"


def _given(of: msgspec.Struct) -> dict[str, Any]:
    needed = {field.name for field in msgspec.structs.fields(of) if field.required}
    return {name: value for name, value in msgspec.structs.asdict(of).items() if value or name in needed}


def toml_value(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
