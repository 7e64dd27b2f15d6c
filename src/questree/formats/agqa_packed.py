"""Imported records as questions of a run: template and words of each as numbers, and the side tables that word them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.held_out import FLAGS, I_ACT, I_OBJ, I_TEMP, NC_OBJREL
from questree.benchmarks.agqa.templates import ACTION_REFERENCES, INDIRECT, LONGEST, SHORTEST, Template
from questree.columns.joins import Ints
from questree.domains.video import VIDEO
from questree.formats.agqa_records import answers
from questree.notation.grammar import numbers
from questree.notation.own_shapes import program_shapes
from questree.stages.generate.questions import DIFFERENT, NO_DIRECT, NO_TEMPORAL, SAME
from questree.stages.recognised import NamedAction, NamedObject, Recognised, recognised
from questree.tables.hierarchies import Numbers
from questree.tables.questions import NOTHING16, TABLES, TEXT, packed_time
from questree.tables.table import NO_WORD
from questree.terms import Node, Term
from questree.vocabulary.words import Vocabulary

NONE = -1
PLACES = ("first", "second", "a", "b")  # what may be named by a reference
NAMED = ("action_kind", "action", "kind", "object", "relation")  # columns of a place; NONE where it has none
VERTEX = re.compile(r'"([^"/]+)/[^"]*"')
ID = r"^(.*)-(\d{1,9})$"
Values = dict[str, Ints]  # slot of a program -> [row] position of its word
Resolve = Callable[[Term, Values, Ints], Ints]  # a reference, its words, videos -> [row] what it stands for, or NONE

NO_NUMBER = "its id is not <video>-<number>"
NO_FACTS = "the facts do not have its video"
NO_TEMPLATE = "no template has its program"
NO_ANSWER = "its answer is none its template can have"
UNKNOWN = "neither its key nor its grounding says what a reference in it stands for"
FAULTS = ("", NO_TEMPLATE, NO_ANSWER, UNKNOWN)
COLUMNS = (
    *("template", "relation", "x", "y", "time", "time_kind", "answer", "flags"),
    *(f"{place}.{name}" for place in PLACES for name in NAMED),
)


def nobody(term: Term, words: Values, video: Ints) -> Ints:
    return np.full(len(video), NONE)


@dataclass
class Packer:
    """Records one table after the other into columns; videos are numbered as they come."""

    vocabulary: Vocabulary
    videos: Numbers[str] = field(default_factory=Numbers)
    resolve: Resolve = nobody  # where a record does not say it
    more_videos: bool = True  # may there be others than those that are numbered already?
    edition: Edition = SECOND
    _known: dict[Node, Recognised | None] = field(default_factory=dict)

    def pack(self, records: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """(questions with their words, id and reason of what cannot be one); `records` have the fields of a file."""
        named = records["id"].str.extract_groups(ID).struct.unnest()
        read = records.with_columns(number=named["2"].cast(pl.UInt32)).filter(pl.col("form").is_not_null())
        fine = pl.col("number").is_not_null() & (pl.col("video_id") == pl.col("id").str.extract(ID, 1))
        odd = read.filter(~fine.fill_null(False)).select("id", why=pl.lit(NO_NUMBER))
        asked = read.filter(fine.fill_null(False))
        if not self.more_videos:
            there = pl.col("video_id").is_in(list(self.videos))
            odd, asked = pl.concat([odd, asked.filter(~there).select("id", why=pl.lit(NO_FACTS))]), asked.filter(there)
        video = np.array([self.videos[name] for name in asked["video_id"].to_list()], np.int64)
        made = {name: np.full(len(asked), NONE, np.int64) for name in COLUMNS} | {"video": video}
        made["fault"] = np.zeros(len(asked), np.int64)
        said, shapes = Said(asked, self.vocabulary), program_shapes(asked, VIDEO)
        for node, rows in shapes.by_shape:
            if node not in self._known:
                self._known[node] = recognised(node, self.edition)
            known = self._known[node]
            if known is None:
                made["fault"][rows] = FAULTS.index(NO_TEMPLATE)
                continue
            words = shapes.columns(node, rows, lambda said, kind: numbers(said, kind, self.vocabulary))
            for name, column in self.columns(known, words, said, rows, video[rows]).items():
                made[name][rows] = column
        twin = asked["direct_equiv"].str.extract(ID, 2).cast(pl.UInt32)
        found = pl.DataFrame(made).with_columns(
            asked.select("id", "number", "steps", "novel_comp", "more_steps", twin=twin, text="question"),
            flags=flags(asked, pl.Series(made["flags"])),
        )
        left = found.filter(pl.col("fault") > 0).select("id", why=pl.lit(pl.Series(FAULTS)).gather("fault"))
        return found.filter(pl.col("fault") == 0).drop("id", "fault"), pl.concat([odd, left])

    def columns(self, known: Recognised, words: Values, said: "Said", rows: Ints, video: Ints) -> dict[str, Ints | int]:
        """Questions of one shape."""
        template, words_of = self.edition.by_code[known.template], self.vocabulary
        kind = {"template": known.template, "time_kind": known.time, "flags": referred(known)}
        answer = said.answers(template, rows)
        found, fault = (
            dict[str, Ints | int](**kind, answer=answer),
            np.where(answer == NONE, FAULTS.index(NO_ANSWER), 0),
        )
        if known.relation:
            found["relation"] = words_of.folded[words[known.relation]]
        elif template.every_object:
            found["relation"] = words_of.relation_at[words_of.interacting]
        classes = dict.fromkeys(PLACES, np.full(len(rows), NONE))
        for place, thing in known.named.items():
            classes[place] = stands = self.stands_for(place, known, words, said, rows, video)
            fault = np.where((fault == 0) & (stands == NONE), FAULTS.index(UNKNOWN), fault)
            if place != "first" or not (template.every_object or template.every_action):
                found |= {f"{place}.{name}": own for name, own in self.named(thing, stands, words).items()}
        time = packed_time(np.full(len(rows), known.time), classes["a"], classes["b"])
        return found | {"x": classes["first"], "y": classes["second"], "time": time, "fault": fault}

    def named(self, thing: NamedObject | NamedAction | None, stands: Ints, words: Values) -> dict[str, Ints | int]:
        """Columns of NAMED."""
        if isinstance(thing, NamedAction):
            inside = np.where(stands == NONE, NONE, self.vocabulary.object_of[stands])
            return {"action_kind": thing.kind, "action": stands, **self.named(thing.object, inside, words)}
        if thing is None:
            return {}
        relation = self.vocabulary.folded[words[thing.word]] if thing.kind else NONE
        return {"kind": thing.kind, "object": stands, "relation": relation}

    def stands_for(self, place: str, known: Recognised, words: Values, said: "Said", rows: Ints, video: Ints) -> Ints:
        """[row] the class that is meant: by its name, as the record says, or else as `resolve` does."""
        thing = known.named[place]
        if not thing.kind:
            return words[thing.word]
        same = [name for name in PLACES if isinstance(known.named.get(name), type(thing))]
        told = said.classes(type(thing), rows, len(same))[:, same.index(place)]
        if (told == NONE).any():
            told = np.where(told == NONE, self.resolve(thing.term, words, video), told)
        objects = isinstance(thing, NamedObject)
        merged = self.vocabulary.merged_object if objects else self.vocabulary.merged_action
        return np.where(told == NONE, NONE, merged[told])


@dataclass(frozen=True)
class Said:
    """What records say about their questions besides the program."""

    asked: pl.DataFrame
    vocabulary: Vocabulary

    @cached_property
    def answer(self) -> Ints:
        """[question] in lower case."""
        return self.asked["answer"].str.to_lowercase().to_numpy().astype(object)

    def answers(self, template: Template, rows: Ints) -> Ints:
        """[row] its answer as a number, NONE if it is none of the template's."""
        known: dict[str, int] = {}
        for at, word in enumerate(answers(template, self.vocabulary).to_list()):
            known.setdefault(word, at)
        return np.array([known.get(word, NONE) for word in self.answer[rows].tolist()], np.int64)

    @cached_property
    def listed(self) -> tuple[list[str], list[str]]:
        """[question] its key and its grounding."""
        return self.asked["local"].fill_null("").to_list(), self.asked["sg_grounding"].fill_null("").to_list()

    @cached_property
    def ids(self) -> dict[type[NamedObject | NamedAction], dict[str, int]]:
        objects, actions = self.vocabulary.objects, self.vocabulary.actions
        return {
            NamedObject: {word.id: at for at, word in enumerate(objects)},
            NamedAction: {word.id: at for at, word in enumerate(actions)},
        }

    def classes(self, kind: type[NamedObject | NamedAction], rows: Ints, count: int) -> Ints:
        """[row, place] the objects or actions its key ends with, or else the actions of its grounding; or NONE."""
        known, found, (keys, grounds) = self.ids[kind], np.full((len(rows), count), NONE), self.listed
        for at, row in enumerate(rows.tolist()):
            own = [known[part] for part in keys[row].split("-") if part in known]
            if len(own) < count and kind is NamedAction:  # keys of open questions do not have the time
                own = [known[part] for part in VERTEX.findall(grounds[row]) if part in known]
            if len(own) >= count:  # a choice names its options twice
                found[at] = own[len(own) - count :]
        return found


