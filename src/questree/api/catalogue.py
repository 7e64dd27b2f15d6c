"""Kinds of raw files and of exports by name; plugins add to them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from questree.faults import BadInput, Fault, refuse
from questree.formats.catalogue import EXPORTERS as EXPORTERS
from questree.formats.catalogue import Exporter as Exporter
from questree.sources.catalogue import SOURCES, Source, kind_of

__all__ = ["EXPORTERS", "SOURCES", "Exporter", "Source", "settings_of", "source_of"]


def source_of(name: str | None, folder: Path) -> tuple[str, Source]:
    """The kind of raw files that is named, or else told by their names."""
    kind = name or kind_of(folder)
    if kind not in SOURCES:
        raise BadInput.at("--source", f"expected a source, got {kind!r}; choose from {', '.join(SOURCES)}")
    return kind, SOURCES[kind]


def settings_of(source: Source, given: Iterable[str]) -> dict[str, Any]:
    """What texts NAME=VALUE say, as the values the reader takes; all faults at once."""
    import msgspec  # `questree --help` does without

    found, faults = dict[str, Any](), list[Fault]()
    known = ", ".join(source.settings)
    for each in given:
        name, sign, value = each.partition("=")
        setting = source.settings.get(name)
        if setting is None or not sign:
            wanted = "a setting" if setting is None else "NAME=VALUE"
            got = f"got {name!r}; choose from {known}" if known else f"got {name!r}; this source has none"
            faults.append(Fault("--set", f"expected {wanted}, {got}"))
            continue
        if name in found:
            faults.append(Fault(f"--set {name}", f"expected one value, got {value!r}, too"))
        try:
            found[name] = msgspec.convert(value, setting.kind, strict=False)
        except msgspec.ValidationError:
            found[name] = None
            faults.append(Fault(f"--set {name}", f"expected {setting.kind.__name__}, got {value!r}"))
    refuse(faults)
    return found
