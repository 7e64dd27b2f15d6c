"""Everything a model ever said, by what it was asked: on disk at once, so that nothing is asked twice."""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from questree.endpoints.chat import Reply
from questree.faults import BadInput
from questree.places import changed
from questree.places.lease import Held

KEY = 16  # bytes
SCHEMA = """
create table if not exists replies (
    key blob primary key, id text, text text, finish text, tokens_in int, tokens_out int, seconds real, tries int,
    yes real, no real, prompt text, at text default current_timestamp
) without rowid;
create table if not exists prompts (digest text primary key, name text, template text) without rowid;
"""
REPLY = "text, finish, tokens_in, tokens_out, seconds, tries, yes, no"
ASKED_AT_ONCE = 500  # keys


class Said(NamedTuple):
    """A reply as tables have it."""

    text: str
    finish: str
    tokens_in: int
    tokens_out: int
    seconds: float
    tries: int
    yes: float | None
    no: float | None


def key_of(*parts: bytes) -> bytes:
    """Of a request: its text and the digests of its media."""
    digest = blake2b(digest_size=KEY)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


class Journal:
    """RUN/asked/<model>.sqlite. Each reply is a transaction: killed at any moment, all before it are there."""

    def __init__(self, file: sqlite3.Connection):
        self.file, self.count = file, 0

    def get(self, key: bytes) -> Reply | None:
        found = self.file.execute(f"select {REPLY} from replies where key = ?", (key,)).fetchone()
        return None if found is None else Reply(*found)

    def put(self, key: bytes, id: str, prompt: str, reply: Reply) -> None:
        row = (key, id, prompt, reply.text, reply.finish, reply.tokens_in, reply.tokens_out)
        rest = (reply.seconds, reply.tries, reply.yes, reply.no)
        self.file.execute(
            f"insert or ignore into replies (key, id, prompt, {REPLY}) values (?,?,?,?,?,?,?,?,?,?,?)", (*row, *rest)
        )
        self.count += 1

    def keep_prompt(self, digest: str, name: str, template: str) -> None:
        self.file.execute("insert or ignore into prompts values (?, ?, ?)", (digest, name, template))

    def said(self, keys: list[bytes]) -> dict[bytes, Said]:
        """What was said to these, as far as anything was."""
        found = dict[bytes, Said]()
        for begin in range(0, len(keys), ASKED_AT_ONCE):
            some = keys[begin : begin + ASKED_AT_ONCE]
            marks = ",".join("?" * len(some))
            rows = self.file.execute(f"select key, {REPLY} from replies where key in ({marks})", some)
            found.update((row[0], Said(*row[1:])) for row in rows)
        return found


@contextmanager
def journal(folder: Path, model: str) -> Iterator[Journal]:
    """Opened by one command at a time."""
    name = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in model).lstrip(".") or "model"
    place = folder / f"{name}.sqlite"
    busy = BadInput.at(place, f"another command is asking {model} now; wait for its end")
    try:
        with changed(place, wait=False) as own:
            yield from _opened(place, own, model, busy)
    except Held:
        raise busy from None


def _opened(place: Path, own: Path, model: str, busy: BadInput) -> Iterator[Journal]:
    """`own`: the file at this place, or a copy of it on this machine."""
    try:
        own.parent.mkdir(parents=True, exist_ok=True)
        lock = own.with_name(f"{place.stem}.lock").open("w")
    except OSError as error:
        raise BadInput.at(place.parent, f"cannot be written ({error.strerror})") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise busy from None
        try:
            with closing(sqlite3.connect(own, isolation_level=None, check_same_thread=False)) as file:
                file.execute("pragma journal_mode = wal")
                file.execute("pragma synchronous = normal")
                file.executescript(SCHEMA)
                yield Journal(file)
        except sqlite3.OperationalError as error:  # no room, no right to write
            raise BadInput.at(place, f"cannot be used ({error})") from error
        except sqlite3.DatabaseError as error:
            raise BadInput.at(place, f"expected what {model} said before, got a damaged file ({error})") from error
