"""Answers of people as tables, written and read; names of people are never written."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.people.book import Book, Item
from questree.people.paraphrases import must_change
from questree.people.results import Answered
from questree.people.task import Reply, Task, WrongReply, checked, choices_of
from questree.people.terms import Terms
from questree.people.turns import put

COLUMNS = ("item", "id", "annotator", "value", "text", "faults", "marked", "seconds")
NEEDED = "expected columns annotator, value (or text, marked), and item or id"
SEVERAL = "; "  # between faults or things that were marked, in one field of a table


class Given(NamedTuple):
    """An answer from elsewhere."""

    place: str
    item: str
    id: str
    annotator: str
    reply: Reply
    seconds: float


def table(found: Answered) -> pl.DataFrame:
    """Every answer with what was asked; people are numbers."""
    about = found.about.rename({"text": "question"})
    shown = [str(found.items[at].shown.get("answer", "")) for at in about["item"]]
    answers = found.every.drop("kind", "first").join(found.gold.select("annotator", "out"), on="annotator")
    whole = answers.join(about.with_columns(shown=pl.Series(shown, dtype=pl.String)), on="item", how="left")
    several = [pl.col(name).list.join(SEVERAL) for name in ("faults", "marked")]
    named = ["item", "role", "id", "question", "shown", "answer", "type", "template"]
    rest = ["split", "annotator", "value", "text", "faults", "marked", "tries", "seconds"]
    whole = whole.with_columns(several).with_columns(pl.col("seconds").round(2))
    task = pl.lit(found.name).alias("task")
    return whole.select(task, *named, *rest, counts=~pl.col("out")).sort("item", "annotator")


def from_csv(path: Path) -> Iterator[Given]:
    """A table of crowd results, one answer per row."""
    try:
        rows = csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
        there = list(rows.fieldnames or ())
        _has_columns(path, there)
        for row in rows:
            yield given_by(f"{path}, line {rows.line_num}", row)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput.at(path, f"cannot be read ({error}); {NEEDED}") from error


def from_lines(path: Path) -> Iterator[Given]:
    """The same as JSON Lines."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error}); {NEEDED}") from error
    for number, line in enumerate(lines, 1):
        try:
            row = msgspec.json.decode(line, type=dict[str, Any]) if line.strip() else None
        except (UnicodeDecodeError, RecursionError, msgspec.MsgspecError) as error:
            raise BadInput.at(f"{path}, line {number}", f"expected an object ({error})") from error
        if row is not None:
            _has_columns(f"{path}, line {number}", list(row))
            yield given_by(f"{path}, line {number}", {name: _written(value) for name, value in row.items()})


def _written(value: Any) -> str:
    return "" if value is None else SEVERAL.join(map(str, value)) if isinstance(value, list) else str(value)


def _has_columns(place: object, there: list[str]) -> None:
    if "annotator" not in there or not {"item", "id"} & set(there) or not {"value", "text", "marked"} & set(there):
        raise BadInput.at(place, f"{NEEDED}, got {', '.join(there) or 'none'}")


def given_by(place: str, row: Mapping[str, str | None]) -> Given:
    own = {name: (row.get(name) or "").strip() for name in COLUMNS}
    lists = (tuple(filter(None, own[name].split(SEVERAL))) for name in ("faults", "marked"))
    reply = Reply(own["value"], own["text"], *lists)
    return Given(place, own["item"], own["id"], own["annotator"], reply, length_of(place, own["seconds"] or 0.0))


def length_of(place: str, given: str | float) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise BadInput.at(place, f"expected seconds, got {given!r}")
    return seconds


class Taken(NamedTuple):
    answers: int
    people: int
    repeated: int  # the last counts


def take(book: Book, name: str, given: Iterator[Given], terms: Terms) -> Taken:
    """Answers from elsewhere become answers of a task: all of them, or none and every fault."""
    task, _ = book.task(name)
    items, names = book.items(name), {one.annotator: one.name for one in book.annotators()}
    by_number, by_id = {str(one.item): one for one in items}, {one.id: one for one in reversed(items)}
    found: dict[tuple[str, int], tuple[Item, Reply, float]] = {}
    faults, count = list[Fault](), 0
    for one in given:
        item = by_number.get(one.item) if one.item else by_id.get(one.id)
        wrong = fault(task, one, item, names, terms)
        if wrong:
            faults.append(Fault(one.place, wrong))
        elif item is not None:
            count += 1
            reply = checked(task, item.role, item.shown, one.reply)
            found[one.annotator, item.item] = item, reply, one.seconds
    refuse(faults)
    numbers = {one.name: one.annotator for one in book.add_annotators({who for who, _ in found}, "imported")}
    put(book, name, [(numbers[who], *rest) for (who, _), rest in found.items()])
    return Taken(len(found), len(numbers), count - len(found))


def fault(task: Task, given: Given, item: Item | None, names: Mapping[int, str], terms: Terms) -> str:
    """What is wrong with an answer, "" if nothing is."""
    if item is None:
        return f"no item {given.item or given.id!r} in this task"
    if given.id and given.id != item.id:
        return f"item {given.item}: expected the id {item.id!r}, got {given.id!r}; is it of another task?"
    if not given.annotator:
        return "expected an annotator, got none"
    if item.author is not None and names.get(item.author) == given.annotator:
        return "nobody judges their own paraphrase"
    try:
        reply = checked(task, item.role, item.shown, given.reply)
        if task.asks_of(item.role) == "paraphrase" and not reply.value:
            must_change(item.text, reply.text, terms)
    except WrongReply as wrong:
        known = [one.value for one in choices_of(task, item.role, item.shown)]
        got = given.reply.value or given.reply.text or ", ".join(given.reply.marked)
        more = f"; choose from {', '.join(known)}" if known else f" ({wrong})"
        return f"expected an answer to what was asked, got {got!r}{more}"
    return ""
