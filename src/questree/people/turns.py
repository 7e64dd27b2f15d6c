"""Whose turn it is: what somebody has in hand, what comes next, and answers that are kept before the page moves on."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from questree.people.book import EVERYBODY, Book, Item, as_json, as_read, item_of, row_of
from questree.people.task import Reply

AWAY = 3600.0  # seconds after which an item that somebody has in hand may be given to another one


@dataclass(frozen=True)
class InHand:
    """What somebody looks at now."""

    item: Item
    before: Reply | None  # what they said to it already
    undoable: bool
    answered: int


class NotYours(Exception):
    """An item that was never given to the one who answers it."""


def begin(book: Book, task: str, annotator: int) -> None:
    """Somebody has read the instructions."""
    with book.writing() as made:
        made.execute("INSERT OR IGNORE INTO place (task, annotator) VALUES (?, ?)", (task, annotator))
        made.execute("UPDATE place SET begun = 1 WHERE task = ? AND annotator = ?", (task, annotator))


def begun(book: Book, task: str, annotator: int) -> bool:
    with book.reading() as made:
        row = made.execute("SELECT begun FROM place WHERE task = ? AND annotator = ?", (task, annotator)).fetchone()
    return bool(row and row[0])


def give(book: Book, task: str, annotator: int, now: float | None = None) -> InHand | None:
    """What somebody has in hand, or else the next item that needs them; None if there is none."""
    now = time.time() if now is None else now
    with book.writing(told=False) as made:
        made.execute("INSERT OR IGNORE INTO place (task, annotator) VALUES (?, ?)", (task, annotator))
        _take_back(made, task, annotator, now)
        cursor, own, again, answered = made.execute(
            "SELECT cursor, item, again, answered FROM place WHERE task = ? AND annotator = ?", (task, annotator)
        ).fetchone()
        held = again if again is not None else own
        if held is None:
            held = _next(made, task, annotator, cursor, now)
        if held is None:
            return None
        row = made.execute("SELECT * FROM item WHERE task = ? AND item = ?", (task, held)).fetchone()
        before = _answer(made, task, held, annotator)
        undoable = _last(made, task, annotator, held) is not None
        return InHand(item_of(row), as_read(before[0], Reply) if before else None, undoable, answered)


def answer(
    book: Book, task: str, annotator: int, item: Item, reply: Reply, seconds: float, again: bool = False
) -> None:
    """Keep a reply. What was said before is replaced; `again`: the item stays in hand, as it must be said anew.

    What somebody wrote in their own words is put to others.
    """
    now = time.time()
    with book.writing() as made:
        known = _answer(made, task, item.item, annotator)
        place = made.execute(
            "SELECT item, again, since FROM place WHERE task = ? AND annotator = ?", (task, annotator)
        ).fetchone()
        if known is None and (place is None or place[0] != item.item):
            raise NotYours
        if known is None:
            _keep(made, task, annotator, item.item, reply, max(0.0, min(seconds, now - place[2])), now)
        elif as_read(known[0], Reply) != reply:
            _replace(made, task, annotator, item.item, reply, now)
        if item.role == "asked" and "paraphrase" in item.shown:
            _confirm(made, task, annotator, item, reply.text if not reply.value else "")
        if place[1] == item.item:
            made.execute("UPDATE place SET again = NULL WHERE task = ? AND annotator = ?", (task, annotator))
        elif not again and place[0] == item.item:
            made.execute("UPDATE place SET item = NULL WHERE task = ? AND annotator = ?", (task, annotator))


def put(book: Book, task: str, given: Sequence[tuple[int, Item, Reply, float]]) -> None:
    """Answers that were given elsewhere, (annotator, item, reply, seconds): they count like any other."""
    now = time.time()
    with book.writing() as made:
        for annotator, item, reply, seconds in given:
            made.execute("INSERT OR IGNORE INTO place (task, annotator) VALUES (?, ?)", (task, annotator))
            if _answer(made, task, item.item, annotator) is None:
                _keep(made, task, annotator, item.item, reply, seconds, now)
                if item.role in ("asked", "confirm"):
                    values = (task, item.item)
                    made.execute("UPDATE item SET room = max(room - 1, 0) WHERE task = ? AND item = ?", values)
            else:
                _replace(made, task, annotator, item.item, reply, now)
            if item.role == "asked" and "paraphrase" in item.shown:
                _confirm(made, task, annotator, item, reply.text if not reply.value else "")


def held(book: Book, task: str, annotator: int, item: int) -> Item | None:
    """An item that somebody has in hand or has answered."""
    with book.reading() as made:
        row = made.execute(
            "SELECT * FROM item WHERE task = ? AND item = ? AND ("
            "EXISTS (SELECT 1 FROM place WHERE task = ? AND item = ? AND annotator = ?) OR "
            "EXISTS (SELECT 1 FROM answer WHERE task = ? AND item = ? AND annotator = ?))",
            (task, item, *(task, item, annotator) * 2),
        ).fetchone()
        return item_of(row) if row else None


def qualified(book: Book, task: str, annotator: int, count: int) -> float | None:
    """The share of the qualification, the first items, that somebody had right at once; None before its end."""
    if not count:
        return None
    with book.reading() as made:
        answered, right = made.execute(
            "SELECT count(first), total(lower(first) = lower(truth)) FROM item LEFT JOIN answer ON "
            "answer.task = item.task AND answer.item = item.item AND annotator = ? "
            "WHERE item.task = ? AND item.item < ?",
            (annotator, task, count),
        ).fetchone()
    return right / count if answered == count else None


def count(book: Book, task: str, annotator: int) -> int:
    """Answers of somebody."""
    with book.reading() as made:
        row = made.execute("SELECT answered FROM place WHERE task = ? AND annotator = ?", (task, annotator)).fetchone()
    return row[0] if row else 0


def undo(book: Book, task: str, annotator: int) -> bool:
    """Take the last answer in hand again; it stays as it is until another one is given."""
    with book.writing() as made:
        row = made.execute("SELECT again FROM place WHERE task = ? AND annotator = ?", (task, annotator)).fetchone()
        last = _last(made, task, annotator, row[0]) if row else None
        if last is not None:
            made.execute("UPDATE place SET again = ? WHERE task = ? AND annotator = ?", (last, task, annotator))
    return last is not None


def _keep(
    made: sqlite3.Connection, task: str, annotator: int, item: int, reply: Reply, seconds: float, now: float
) -> None:
    """A first answer."""
    serial = made.execute(
        "SELECT coalesce(max(serial), 0) + 1 FROM answer WHERE task = ? AND annotator = ?", (task, annotator)
    ).fetchone()[0]
    values = (task, item, annotator, as_json(reply), reply.value or reply.text, 1, seconds, now, serial)
    made.execute(f"INSERT INTO answer VALUES ({', '.join('?' * 9)})", values)
    made.execute("UPDATE place SET answered = answered + 1 WHERE task = ? AND annotator = ?", (task, annotator))


def _replace(made: sqlite3.Connection, task: str, annotator: int, item: int, reply: Reply, now: float) -> None:
    """Another answer in the place of the one that was given."""
    values = (as_json(reply), now, task, item, annotator)
    made.execute(
        "UPDATE answer SET reply = ?, tries = tries + 1, at = ? WHERE task = ? AND item = ? AND annotator = ?", values
    )


def _confirm(made: sqlite3.Connection, task: str, author: int, of: Item, text: str) -> None:
    """Put what somebody wrote to others; what they wrote before is not asked about any more."""
    row = made.execute(
        "SELECT item, shown FROM item WHERE task = ? AND role = 'confirm' AND author = ? AND id = ? AND room >= 0",
        (task, author, of.id),
    ).fetchone()
    if row and msgspec.json.decode(row[1])["paraphrase"] == text:
        return
    if row:
        made.execute("UPDATE item SET room = -1 WHERE task = ? AND item = ?", (task, row[0]))
    if not text:
        return
    last, rank = made.execute("SELECT max(item), max(rank) FROM item WHERE task = ?", (task,)).fetchone()
    shown = {"paraphrase": text}
    new = of._replace(item=last + 1, rank=rank + 1, role="confirm", shown=shown, truth=None, author=author, room=1)
    made.execute(f"INSERT INTO item VALUES ({', '.join('?' * 16)})", row_of(task, new))


def _next(made: sqlite3.Connection, task: str, annotator: int, cursor: int, now: float) -> int | None:
    """The first item after the cursor that has room and that is neither theirs nor answered by them."""
    row = made.execute(
        "SELECT item, rank, room FROM item WHERE task = ? AND room > 0 AND rank > ? AND author IS NOT ? "
        "AND NOT EXISTS ("
        "SELECT 1 FROM answer WHERE answer.task = item.task AND answer.item = item.item AND annotator = ?) "
        "ORDER BY rank LIMIT 1",
        (task, cursor, annotator, annotator),
    ).fetchone()
    if row is None:
        return None
    item, rank, room = row
    if room < EVERYBODY:
        made.execute("UPDATE item SET room = room - 1 WHERE task = ? AND item = ?", (task, item))
    made.execute(
        "UPDATE place SET item = ?, cursor = ?, since = ?, away = 0 WHERE task = ? AND annotator = ?",
        (item, rank, now, task, annotator),
    )
    return int(item)


def _take_back(made: sqlite3.Connection, task: str, annotator: int, now: float) -> None:
    """Items that others have had in hand for too long have room again; should they answer still, that counts too."""
    left = made.execute(
        "SELECT place.annotator, place.item, rank FROM place JOIN item ON item.task = place.task "
        "AND item.item = place.item WHERE place.task = ? AND place.annotator != ? AND since < ? AND away = 0 "
        f"AND room BETWEEN 0 AND {EVERYBODY - 1}",
        (task, annotator, now - AWAY),
    ).fetchall()
    for who, item, rank in left:
        made.execute("UPDATE place SET away = 1 WHERE task = ? AND annotator = ?", (task, who))
        made.execute("UPDATE item SET room = room + 1 WHERE task = ? AND item = ?", (task, item))
        made.execute("UPDATE place SET cursor = min(cursor, ?) WHERE task = ?", (rank - 1, task))


def _answer(made: sqlite3.Connection, task: str, item: int, annotator: int) -> tuple[str] | None:
    found: tuple[str] | None = made.execute(
        "SELECT reply FROM answer WHERE task = ? AND item = ? AND annotator = ?", (task, item, annotator)
    ).fetchone()
    return found


def _last(made: sqlite3.Connection, task: str, annotator: int, before: int | None) -> int | None:
    """The item answered last before this one was; a qualification is not taken back."""
    row = made.execute(
        "SELECT answer.item FROM answer JOIN item ON item.task = answer.task AND item.item = answer.item "
        "WHERE answer.task = ? AND annotator = ? AND role != 'qualification' AND serial < coalesce(("
        "SELECT serial FROM answer WHERE task = ? AND annotator = ? AND item = ?), 1 << 60) "
        "ORDER BY serial DESC LIMIT 1",
        (task, annotator, task, annotator, before),
    ).fetchone()
    return int(row[0]) if row else None
