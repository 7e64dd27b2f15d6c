"""The book of a run: one SQLite file with tasks, items, who answers them, and every answer."""

import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from questree.faults import BadInput
from questree.people.task import Task
from questree.places import changed
from questree.tables.run import Run

FILE = "people.sqlite"
VERSION = 1
DAMAGED = (sqlite3.Error, UnicodeDecodeError, msgspec.MsgspecError)  # what reading a file with other bytes raises
EVERYBODY = 1 << 30  # room of an item that is put to everybody
Role = Literal["qualification", "asked", "gold", "confirm"]
Kind = Literal["person", "bot", "imported"]
SCHEMA = """
CREATE TABLE task (name TEXT PRIMARY KEY, task TEXT NOT NULL, options TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE annotator (
    annotator INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT NOT NULL UNIQUE, kind TEXT NOT NULL);
CREATE TABLE item (
    task TEXT NOT NULL, item INTEGER NOT NULL, rank INTEGER NOT NULL, role TEXT NOT NULL, id TEXT NOT NULL,
    scope TEXT NOT NULL, text TEXT NOT NULL, answer TEXT, shown TEXT NOT NULL, truth TEXT, why TEXT NOT NULL,
    type TEXT NOT NULL, template TEXT NOT NULL, split TEXT NOT NULL, author INTEGER, room INTEGER NOT NULL,
    PRIMARY KEY (task, item)) WITHOUT ROWID;
CREATE INDEX item_open ON item (task, rank) WHERE room > 0;
CREATE TABLE place (
    task TEXT NOT NULL, annotator INTEGER NOT NULL, cursor INTEGER NOT NULL DEFAULT -1, item INTEGER, again INTEGER,
    since REAL NOT NULL DEFAULT 0, away INTEGER NOT NULL DEFAULT 0, begun INTEGER NOT NULL DEFAULT 0,
    answered INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (task, annotator)) WITHOUT ROWID;
CREATE TABLE answer (
    task TEXT NOT NULL, item INTEGER NOT NULL, annotator INTEGER NOT NULL, reply TEXT NOT NULL, first TEXT NOT NULL,
    tries INTEGER NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL, serial INTEGER NOT NULL,
    PRIMARY KEY (task, item, annotator)) WITHOUT ROWID;
CREATE INDEX answer_order ON answer (task, annotator, serial);
"""


class Item(NamedTuple):
    """One thing to be asked; fields as the columns of its table."""

    item: int
    rank: int
    role: Role
    id: str  # of the question, the node or the video
    scope: list[str]  # ids of the video or of the images
    text: str
    answer: str | None  # the benchmark's
    shown: dict[str, Any]  # what is shown beside: answer, answers, options, objects, paraphrase
    truth: str | None = None  # value of a reply that fits the benchmark, if there is one
    why: str = ""
    type: str = ""
    template: str = ""
    split: str = ""
    author: int | None = None
    room: int = 0


class TaskOptions(msgspec.Struct, frozen=True):
    """How the items of a task were drawn."""

    benchmark: str
    votes: int
    seed: int = 0
    asked: int = 0
    gold: int = 0
    qualification: int = 0
    drawn: dict[str, Any] = {}
    models: tuple[str, ...] = ()


class Annotator(NamedTuple):
    annotator: int
    name: str
    token: str
    kind: Kind


