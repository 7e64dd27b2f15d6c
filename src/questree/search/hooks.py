"""Somebody's own scores: a Python function named as module:function, or a file of records."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from questree.faults import BadInput, Fault, refuse
from questree.tables.store import content

Record = TypeVar("Record", bound=msgspec.Struct)


def function(place: str) -> Callable[..., Any]:
    """The function that a "module:function" names; modules of the current folder are found too."""
    module, _, name = place.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # whatever somebody's module does while it is imported
        why = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise BadInput.at(
            place, f"neither a file nor a function of a module ({why}); expected module:function"
        ) from error
    if not callable(found):
        raise BadInput.at(place, f"{name!r} of {module} is not a function")
    return found  # type: ignore[no-any-return]


def records(path: Path, kind: type[Record]) -> list[Record]:
    """The records of a JSON list, all faults at once."""
    fields = ", ".join(field.name for field in msgspec.structs.fields(kind))
    try:
        given = msgspec.json.decode(content(path), type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput.at(path, f"expected a list of {{{fields}}}; {error}") from error
    found, faults = list[Record](), list[Fault]()
    for at, raw in enumerate(given):
        try:
            found.append(msgspec.json.decode(raw, type=kind))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            faults.append(Fault(f"{path}, record {at}", f"expected {{{fields}}}; {error}"))
    refuse(faults)
    return found
