"""Words of a proposal as they come together: each spelling of the files means one word of its kind."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from questree.vocabulary.write import toml_value

LOOK = "look at this: "  # begins the remark on a word that the rules are not sure of


@dataclass
class DraftWord:
    """A word of the proposal: its fields as the file has them, and remarks for whoever reads it."""

    id: str
    fields: dict[str, object]
    remarks: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)  # spellings in the files
    used: int = 0

    @property
    def name(self) -> str:
        return str(self.fields.get("phrase", self.fields.get("name")))

    def line(self) -> str:
        labels = [name for name in self.given if name != self.name]
        shown = {"id": self.id} | self.fields | ({"labels": labels} if labels else {})
        text = ", ".join(f"{name} = {toml_value(value)}" for name, value in shown.items())
        times = ["once" if self.used == 1 else f"{self.used:,} times"] * bool(self.used)
        notes = "; ".join([*times, *dict.fromkeys(self.remarks)])
        return f"  {{ {text} }},{f'  # {notes}' if notes else ''}"


class DraftWords(dict[str, DraftWord]):
    """All words of a kind by name; `meant` has their labels and ids as well."""

    def __init__(self) -> None:
        self.meant = dict[str, DraftWord]()

    def add(self, id: str, fields: Mapping[str, object], *remarks: str, key: str = "") -> DraftWord:
        """A new word, found by its name, or by `key` where another word of the name is counted first."""
        word = DraftWord(id, dict(fields), list(remarks))
        self[key or word.name] = word
        self.meant.setdefault(word.name, word)
        return word

    def use(self, word: DraftWord, given: str, times: int) -> DraftWord:
        if given and self.meant.setdefault(given, word) is word and given not in word.given:
            word.given.append(given)
        word.used += times
        return word

    def word(self, *spellings: str) -> DraftWord | None:
        return next((self.meant[spelling] for spelling in spellings if spelling in self.meant), None)

    def unused(self, name: str) -> str:
        """This name for a word of ours, or one like it where the files use it."""
        return name if name not in self.meant else self.unused(f"own {name}")


def numbered(prefix: str, taken: Iterable[str]) -> Iterator[str]:
    """o1, o2, ...; another prefix where the files have words of this form."""
    while any(re.fullmatch(rf"{prefix}\d+", word, re.IGNORECASE) for name in taken for word in re.split(r"\W|_", name)):
        prefix += "x"
    return (f"{prefix}{number}" for number in range(1, 1 << 30))