class Book:
    """All that is kept is kept by the time a method returns."""

    def __init__(self, run: Run):
        self.path = run.folder / FILE

    @classmethod
    def of(cls, run: Run) -> "Book":
        """The book of a run that has one."""
        found = cls(run)
        if not found.path.is_file():
            raise BadInput.at(run.folder, "nobody is asked anything here yet; `questree people new` makes a task")
        return found

    def held(self) -> sqlite3.Connection:
        """Kept by whoever asks again and again: when the last connection is closed, SQLite tidies up its log."""
        self.tasks()
        made = sqlite3.connect(self.path, check_same_thread=False)
        made.execute("SELECT count(*) FROM task").fetchone()
        return made

    @contextmanager
    def reading(self, file: Path | None = None) -> Iterator[sqlite3.Connection]:
        made = None
        try:
            made = sqlite3.connect(file or self.path, timeout=30, isolation_level=None)
            version = made.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, VERSION):
                raise BadInput.at(self.path, f"expected version {VERSION}, got {version}; upgrade questree")
            yield made
        except DAMAGED as error:
            raise BadInput.at(self.path, f"cannot be used ({error})") from error
        finally:
            if made is not None:
                made.close()

    @contextmanager
    def writing(self, told: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing. What is `told` to be kept is on the disk by then, power cut or not."""
        with changed(self.path) as file, _whole_or_none(file), self.reading(file) as made:
            made.execute("PRAGMA journal_mode = WAL")
            made.execute(f"PRAGMA synchronous = {'FULL' if told else 'NORMAL'}")
            made.execute("BEGIN IMMEDIATE")
            try:
                if made.execute("PRAGMA user_version").fetchone()[0] == 0:
                    for statement in SCHEMA.split(";\n"):
                        made.execute(statement)
                    made.execute(f"PRAGMA user_version = {VERSION}")
                yield made
            except BaseException:
                if made.in_transaction:  # SQLite ends it itself where the disk is full
                    made.execute("ROLLBACK")
                raise
            made.execute("COMMIT")

    def add_task(self, name: str, task: Task, options: TaskOptions, items: Iterable[Item]) -> None:
        with self.writing() as made:
            if made.execute("SELECT 1 FROM task WHERE name = ?", (name,)).fetchone():
                wanted = "choose another --name, or take it away with `questree people remove`"
                raise BadInput.at(self.path, f"there is a task {name!r} already; {wanted}")
            made.execute("INSERT INTO task VALUES (?, ?, ?)", (name, as_json(task), as_json(options)))
            made.executemany(f"INSERT INTO item VALUES ({', '.join('?' * 16)})", (row_of(name, one) for one in items))

    def remove_task(self, name: str) -> int:
        """The answers that go with it."""
        self.task(name)
        with self.writing() as made:
            count: int = made.execute("SELECT count(*) FROM answer WHERE task = ?", (name,)).fetchone()[0]
            for table, column in (("answer", "task"), ("place", "task"), ("item", "task"), ("task", "name")):
                made.execute(f"DELETE FROM {table} WHERE {column} = ?", (name,))
        return count

    def tasks(self) -> dict[str, tuple[Task, TaskOptions]]:
        with self.reading() as made:
            rows = made.execute("SELECT name, task, options FROM task ORDER BY name")
            return {name: (as_read(task, Task), as_read(options, TaskOptions)) for name, task, options in rows}

    def task(self, name: str) -> tuple[Task, TaskOptions]:
        there = self.tasks()
        if name not in there:
            known = f"choose from {', '.join(there)}" if there else "`questree people new` makes one"
            raise BadInput.at(self.path, f"expected a task, got {name!r}; {known}")
        return there[name]

    def add_annotators(self, names: Iterable[str], kind: Kind = "person") -> list[Annotator]:
        """Those with these names; new ones get a link of their own."""
        wanted = list(dict.fromkeys(names))
        with self.writing() as made:
            rows = ((name, secrets.token_urlsafe(18), kind) for name in wanted)
            made.executemany("INSERT OR IGNORE INTO annotator (name, token, kind) VALUES (?, ?, ?)", rows)
        return [one for one in self.annotators() if one.name in wanted]

    def annotators(self) -> list[Annotator]:
        with self.reading() as made:
            return [Annotator(*row) for row in made.execute("SELECT * FROM annotator ORDER BY annotator")]

    def annotator(self, token: str) -> Annotator | None:
        with self.reading() as made:
            row = made.execute("SELECT * FROM annotator WHERE token = ?", (token,)).fetchone()
        return Annotator(*row) if row else None

    def items(self, task: str) -> list[Item]:
        with self.reading() as made:
            return [item_of(row) for row in made.execute("SELECT * FROM item WHERE task = ? ORDER BY item", (task,))]


@contextmanager
def _whole_or_none(file: Path) -> Iterator[None]:
    """A new book in which nothing was written, as on a full disk, goes again; unless somebody else began one."""
    new, log = not file.exists(), file.with_name(f"{file.name}-wal")
    try:
        yield
    except BaseException:
        if new and file.is_file() and not any(_version(file)) and not (log.is_file() and log.stat().st_size):
            for part in (file, log, file.with_name(f"{file.name}-shm")):
                part.unlink(missing_ok=True)
        raise


def _version(file: Path) -> bytes:
    """`PRAGMA user_version`, where SQLite has no room even to read it."""
    with file.open("rb") as book:
        return book.read(64)[60:]


def as_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def as_read(text: str, kind: Any) -> Any:
    if not isinstance(text, str):
        raise msgspec.DecodeError("a text is missing")
    return msgspec.json.decode(text, type=kind)


def row_of(task: str, item: Item) -> tuple[Any, ...]:
    return (task, *item._replace(scope=as_json(item.scope), shown=as_json(item.shown)))  # type: ignore[arg-type]


def item_of(row: tuple[Any, ...]) -> Item:
    _, number, rank, role, id, scope, text, answer, shown, *rest = row
    return Item(number, rank, role, id, as_read(scope, list[str]), text, answer, as_read(shown, dict[str, Any]), *rest)