def referred(known: Recognised) -> int:
    """The flags of references and times."""
    kinds = {ACTION_REFERENCES[thing.kind] for thing in known.named.values() if isinstance(thing, NamedAction)}
    objects = any(thing.kind for thing in known.named.values() if isinstance(thing, NamedObject))
    own = I_OBJ * (objects or INDIRECT in kinds), I_ACT * bool(kinds & {LONGEST, SHORTEST}), I_TEMP * (known.time > 0)
    return sum(own)


def flags(asked: pl.DataFrame, own: pl.Series) -> pl.Series:
    """[question] as the record says; training records say no more than that some composition is novel."""
    train = own | pl.col("novel_comp").fill_null(0).cast(pl.Int64) * NC_OBJREL
    test = pl.sum_horizontal(pl.col(name).cast(pl.Int64) * (1 << bit) for bit, name in enumerate(FLAGS))
    said = pl.all_horizontal(pl.col(name).is_not_null() for name in FLAGS)
    return asked.select(pl.when(said).then(test).otherwise(train)).to_series()


def tables(found: pl.DataFrame, vocabulary: Vocabulary, edition: Edition = SECOND) -> dict[str, pl.DataFrame]:
    """Questions of whole videos (as `Packer` has them) as the tables of a shard, with their texts."""
    found = found.sort("video", "number")
    wide = vocabulary.wide
    references, rows = together(found, ("kind", "object", "relation"), "kind")
    found = found.with_columns(**{f"{place}.reference": own for place, own in rows.items()})
    actions, rows = together(found, ("action_kind", "action", "reference"), "action_kind")
    actions = actions.rename({"action_kind": "kind"})
    acts = {place: pl.Series(own) for place, own in rows.items()}
    worded = {
        place: pl.select(pl.when(found[f"{place}.action_kind"] >= 0).then(acts[place]).otherwise(own)).to_series()
        for place in PLACES
        for own in (found[f"{place}.reference"],)
    }
    spoken = found.select("video", kind="time_kind", a=worded["a"], b=worded["b"])
    whole = spoken.select("video").unique().with_columns(kind=pl.lit(0, pl.Int64), a=NOTHING16, b=NOTHING16)
    phrases, phrase = numbered(pl.concat([spoken, whole.cast(spoken.schema)]), ("kind", "a", "b"))
    asked = found.with_columns(
        first=worded["first"], second=worded["second"], phrase=phrase[: len(found)], effect=effects(found)
    )
    made = {"questions": asked, "references": references, "action_references": actions, "phrases": phrases}
    known = TABLES[edition.name]
    small = {name: fitted(made[name], known[name].types(wide), NO_WORD[wide]) for name in known}
    return small | {TEXT.name: asked.select(question="text")}


