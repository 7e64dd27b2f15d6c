"""Answers of people as files: tables and Label Studio's JSON, written and read; names of people are never written."""

import csv
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.people.book import Book, Item
from questree.people.results import Answered
from questree.people.task import Reply, Task, WrongReply, checked, choices_of
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


def studio_tasks(found: Answered) -> list[dict[str, Any]]:
    """Tasks to import into Label Studio: what is shown, and by what an answer finds its item again."""
    asked = [item for item in found.items.values() if item.role != "confirm"]
    return [{"data": studio_data(found.name, found.task, item)} for item in asked]


def studio_data(name: str, task: Task, item: Item) -> dict[str, Any]:
    shown = {name: value for name, value in item.shown.items() if name not in ("there", "turned")}
    if "options" in shown:
        shown["options"] = [one.value for one in choices_of(task, item.role, shown)]
    own = {"task": name, "item": item.item, "id": item.id, "scope": item.scope, "question": item.text or item.id}
    lists = {name: [{"value": word} for word in shown[name]] for name in ("options", "objects") if name in shown}
    pair = dict(zip(("first", "second"), shown.get("answers", ()), strict=False))
    return own | {"answer": shown.get("answer", "")} | lists | pair


def studio_config(task: Task) -> str:
    """The labelling interface for these tasks."""
    shown = ['<Text name="question" value="$question"/>']
    shown += ['<Text name="answer" value="$answer"/>'] if "answer" in task.shows else []
    if "answers" in task.shows:
        shown += ['<Text name="first" value="$first"/>', '<Text name="second" value="$second"/>']
    asked = [f'<Header value="{escape(task.prompt)}"/>']
    own = "".join(f'<Choice value="{escape(one.value)}"/>' for one in task.choices)
    if task.ask == "checklist":
        asked.append('<Choices name="marked" toName="question" choice="multiple" value="$objects"/>')
    elif task.ask == "options":
        asked.append('<Choices name="value" toName="question" value="$options"/>')
    elif own:
        asked.append(f'<Choices name="value" toName="question">{own}</Choices>')
    if task.ask in ("text", "paraphrase") or any(one.more for one in task.choices):
        asked.append('<TextArea name="text" toName="question" maxSubmissions="1"/>')
    if task.faults:
        kinds = "".join(f'<Choice value="{escape(one.value)}"/>' for one in task.faults)
        asked.append(f'<Choices name="faults" toName="question" choice="multiple">{kinds}</Choices>')
    return "\n".join(["<View>", *(f"  {line}" for line in [*shown, *asked]), "</View>", ""])


def from_studio(path: Path) -> Iterator[Given]:
    """Label Studio's JSON export; annotations that were cancelled are left out."""
    try:
        records = msgspec.json.decode(path.read_bytes(), type=list[dict[str, Any]])
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput.at(path, f"expected Label Studio's JSON export, a list of tasks ({error})") from error
    for number, record in enumerate(records, 1):
        data = record.get("data")
        if not isinstance(data, dict) or not isinstance(record.get("annotations", []), list):
            raise BadInput.at(f"{path}, task {number}", "expected data and a list of annotations")
        for at, one in enumerate(record.get("annotations", ()), 1):
            if not one.get("was_cancelled"):
                by = one.get("completed_by")
                who = by.get("email") or by.get("id") if isinstance(by, dict) else by
                place, seconds = f"{path}, task {number}, annotation {at}", float(one.get("lead_time") or 0)
                item, id = str(data.get("item", "")), str(data.get("id", ""))
                yield Given(place, item, id, "" if who is None else str(who), studio_reply(one), seconds)


def studio_reply(annotation: Mapping[str, Any]) -> Reply:
    said: dict[str, list[str]] = {}
    for part in annotation.get("result", ()):
        value = part.get("value", {})
        said[str(part.get("from_name"))] = [str(word) for word in value.get("choices") or value.get("text") or ()]
    value, text = said.get("value", ()), " ".join(said.get("text", ()))
    return Reply(value[0] if value else "", text, tuple(said.get("faults", ())), tuple(said.get("marked", ())))


def from_csv(path: Path) -> Iterator[Given]:
    """A table of crowd results, one answer per row."""
    try:
        rows = csv.DictReader(path.read_text("utf-8-sig").splitlines())
        there = list(rows.fieldnames or ())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput.at(path, f"cannot be read ({error}); {NEEDED}") from error
    if "annotator" not in there or not {"item", "id"} & set(there) or not {"value", "text", "marked"} & set(there):
        raise BadInput.at(path, f"{NEEDED}, got {', '.join(there) or 'none'}")
    for row in rows:
        own = {name: (row.get(name) or "").strip() for name in COLUMNS}
        lists = (tuple(filter(None, own[name].split(SEVERAL))) for name in ("faults", "marked"))
        try:
            seconds = float(own["seconds"] or 0)
        except ValueError:
            raise BadInput.at(f"{path}, line {rows.line_num}", f"expected seconds, got {own['seconds']!r}") from None
        reply = Reply(own["value"], own["text"], *lists)
        yield Given(f"{path}, line {rows.line_num}", own["item"], own["id"], own["annotator"], reply, seconds)


class Taken(NamedTuple):
    answers: int
    people: int
    repeated: int  # the last counts


def take(book: Book, name: str, path: Path) -> Taken:
    """Answers of a file become answers of a task: all of them, or none and every fault."""
    task, _ = book.task(name)
    items = book.items(name)
    by_number, by_id = {str(one.item): one for one in items}, {one.id: one for one in reversed(items)}
    found: dict[tuple[str, int], tuple[Item, Reply, float]] = {}
    faults, count = list[Fault](), 0
    for given in (from_studio if path.suffix == ".json" else from_csv)(path):
        item = by_number.get(given.item) if given.item else by_id.get(given.id)
        wrong = fault(task, given, item)
        if wrong:
            faults.append(Fault(given.place, wrong))
        elif item is not None:
            count += 1
            reply = checked(task, item.role, item.shown, given.reply)
            found[given.annotator, item.item] = item, reply, given.seconds
    refuse(faults)
    numbers = {one.name: one.annotator for one in book.add_annotators({who for who, _ in found}, "imported")}
    put(book, name, [(numbers[who], *rest) for (who, _), rest in found.items()])
    return Taken(len(found), len(numbers), count - len(found))


def fault(task: Task, given: Given, item: Item | None) -> str:
    """What is wrong with an answer, "" if nothing is."""
    if item is None:
        return f"no item {given.item or given.id!r} in this task"
    if not given.annotator:
        return "expected an annotator, got none"
    try:
        checked(task, item.role, item.shown, given.reply)
    except WrongReply:
        known = [one.value for one in choices_of(task, item.role, item.shown)]
        got = given.reply.value or given.reply.text or ", ".join(given.reply.marked)
        return f"expected an answer to what was asked, got {got!r}" + (
            f"; choose from {', '.join(known)}" * bool(known)
        )
    return ""
