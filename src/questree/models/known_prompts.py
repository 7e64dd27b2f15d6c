"""Which question of a run a prompt asks, and about what: known texts are found in it, scopes by several signs."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from questree.faults import BadInput

Ids = frozenset[str]  # of a scope: one video, or the images of a set
LINE = re.compile(r"^\W*(?:video|videos|image|images|scope)\s*:\s*(\S.*?)\s*$", re.IGNORECASE | re.MULTILINE)
BEGIN = re.compile(r"(?<!\w)\w|(?<!\S)\S")  # of a word
MOST = 20_000  # letters of a prompt that are looked at, the last ones
HINT = "say it in the header X-Questree-Scope, in metadata.scope or in a line `Video: ID` or `Images: ID, ID`"


class KnownQuestion(NamedTuple):
    id: str
    text: str


@dataclass(frozen=True)
class Signs:
    """What a request says about its scope."""

    named: str = ""  # outright
    perhaps: str = ""  # a field that others may use for something else
    texts: tuple[str, ...] = ()  # of all messages, the last first
    owners: tuple[Ids, ...] = ()  # per picture that was recognised: the videos or images it may be of


@dataclass
class KnownPrompts:
    """Questions by text and scope."""

    of_images: bool = False
    scopes: dict[str, dict[Ids, KnownQuestion]] = field(default_factory=dict)  # plain text -> scope -> question
    known: set[Ids] = field(default_factory=set)
    ends: set[str] = field(default_factory=set)  # last letters of texts
    longest: int = 0  # letters of a text

    @classmethod
    def of(cls, questions: pl.DataFrame) -> "KnownPrompts":
        """Columns id, scope (an id, or a list of ids), question."""
        found = cls(of_images=questions.schema["scope"] != pl.String)
        for id, scope, text in questions.select("id", "scope", "question").iter_rows():
            ids = frozenset([scope] if isinstance(scope, str) else scope)
            key = plain(text)
            found.scopes.setdefault(key, {}).setdefault(ids, KnownQuestion(id, text))
            found.known.add(ids)
            found.ends.add(key[-1:])
            found.longest = max(found.longest, len(key))
        return found

    @property
    def ids(self) -> Ids:
        return frozenset[str]().union(*self.known)

    def find(self, text: str, signs: Signs) -> KnownQuestion:
        """The last question that stands in a text."""
        key = self.question(text)
        if key is None:
            raise BadInput.at("messages", f"expected a question of the run, got none in {short(text)!r}")
        among = self.scopes[key]
        scope = self.scope(among, signs)
        if scope is None:
            what = "sets of images" if self.of_images else "videos"
            raise BadInput.at("messages", f"{short(key)!r} is asked about {len(among):,} {what}; {HINT}")
        return among[scope]

    def question(self, text: str) -> str | None:
        """The last known text in a prompt; of several that end there the longest, whole words only."""
        prompt = plain(text[-MOST:])
        begins = [found.start() for found in BEGIN.finditer(prompt)]
        for end in range(len(prompt), 0, -1):
            whole = end == len(prompt) or not (prompt[end - 1].isalnum() and prompt[end].isalnum())
            if prompt[end - 1] in self.ends and whole:
                for begin in begins[bisect_left(begins, end - self.longest) : bisect_left(begins, end)]:
                    if prompt[begin:end] in self.scopes:
                        return prompt[begin:end]
        return None

    def scope(self, among: Mapping[Ids, KnownQuestion], signs: Signs) -> Ids | None:
        """The first sign that tells; a question that is asked about one thing needs none."""
        if signs.named:
            found = self.named(signs.named)
            if found is None or found not in among:
                kind = "none of the run" if found is None else "one it is not asked about"
                raise BadInput.at("scope", f"expected one of the question's, got {signs.named!r}, {kind}")
            return found
        lines = (line for text in signs.texts for line in LINE.findall(text))
        for name in (signs.perhaps, *lines):
            found = self.named(name)
            if found in among:
                return found
        if signs.owners:
            fitting = [scope for scope in among if self.fits(scope, signs.owners)]
            if len(fitting) == 1:
                return fitting[0]
        return next(iter(among)) if len(among) == 1 else None

    def named(self, name: str) -> Ids | None:
        """An id, or several with commas between them."""
        for ids in (frozenset([name.strip()]), frozenset(part for each in name.split(",") if (part := each.strip()))):
            if ids in self.known:
                return ids
        return None

    def fits(self, scope: Ids, owners: Iterable[Ids]) -> bool:
        """Is every picture one of the scope? Of a set of images all must be there, of a video some frames."""
        every = list(owners)
        seen = frozenset[str]().union(*every)
        return all(own & scope for own in every) and (not self.of_images or scope <= seen)


def plain(text: str) -> str:
    """As it is compared: without case and line breaks."""
    return " ".join(text.casefold().split())


def short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
