"""A run folder: where each table of one piece of work lies."""

from collections.abc import Callable
from functools import lru_cache, wraps
from os import PathLike
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import msgspec
import polars as pl

from questree.extensions import require
from questree.faults import UNREADABLE, BadInput
from questree.places import path_of
from questree.tables.digests import digest
from questree.tables.facts import Facts, StoredFacts
from questree.tables.store import own_note
from questree.tables.table import Table
from questree.vocabulary.load import load
from questree.vocabulary.words import Vocabulary

P = ParamSpec("P")
T = TypeVar("T")
SCHEMA = 2  # of the tables; a change that older readers would misread makes it higher


def kept_while(
    *parts: str,
) -> Callable[[Callable[Concatenate[Path, P], T]], Callable[Concatenate[Path, P], T]]:
    """Keep what a function last gave for a folder, until one of these parts of the folder is written anew."""

    def keep(function: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
        @lru_cache(maxsize=1)
        def kept(folder: Path, state: object, /, *args: Any, **options: Any) -> T:
            return function(folder, *args, **options)

        @wraps(function)
        def asked(folder: Path, /, *args: P.args, **options: P.kwargs) -> T:
            state = tuple(written(folder / part) for part in parts)
            return kept(folder.absolute(), state, *args, **cast("dict[str, Any]", options))

        return asked

    return keep


def written(path: Path) -> tuple[int, int] | None:
    """Another pair whenever the file or folder is another: all of ours are renamed into place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


class Schema(msgspec.Struct, frozen=True):
    """What a run's lock file says about its tables, whatever else it says."""

    schema: int = SCHEMA


class Ledger(msgspec.Struct, frozen=True):
    """What the ledger of a run says about its facts, whatever else it says."""

    options: dict[str, Any] = {}


class Run:
    def __init__(self, folder: Path):
        self.folder = folder
        self.lock_file = folder / "lock.json"
        self.vocabulary_file = folder / "vocabulary.toml"
        self.raw = folder / "raw"
        self.facts = folder / "facts"
        self.truth = folder / "truth"
        self.images = folder / "images"
        self.questions = folder / "questions"
        self.balanced = folder / "balanced"
        self.imported = folder / "imported"
        self.decomposed = folder / "decomposed"
        self.hierarchies = folder / "hierarchies"
        self.predictions = folder / "predictions"
        self.covr = folder / "covr"
        self.ledger = folder / "ledger.json"
        self._check_schema()

    @classmethod
    def at(cls, folder: str | PathLike[str]) -> "Run":
        """One that is there already, at a path or a URL: whoever reads a run opens it here."""
        found = path_of(folder)
        if not found.is_dir():
            got = "a file" if found.is_file() else "nothing there"
            raise BadInput.at(found, f"expected a run folder, got {got}; make one with `questree build`")
        return cls(found)

    def require_plugins(self, questions: Path) -> None:
        """Those that the questions in this folder were made with, as the note beside them says."""
        note = questions / ("report.json" if questions == self.covr else "plan.json")
        found = own_note(note) if note.is_file() else {}
        require(dict(found.get("plugins", {})), questions)

    def _check_schema(self) -> None:
        try:
            found = msgspec.json.decode(self.lock_file.read_bytes(), type=Schema).schema
        except (OSError, *UNREADABLE):
            return  # not there yet; `verify` says what is wrong with it
        if found > SCHEMA:
            wanted = f"expected tables of schema {SCHEMA} or older, got {found}; upgrade questree"
            raise BadInput.at(self.folder, wanted)

    def vocabulary(self) -> Vocabulary:
        """The words; of facts made as released, every action is done to the object it names."""
        words = self.given_vocabulary()
        return words.as_released() if self._options_of_facts().get("as_released") else words

    def _options_of_facts(self) -> dict[str, Any]:
        if not self.ledger.is_file():
            return {}
        try:
            return msgspec.json.decode(self.ledger.read_bytes(), type=Ledger).options
        except UNREADABLE as error:
            raise BadInput.at(self.ledger, f"not a ledger ({error})") from error

    def given_vocabulary(self) -> Vocabulary:
        """The words as they were given."""
        if not self.vocabulary_file.is_file():
            raise BadInput.at(
                self.folder, "not a run folder: it has no vocabulary.toml; make one with `questree ingest`"
            )
        return load(self.vocabulary_file)

    def load(self, stage: str) -> Facts:
        """The facts of a stage: raw, facts or truth."""
        self.vocabulary()
        return Facts.load(self._there(stage))

    def stored(self, stage: str) -> StoredFacts:
        """The same where they lie, for whoever looks at some videos of many."""
        self.vocabulary()
        return StoredFacts.of(self._there(stage))

    def table(self, stage: str, table: Table) -> pl.DataFrame:
        """One table of a stage."""
        return table.read(self._there(stage))

    def _there(self, stage: str) -> Path:
        folder: Path = getattr(self, stage)
        if not folder.is_dir():
            made_by = {"raw": "questree ingest", "facts": "questree augment", "truth": "questree ingest"}[stage]
            raise BadInput.at(folder, f"not there yet; `{made_by}` writes it")
        return folder

    def has_facts(self) -> bool:
        """Is anything known about any video but its name? Questions may be imported without."""
        return StoredFacts.of(self._there("facts")).told

    def facts_digest(self) -> str:
        """Of the cleaned facts and the words they are written in."""
        return digest(self.vocabulary_file, *sorted(self._there("facts").glob("*.parquet")))

    def questions_digest(self) -> str:
        """Of how the questions about videos were made."""
        return digest(self.questions / "plan.json")

    def selection_digest(self) -> str:
        """Of the balanced selection of these."""
        return digest(*sorted(self.balanced.glob("*.parquet")))

    def made_of(self, chosen: bool) -> dict[str, str]:
        """For the note of what is made of the questions, or of the balanced selection, that there are now."""
        return {"questions": self.questions_digest()} | ({"selection": self.selection_digest()} if chosen else {})

    def refuse_stale(self, note: Path, command: str) -> None:
        """What was made of others; what says nothing of it, as what was imported or written by hand, is believed."""
        said, here = own_note(note) if note.is_file() else {}, {"questions": self.questions, "selection": self.balanced}
        others = {"questions": "other questions than there are", "selection": "another selection than there is"}
        now = self.made_of(here["selection"].is_dir()) if here["questions"].is_dir() else {}
        for name in (name for name in now if said.get(name, now[name]) != now[name]):
            raise BadInput.at(note.parent, f"made of {others[name]} now; run `questree {command}` again")

    def newest(self) -> Facts | None:
        """The facts after augmentation, or else as read; None if there are none."""
        return next((self.load(stage) for stage in ("facts", "raw") if getattr(self, stage).is_dir()), None)
