"""The generator's tables as plain questions, and questions as programs: row numbers become what they stand for."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from judges.facts import ACTIONS, OBJECTS, RELATIONS, WORDS
from judges.naive_generator import Question
from judges.naive_references import DIRECT, LENGTHS, WHOLE, WHOLE_VIDEO, Deed, Thing, Time
from questree.benchmarks.agqa import templates as t
from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.held_out import FLAGS
from questree.columns.hashing import seed_of
from questree.domains.video import VIDEO
from questree.domains.video.time import localised
from questree.stages.generate.localised import chunk
from questree.stages.generate.questions import EFFECTS
from questree.stages.generate.shards import Counts, questions, side_tables
from questree.stages.generate.word_columns import pair_counts, words
from questree.tables.facts import Facts
from questree.tables.questions import NOTHING16
from questree.tables.table import NO_WORD
from questree.terms import ACTION, OBJECT, RELATION, Node, Term, Word, fill, slots

NO_NAME = NO_WORD[WORDS.wide]
EVERY_REFERENCE = 1000  # a cap no list reaches
COLUMNS = {  # slot -> its direct class, how it is worded
    "object": ("x", "first"),
    "first": ("x", "first"),
    "second": ("y", "second"),
    "a": ("x", "first"),
    "b": ("y", "second"),
}
OBJECT_IDS, RELATION_IDS, ACTION_IDS = list(OBJECTS), list(RELATIONS), list(ACTIONS)
OP = VIDEO.ops
Row = dict[str, Any]
Slots = dict[str, Thing | Deed]


@dataclass(frozen=True)
class Generated:
    """The tables of all chunks."""

    questions: pl.DataFrame
    sides: dict[str, pl.DataFrame]
    counts: Counts
    edition: Edition = SECOND

    @property
    def rejected(self) -> Counter[tuple[str, str]]:
        tallies = self.counts.items()
        return Counter({(name, rule): n for name, tally in tallies for rule, n in tally.rejected.items() if n})


def generated(
    facts: Facts,
    rare_below: int,
    per_chunk: int = 1000,
    cap: int = EVERY_REFERENCE,
    edition: Edition = SECOND,
    actions_only: Collection[int] = (),
) -> Generated:
    known = words(WORDS, pair_counts(facts, WORDS), rare_below, edition)
    counts: Counts = {}
    tables, sides = list[pl.DataFrame](), []
    for begin in range(0, len(facts.videos), per_chunk):
        few = facts.between(begin, min(begin + per_chunk, len(facts.videos)))
        seeds = np.array([seed_of(1, video) for video in few.videos["id"]], np.uint64)
        bare = np.array([begin + at in actions_only for at in range(len(few.videos))], bool)
        part = chunk(few, known, seeds, cap, bare)
        tables += questions(part, counts, begin)
        sides.append(side_tables(part, begin))
    joined = {name: pl.concat([side[name] for side in sides]) for name in sides[0]}
    return Generated(pl.concat(tables), joined, counts, edition)


def plain(found: Generated, videos: int) -> list[list[Question]]:
    """The questions of every video, in the order of their numbers."""
    sides = {name: table.partition_by("video", as_dict=True) for name, table in found.sides.items()}
    rows = found.questions.sort("video", "number").partition_by("video", as_dict=True)
    read = []
    for video in range(videos):
        names = Names(
            found.edition,
            {name: parts[video,].to_dicts() if (video,) in parts else [] for name, parts in sides.items()},
        )
        own = rows[video,].to_dicts() if (video,) in rows else []
        assert [row["number"] for row in own] == list(range(len(own)))
        read.append([names.question(row) for row in own])
    return read


@dataclass(frozen=True)
class Names:
    """The side tables of one video: what row numbers stand for."""

    edition: Edition
    sides: dict[str, list[Row]]

    def question(self, row: Row) -> Question:
        template, phrase = self.edition.by_code[row["template"]], self.sides["phrases"][row["phrase"]]
        found = self.slots(template, row)
        time = Time(t.TIMES[phrase["kind"]], self.deed(phrase["a"]), self.deed(phrase["b"]))
        a, b = (ACTION_IDS.index(deed.action) + 1 if deed else 0 for deed in (time.a, time.b))
        assert row["time"] == phrase["kind"] + 256 * a + 65536 * b
        return Question(
            template=template.name,
            relation=RELATION_IDS[row["relation"]] if template.relations else "",
            things=tuple(value for value in found.values() if isinstance(value, Thing)),
            deeds=tuple(value for value in found.values() if isinstance(value, Deed)),
            time=time,
            answer=answer(template.node, row["answer"]),
            steps=row["steps"],
            flags=tuple(name for bit, name in enumerate(FLAGS) if row["flags"] >> bit & 1),
            effect=EFFECTS[row["effect"]],
            done_to="" if row.get("done_to", NO_NAME) == NO_NAME else OBJECT_IDS[row["done_to"]],
        )

    def slots(self, template: t.Template, row: Row) -> Slots:
        """What stands in each slot; the columns of direct classes must say the same."""
        found: Slots = {}
        for name, slot in slots(template.node).items():
            if name in COLUMNS:
                direct, wording = (row[column] for column in COLUMNS[name])
                value = self.deed(wording, direct) if slot.kind == ACTION else self.thing(wording, direct)
                assert (
                    value
                    and (value.action if isinstance(value, Deed) else value.object)
                    == (ACTION_IDS if slot.kind == ACTION else OBJECT_IDS)[direct]
                )
                found[name] = value
        used = {column for name in found for column in COLUMNS[name]}
        assert all(row[name] == NO_NAME for name in {"x", "y"} - used)
        assert all(row[name] == NOTHING16 for name in {"first", "second"} - used)
        return found

    def thing(self, at: int, direct: int = 0) -> Thing:
        """A row of the references; objExists, which asks about every class, has none."""
        if at == NOTHING16:
            return Thing(DIRECT, OBJECT_IDS[direct])
        row = self.sides["references"][at]
        inner = "" if row["relation"] == NO_NAME else RELATION_IDS[row["relation"]]
        return Thing(t.REFERENCES[row["kind"]], OBJECT_IDS[row["object"]], inner, unpacked(row.get("time", 0)))

    def deed(self, at: int, direct: int | None = None) -> Deed | None:
        if at == NOTHING16:
            return None if direct is None else Deed(DIRECT, ACTION_IDS[direct])
        row = self.sides["action_references"][at]
        inner = None if row["reference"] == NOTHING16 else self.thing(row["reference"])
        return Deed(t.ACTION_REFERENCES[row["kind"]], ACTION_IDS[row["action"]], inner)


def unpacked(time: int) -> Time | None:
    """The time inside a reference."""
    deeds = [Deed(DIRECT, ACTION_IDS[at - 1]) for at in (time >> 8 & 255, time >> 16) if at]
    return Time(t.TIMES[time & 255], deeds[0], deeds[1] if len(deeds) > 1 else None) if time else None


def answer(node: Node, value: int) -> str:
    """An answer as the judge says it: objects and actions by id."""
    if node.kind in (OBJECT, ACTION):
        return (OBJECT_IDS if node.kind == OBJECT else ACTION_IDS)[value]
    return ("no", "yes")[value] if node.kind.yes else node.kind.answers[value]


def program(question: Question, edition: Edition = SECOND) -> Node:
    """The template's program with every reference in its place."""
    template = edition.by_code[edition.codes[question.template]]
    filled: dict[str, Term] = {"relation": relation(question.relation)} if question.relation else {}
    if question.done_to:
        filled["relation"] = OP["first_done_to"](thing(Thing(DIRECT, question.done_to)))
    things, deeds = map(thing, question.things), map(deed, question.deeds)
    for name, slot in slots(template.node).items():
        if name in COLUMNS:
            filled[name] = next(deeds if slot.kind == ACTION else things)
    filled["time"] = window(question.time)
    node = fill(template.node, filled)
    assert isinstance(node, Node)
    return short(node)