def together(found: pl.DataFrame, names: Sequence[str], kind: str) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """A side table of what stands at all places, and place -> [question] its row within the video, or NOTHING16."""
    each = [found.select("video", *(pl.col(f"{place}.{name}").alias(name) for name in names)) for place in PLACES]
    every = pl.concat(each)
    table, row = numbered(every.filter(pl.col(kind) >= 0), names)
    own = np.full(len(every), NOTHING16)
    own[(every[kind] >= 0).to_numpy()] = row.to_numpy()
    parts = np.split(own, len(PLACES))
    return table, {place: pl.Series(part) for place, part in zip(PLACES, parts, strict=True)}


def numbered(rows: pl.DataFrame, names: Sequence[str]) -> tuple[pl.DataFrame, pl.Series]:
    """The different rows by video, and [row] its number within its video."""
    different = rows.unique().sort("video", *names)
    counted = different.with_columns(row=pl.int_range(pl.len()).over("video"))
    return different, rows.join(counted, on=["video", *names], how="left", maintain_order="left")["row"]


def effects(found: pl.DataFrame) -> pl.Series:
    """[question] what its time does to the answer, against the same question about the whole video, if it is asked."""
    same = ["video", "template", "relation", "x", "y"]
    whole = found.filter(pl.col("time_kind") == 0).group_by(same).agg(plain=pl.col("answer").first())
    plain = found.select(*same, "answer", "time_kind").join(whole, on=same, how="left", maintain_order="left")
    same_answer = pl.when(pl.col("plain") == pl.col("answer")).then(SAME).otherwise(DIFFERENT)
    effect = pl.when(pl.col("plain").is_null()).then(NO_DIRECT).otherwise(same_answer)
    return plain.select(pl.when(pl.col("time_kind") == 0).then(NO_TEMPORAL).otherwise(effect)).to_series()


def fitted(table: pl.DataFrame, types: Mapping[str, object], nothing: int) -> pl.DataFrame:
    """Columns of small integers; NONE becomes what stands for no word."""
    columns: Iterator[pl.Expr] = (
        pl.when(pl.col(name) == NONE).then(nothing).otherwise(pl.col(name)).cast(dtype).alias(name)  # type: ignore[arg-type]
        for name, dtype in types.items()
    )
    return table.select(columns)
