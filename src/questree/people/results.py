"""What people said -> who is left out, what the majority says of every item, human answers, faults, times."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import polars as pl

from questree.metrics.raters import majority
from questree.people.book import Book, Item, TaskOptions
from questree.people.task import Reply, Task

ANSWERS: dict[str, Any] = {
    "item": pl.Int64,
    "annotator": pl.Int64,
    "kind": pl.String,
    "value": pl.String,  # what was chosen, or what typed words were read as
    "text": pl.String,
    "faults": pl.List(pl.String),
    "marked": pl.List(pl.String),
    "first": pl.String,
    "tries": pl.Int64,
    "seconds": pl.Float64,
}
OPPOSITE = {"yes": "no", "no": "yes"}
NOT_RIGHT, NO_MAJORITY = "another answer", "no majority"
ReadText = Callable[[pl.DataFrame], pl.Series]  # id, question, prediction -> answers, null where nothing was read


@dataclass(frozen=True)
class Rule:
    """Who is left out: whoever answered enough gold and too little of it right. Nothing is deleted."""

    least: float = 0.7  # share of gold that must be right; 0 keeps everybody
    enough: int = 5  # gold answers before anybody is judged by them
    bots: bool = True  # do bots count?

    def __str__(self) -> str:
        if not self.least:
            return "everybody counts"
        return f"left out is whoever has less than {self.least:.0%} of at least {self.enough} gold questions right"


@dataclass(frozen=True)
class Answered:
    """A task with everything that was answered."""

    name: str
    task: Task
    options: TaskOptions
    items: dict[int, Item]
    every: pl.DataFrame  # ANSWERS, of everybody
    rule: Rule = field(default_factory=Rule)

    @classmethod
    def read(cls, book: Book, name: str, rule: Rule | None = None, read: ReadText | None = None) -> "Answered":
        task, options = book.task(name)
        items = {one.item: one for one in book.items(name)}
        with book.reading() as made:
            rows = made.execute(
                "SELECT item, annotator, kind, reply, first, tries, seconds FROM answer JOIN annotator "
                "USING (annotator) WHERE task = ? ORDER BY item, annotator",
                (name,),
            )
            table = pl.DataFrame([_row(*row) for row in rows], schema=ANSWERS, orient="row")
        if task.ask == "text" and read is not None:
            table = table.with_columns(value=_typed(table, items, read))
        return cls(name, task, options, items, table, rule or Rule())

    @property
    def about(self) -> pl.DataFrame:
        """item, role, id, type, template, split, answer, truth of every item."""
        names = ("item", "role", "id", "text", "type", "template", "split", "answer", "truth")
        rows = [tuple(getattr(one, name) for name in names) for one in self.items.values()]
        schema = dict.fromkeys(names, pl.String) | {"item": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def gold(self) -> pl.DataFrame:
        """annotator, kind, answers, gold, right, share, left out: one row each."""
        known = Counter[tuple[int, bool]]()
        for row in self.every.iter_rows(named=True):
            for right in self._checks(row):
                known[row["annotator"], right] += 1
        people = self.every.group_by("annotator", maintain_order=True).agg(
            pl.col("kind").first(), answers=pl.len(), seconds=pl.col("seconds").median()
        )
        wrong, fitting = ([known[who, kind] for who in people["annotator"]] for kind in (False, True))
        table = people.with_columns(wrong=pl.Series(wrong, dtype=pl.Int64), right=pl.Series(fitting, dtype=pl.Int64))
        table = table.with_columns(gold=pl.col("wrong") + pl.col("right")).drop("wrong")
        share = pl.when(pl.col("gold") > 0).then(pl.col("right") / pl.col("gold"))
        low = (pl.col("gold") >= self.rule.enough) & (share < self.rule.least)
        return table.with_columns(share=share, out=low.fill_null(False)).sort("annotator")

    def _checks(self, row: dict[str, Any]) -> Iterator[bool]:
        """Whether each thing that is known was answered right; of a checklist, things that are there."""
        item = self.items[row["item"]]
        if item.role == "gold" and item.truth is not None:
            yield row["value"] == item.truth
        elif item.role == "asked":
            yield from (thing not in row["marked"] for thing in item.shown.get("there", ()))

    @property
    def kept(self) -> pl.DataFrame:
        """The answers that count."""
        gold = self.gold
        table = self.every.join(gold.filter("out").select("annotator"), on="annotator", how="anti")
        return (table if self.rule.bots else table.filter(pl.col("kind") != "bot")).sort("item", "annotator")

    @property
    def judged(self) -> pl.DataFrame:
        """unit, rater, value: of a checklist every thing is judged; of texts, what a second person says of them."""
        role = "confirm" if self.task.ask == "paraphrase" else "asked"
        table = self.kept.filter(pl.Series([self.items[at].role == role for at in self.kept["item"]], dtype=pl.Boolean))
        if self.task.ask != "checklist":
            said = pl.coalesce("value", pl.lit("")).alias("value")
            return table.select(unit=pl.col("item").cast(pl.String), rater="annotator", value=said)
        rows = [
            (f"{row['item']} {thing}", row["annotator"], "absent" if thing in row["marked"] else "there")
            for row in table.iter_rows(named=True)
            for thing in self.items[row["item"]].shown["objects"]
        ]
        return pl.DataFrame(rows, schema={"unit": pl.String, "rater": pl.Int64, "value": pl.String}, orient="row")

    def decided(self) -> pl.DataFrame:
        """item, value (null without a majority), votes, of: what is asked and has all the votes it was to get."""
        found = majority(self.judged).with_columns(item=pl.col("unit").cast(pl.Int64)).drop("unit")
        whole = found.filter(pl.col("of") >= self.options.votes).join(self.about, on="item", how="left")
        return whole.sort("item")

    def human(self) -> pl.DataFrame:
        """id, prediction: the answer of the majority to every question that is decided."""
        typed = self._better() if "answer" in self.task.shows else {}
        rows = [
            (row["id"], self._meant(row["value"], row["answer"], typed.get(row["item"], "")))
            for row in self.decided().iter_rows(named=True)
        ]
        return pl.DataFrame(rows, schema={"id": pl.String, "prediction": pl.String}, orient="row")

    def _meant(self, value: str | None, answer: str, typed: str) -> str:
        if value is None:
            return NO_MAJORITY
        means = self.task.means(value)
        if "answer" not in self.task.shows:
            return NOT_RIGHT if means or not value else value
        if means == "right":
            return answer
        if means == "wrong":
            return OPPOSITE.get(answer, typed if typed and typed != answer else NOT_RIGHT)
        return NOT_RIGHT

    def _better(self) -> dict[int, str]:
        """item -> what most of those who reject its answer say instead."""
        said: dict[int, Counter[str]] = {}
        for item, text in self.kept.select("item", "text").iter_rows():
            if text:
                said.setdefault(item, Counter())[text.lower().rstrip(".")] += 1
        return {item: min(count, key=lambda text: (-count[text], text)) for item, count in said.items()}

    def right(self) -> pl.DataFrame:
        """item, id, type, template, split, right: does the majority find what the benchmark says?"""
        fits = pl.col("value").eq_missing(pl.col("truth"))
        return self.decided().with_columns(right=fits & pl.col("truth").is_not_null())

    def types(self, threshold: float, least: int) -> list[dict[str, Any]]:
        """Per type: items, share that the majority finds right, and whether it should not be scored."""
        table = self.right().group_by("type").agg(items=pl.len(), right=pl.col("right").sum()).sort("type")
        return [
            {"type": type, "items": n, "right": right / n, "unscored": n >= least and right / n < threshold}
            for type, n, right in table.iter_rows()
        ]

    def faults(self) -> list[dict[str, Any]]:
        """Kinds of fault: how many people named each, of how many items, and of how many more than half did."""
        asked = {at for at, one in self.items.items() if one.role == "asked"}
        table = self.kept.filter(pl.col("item").is_in(asked))
        size = dict(table.group_by("item").len().iter_rows())
        names = [(one.value, "faults") for one in self.task.faults]
        names += [(one.value, "value") for one in self.task.choices if one.means in ("wrong", "unsure", "fault")]
        found = []
        for name, column in names:
            here = table.filter(pl.col(column).list.contains(name) if column == "faults" else pl.col(column) == name)
            votes = dict(here.group_by("item").len().iter_rows())
            most = sum(2 * count > size[item] for item, count in votes.items())
            found.append({"fault": name, "answers": len(here), "items": len(votes), "by most": most})
        return found

    def rejected(self) -> pl.DataFrame:
        """id, reason: questions that most do not find right, with what they say."""
        table = self.right().filter(~pl.col("right"))
        return table.select("id", reason=pl.col("value").fill_null(NO_MAJORITY)).unique("id", keep="first").sort("id")

    def absent(self) -> dict[str, list[str]]:
        """video -> what most of those who looked at it say is nowhere."""
        found: dict[str, list[str]] = {}
        for unit, value, _, of in majority(self.judged).iter_rows():
            number, _, thing = unit.partition(" ")
            if of >= self.options.votes:
                own = found.setdefault(self.items[int(number)].id, [])
                own += [thing] if value == "absent" else []
        return {video: sorted(things) for video, things in sorted(found.items())}

    def paraphrases(self) -> pl.DataFrame:
        """id, question, original, answer: what most of those asked say keeps the meaning."""
        means = {one.value: one.means for one in self.task.confirm.choices} if self.task.confirm else {}
        rows, out = [], set(self.gold.filter("out")["annotator"])
        for unit, value, _, _ in majority(self.judged).iter_rows():
            item = self.items[int(unit)]
            if item.room >= 0 and item.author not in out and value is not None and means.get(value) == "right":
                rows.append((item.id, item.shown["paraphrase"], item.text, item.answer))
        names = ("id", "question", "original", "answer")
        table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
        return table.unique("id", keep="first", maintain_order=True).sort("id")

    def compared(self) -> list[dict[str, Any]]:
        """Per model: of how many questions most say that its answer is right."""
        counts = Counter[str]()
        table = self.decided()
        for item, value in table.select("item", "value").iter_rows():
            means, turned = self.task.means(value or ""), self.items[item].shown["turned"]
            ordered = self.options.models[::-1] if turned else self.options.models
            for at, side in enumerate(("first", "second")):
                counts[ordered[at]] += means in (side, "both")
        n = len(table)
        return [
            {"model": name, "questions": n, "right": counts[name] / n if n else None} for name in self.options.models
        ]


def _row(item: int, annotator: int, kind: str, reply: str, first: str, tries: int, seconds: float) -> tuple[Any, ...]:
    said = msgspec.json.decode(reply, type=Reply)
    return (item, annotator, kind, said.value, said.text, said.faults, said.marked, first, tries, seconds)


def _typed(table: pl.DataFrame, items: dict[int, Item], read: ReadText) -> pl.Series:
    """[answer] what was chosen instead of an answer, or what the typed words are read as; else these words."""
    asked = [items[at] for at in table["item"]]
    given = pl.DataFrame(
        {"id": [one.id for one in asked], "question": [one.text for one in asked], "prediction": table["text"]},
        schema=dict.fromkeys(("id", "question", "prediction"), pl.String),
    )
    words = read(given).fill_null(table["text"].str.to_lowercase())
    return pl.select(pl.when(table["value"] != "").then(table["value"]).otherwise(words)).to_series()