def short(node: Node) -> Node:
    """An event over the whole video is written as the event alone."""
    if node.op is OP["within"] and isinstance(node.args[0], Node):
        return localised(node.args[0], node.args[1])
    if node.op.name in ("longer_in", "shorter_in") and node.args[-1] == OP["whole"]():
        return Node(OP[node.op.name.removesuffix("_in")], node.args[:-1])
    return Node(node.op, tuple(short(arg) if isinstance(arg, Node) else arg for arg in node.args))


def relation(name: str) -> Word:
    return Word(RELATIONS[name].name, RELATION)


def thing(named: Thing) -> Term:
    if named.kind == DIRECT:
        return Word(OBJECTS[named.object].name, OBJECT)
    inner, when = relation(named.relation), window(named.time or WHOLE_VIDEO)
    return OP["only"](OP["objects"](inner, when)) if named.kind == WHOLE else OP[named.kind](inner, when)


def window(time: Time) -> Node:
    return OP["whole" if time.kind == t.ALL else time.kind](*map(deed, time.deeds))


def deed(named: Deed) -> Term:
    if named.kind in LENGTHS:
        return OP[named.kind]()
    if named.thing is None:
        return Word(ACTIONS[named.action].phrase, ACTION)
    verb = WORDS.relations[WORDS.verb_of[WORDS.action_at[named.action]]].id
    return OP["to_action"](relation(verb), thing(named.thing))
