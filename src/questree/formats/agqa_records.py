"""Generated questions as AGQA's released records, and what each rests on as vertices of the scene graph."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from string import Formatter

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa import held_out
from questree.benchmarks.agqa.editions import Edition
from questree.benchmarks.agqa.records import INDIRECT, NOVEL, TEST
from questree.benchmarks.agqa.templates import TIMES, Template
from questree.columns.joins import Ints
from questree.domains.video import Videos
from questree.domains.video.facts import Bits
from questree.faults import BadInput, Fault, refuse
from questree.notation.agqa import write
from questree.notation.grammar import names
from questree.readings.answer import spell
from questree.readings.evidence import evidence
from questree.stages.balance.rounds import selection
from questree.stages.direct_equivalents import DIRECT_COLUMNS, direct_equivalents, direct_questions
from questree.stages.generate.text import Lexicon, Spans, Speech, lexicon
from questree.stages.ground.evidence import arguments, cores, reference_frames, slot_frames, windows
from questree.stages.named import Named
from questree.stages.question_forms import QuestionForm, plain_form
from questree.stages.questions import Bank, Shard, numbered
from questree.tables.facts import SPLIT_UNSAID, Facts
from questree.tables.questions import STANDS, WORDED, time_actions, time_kind
from questree.tables.run import Run, kept_while
from questree.terms import ACTION, OBJECT, RELATION, Node, ProgramError, slots
from questree.vocabulary import default
from questree.vocabulary.words import Vocabulary

EMPTY = "[]"


def frame_name(number: int) -> str:
    return f"{number:06d}"


def action_lists(actions: Ints, ids: list[str]) -> pl.Series:
    """The first instance of each action, whichever was meant: the release always says so."""
    return pl.Series([f'["{name}/1"]' for name in ids], dtype=pl.String).gather(actions)


@dataclass(frozen=True)
class Vertices:
    """Lists of vertices of a world's videos, by their ids: frames "000105", objects "o4/000105", actions "c076/1"."""

    world: Videos

    @cached_property
    def names(self) -> list[str]:
        """[frame of the corpus]"""
        return [frame_name(number) for number in self.world.number.tolist()]

    def lists(self, video: Ints, prefix: Ints, prefixes: list[str], frames: Bits) -> pl.Series:
        """[row] the vertices of a class (a prefix: "o4/"; "" for frames themselves) on a set of frames, in order."""
        first, inverse = distinct(video, prefix, frames)
        bits = np.unpackbits(
            frames[first].view(np.uint8).reshape(len(first), 8 * frames.shape[1]), axis=1, bitorder="little"
        )
        row, frame = np.nonzero(bits)
        ends = np.searchsorted(row, np.arange(len(first) + 1)).tolist()
        place = (self.world.frame_start[video[first[row]]] + frame).tolist()
        texts = []
        for number, said in enumerate(prefix[first].tolist()):
            here, head = [self.names[at] for at in place[ends[number] : ends[number + 1]]], prefixes[said]
            texts.append(f'["{head}' + f'", "{head}'.join(here) + '"]' if here else EMPTY)
        return pl.Series(texts, dtype=pl.String).gather(inverse)


def distinct(video: Ints, prefix: Ints, frames: Bits) -> tuple[Ints, Ints]:
    """(a row of every different list, [row] which of them): many questions rest on the same frames."""
    keys = np.column_stack([(video.astype(np.uint64) << np.uint64(16)) | prefix.astype(np.uint64), frames])
    packed = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    return first, inverse


@dataclass(frozen=True)
class Ground:
    """The vertices behind the rows of the side tables, by what is inside a phrase (null: nothing is), insides first."""

    world: Videos  # of the shard's videos only
    named: Named

    @cached_property
    def vertices(self) -> Vertices:
        return Vertices(self.world)

    @cached_property
    def window(self) -> Ints:
        """[phrase, 4]"""
        return windows(self.world, self.named)

    @cached_property
    def actions(self) -> dict[str, pl.Series]:
        """[action reference] ".object" and "" (the action itself)"""
        prefixes = [f"{word.id}/" for word in self.world.vocabulary.objects]
        video, object = self.named.video("references"), self.named.column("references", "object")
        references = self.vertices.lists(video, object, prefixes, reference_frames(self.world, self.named))
        action = self.named.column("action_references", "action")
        ids = [word.id for word in self.world.vocabulary.actions]
        return {".object": _gathered(references, self.named.inner), "": action_lists(action, ids)}

    @cached_property
    def times(self) -> dict[str, pl.Series]:
        """[phrase] ".a.object", ".a", ..., "" (its frames)"""
        found, video = dict[str, pl.Series](), self.named.video("phrases")
        for side in "ab":
            row = self.named.actions_of(side)
            found |= {f".{side}{name}": _gathered(nodes, row) for name, nodes in self.actions.items()}
        span = self.world.ask(video).span(self.window)
        return found | {"": self.vertices.lists(video, np.zeros(len(video), np.int64), [""], span)}


def _gathered(nodes: pl.Series, row: Ints) -> pl.Series:
    """nodes[row], null where there is no row."""
    return pl.concat([nodes, pl.Series([None], dtype=pl.String)]).gather(np.where(row < 0, len(nodes), row))


def groundings(ground: Ground, template: Template, asked: Shard, spans: Spans) -> pl.Series:
    """[question] of one template: a JSON object from "begin-end" to vertices."""
    entries = [
        entry(spans[name], nodes)
        for name, nodes in phrase_nodes(ground, template, asked)
        if name in spans and (spans[name][:, 0] >= 0).any()
    ]
    if not entries:
        return pl.repeat("{}", len(asked.questions), dtype=pl.String, eager=True)
    inner = pl.concat_str(entries, separator=", ", ignore_nulls=True)
    return pl.select(pl.concat_str(pl.lit("{"), inner, pl.lit("}"))).to_series()


def entry(span: Ints, nodes: pl.Series) -> pl.Series:
    """[question] `"27-36": ["o4/000105"]`; null where there is no such phrase."""
    begin, end = (pl.Series(span[:, side]) for side in (0, 1))
    text = pl.concat_str(pl.lit('"'), begin.cast(pl.String), pl.lit("-"), end.cast(pl.String), pl.lit('": '), nodes)
    return pl.select(pl.when(begin >= 0).then(text)).to_series()


def phrase_nodes(ground: Ground, template: Template, asked: Shard) -> Iterator[tuple[str, pl.Series]]:
    """Phrase -> the vertices behind it, in the order of the release: slots, actions and what is inside, the time."""
    yield from slot_nodes(ground, template, asked).items()
    for slot in slots(template.node):
        if slot in ("a", "b") and not template.every_action:
            row = asked.row(WORDED[slot])
            yield from ((slot + name, nodes.gather(row)) for name, nodes in ground.actions.items())
        elif slot == "time":
            row = asked.row("time")
            yield from ((slot + name, nodes.gather(row)) for name, nodes in ground.times.items())


def slot_nodes(ground: Ground, template: Template, asked: Shard) -> dict[str, pl.Series]:
    """Object and relation slots; an answer does not depend on the wording, so its evidence is found once for all."""
    node, world = template.node, ground.world
    wanted = {name: slot.kind for name, slot in slots(node).items()}
    if not any(kind in (OBJECT, RELATION) for kind in wanted.values()):
        return {}
    first, core = cores(asked)
    few = asked.where(asked.questions[first])
    rows = arguments(few, template, ground.window)
    frames = slot_frames(node, evidence(node, world.ask(few.video), rows), rows, few.column("answer"))
    words = {OBJECT: world.vocabulary.objects, RELATION: world.vocabulary.relations}
    prefixes = {kind: [f"{word.id}/" for word in known] for kind, known in words.items()}  # type: ignore[attr-defined]
    return {
        name: ground.vertices.lists(few.video, rows[name], prefixes[wanted[name]], bits).gather(core)
        for name, bits in frames.items()
    }


BATCH = 1 << 16  # questions whose text is in memory together
ANSWERS = {"bool": "yes-no", "frames": "yes-no", "order": "before-after"}  # kind of a program -> answers of its key
HOLE = re.compile(r"\$([\w.]+)!?")  # the mark of an action without an object is not AGQA's


@kept_while("vocabulary.toml", "facts", "ledger.json", "questions", "balanced")
def corpus(run: Path) -> tuple[Bank, Facts, Lexicon, pl.DataFrame | None]:
    """What all shards share, read once per process; the selection is None if there is none."""
    bank, place = Bank(Run(run)), Run(run)
    facts = place.load("facts")
    facts_split = facts.videos["split"].replace("", SPLIT_UNSAID)
    facts = Facts(**{**vars(facts), "videos": facts.videos.with_columns(facts_split)})
    return bank, facts, lexicon(bank.vocabulary, bank.edition), selection(place)


def refuse_unwritable(edition: Edition, say: Callable[[Node], str]) -> None:
    """Refuse templates from outside whose programs a notation cannot say, before anything is written."""
    faults = dict[str, Fault]()
    for template in edition.added:
        for time in template.times or TIMES[:1]:
            try:
                say(plain_form(template, time).node)
            except ProgramError as error:
                wanted = f"expected a program that can be exported, got another: {error}"
                faults.setdefault(template.name, Fault(f"template {template.name}", wanted))
    refuse(list(faults.values()))


@cache
def written(form: QuestionForm, edition: str) -> tuple[str, list[str]]:
    """AGQA's program of a form with %s for its words, and which words; it has none, so any vocabulary will do."""
    try:
        text = write(form.node, default(), edition)
    except ProgramError as error:
        raise BadInput.at(f"template {form.template.name}", str(error)) from error
    return HOLE.sub("%s", text.replace("%", "%%")), HOLE.findall(text)


def programs(asked: Shard) -> pl.Series:
    """[question] AGQA's program. Forms are many and rows of one few, so they are filled row by row."""
    known = {kind: np.array(names(kind, asked.vocabulary), object) for kind in (RELATION, OBJECT, ACTION)}
    found = np.empty(len(asked.questions), object)
    for form, at in asked.by_form():
        (text, holes), open = written(form, asked.edition.name), slots(form.node)
        words = [known[open[name].kind][asked.words[name][at]].tolist() for name in holes]
        found[at] = [text % row for row in zip(*words, strict=True)] if words else text
    return pl.Series(found.tolist(), dtype=pl.String)


@dataclass(frozen=True)
class Records:
    """Questions of a shard as records."""

    folder: Path  # of all its questions
    shard: Shard  # how things are named in its videos
    lexicon: Lexicon
    facts: Facts  # of all videos
    most_steps: tuple[int, ...]

    @cached_property
    def speech(self) -> Speech:
        return Speech(self.lexicon, self.shard.named)

    @cached_property
    def ground(self) -> Ground:
        named = self.shard.named
        own = self.facts.between(named.first, named.first + named.videos)
        return Ground(self.shard.edition.read(own, self.shard.vocabulary), named)

    @cached_property
    def direct(self) -> pl.DataFrame:
        return direct_questions(DIRECT_COLUMNS.pieces(self.folder), self.shard.edition)

    def records(self, questions: pl.DataFrame) -> pl.DataFrame:
        """Columns of TEST, and id, number, video."""
        questions = questions.with_columns(equivalent=direct_equivalents(questions, self.direct, self.shard.edition))
        template = questions["template"].to_numpy()
        order = np.argsort(template, kind="stable")
        _, begin = np.unique(template[order], return_index=True)
        parts = [self.of_template(self.shard.where(questions[at])) for at in np.split(order, begin[1:])]
        inverse = np.empty(len(order), np.int64)
        inverse[order] = np.arange(len(order))
        return pl.concat(parts)[inverse]

    def of_template(self, asked: Shard) -> pl.DataFrame:
        questions, spans = asked.questions, Spans()
        number = questions["template"][0]
        template, text = asked.edition.by_code[number], self.speech.say(asked, spans)
        names = pl.Series(asked.ids, dtype=pl.String).gather(questions["video"])
        labels, told = template.categories, flags(questions["flags"].to_numpy())
        constant = {
            "global": msgspec.json.encode(labels.reasoning).decode().replace('","', '", "'),
            "ans_type": template.answer_type,
            "semantic": labels.semantic,
            "structural": labels.structural,
        }
        made = {
            "question": text,
            "answer": answers(template, asked.vocabulary).gather(questions["answer"]),
            "video_id": names,
            **{name: pl.repeat(value, len(text), dtype=pl.String, eager=True) for name, value in constant.items()},
            "local": local_keys(template, asked),
            "steps": questions["steps"],
            "more_steps": (questions["steps"].to_numpy() > self.most_steps[number]) * 1,
            "program": programs(asked),
            "sg_grounding": groundings(self.ground, template, asked, spans),
            **{name: told[name] for name in ("novel_comp", *NOVEL, "indirect", *INDIRECT)},
            "direct_equiv": numbered(names, questions["equivalent"]),
        }
        table = pl.DataFrame(made).select(pl.col(name).cast(dtype) for name, dtype in TEST.items())
        return table.with_columns(asked.named_ids.alias("id"), questions["video"], questions["number"])


def answers(template: Template, vocabulary: Vocabulary) -> pl.Series:
    """[value] every answer a template can have, as it is printed."""
    kind = template.node.kind
    count = {"objects": len(vocabulary.objects), "actions": len(vocabulary.actions)}.get(kind.words, 2)
    return pl.Series([(spell(kind, value, vocabulary) or "").lower() for value in range(count)])


def flags(column: Ints) -> dict[str, Ints]:
    """The released flags of a column of bits."""
    found = {name: (column >> bit) & 1 for bit, name in enumerate(held_out.FLAGS)}
    indirect, novel = ((column & bits > 0) * 1 for bits in (held_out.INDIRECT, held_out.NOVEL))
    return found | {"indirect": indirect, "novel_comp": novel}


def filled(pattern: tuple[str, ...], words: dict[str, pl.Series], rows: int) -> pl.Series:
    """Pieces with a column of words in each hole."""
    if not any(piece.startswith("$") for piece in pattern):
        return pl.repeat("".join(pattern), rows, dtype=pl.String, eager=True)
    parts = [words[piece[1:]] if piece.startswith("$") else pl.lit(piece) for piece in pattern]
    return pl.select(pl.concat_str(parts)).to_series()


def local_keys(template: Template, asked: Shard) -> pl.Series:
    """Open questions keep the raw key; binary ones get their answers before it and their time behind it."""
    time, ids = asked.column("time"), key_ids(template, asked)
    raw = filled(tuple(_raw(template.local)), ids, len(time))
    if template.answer_type == "open":
        return raw
    kinds = pl.Series(TIMES, dtype=pl.String).gather(time_kind(time))
    answers = ANSWERS.get(template.node.kind.name)
    middle: pl.Series | pl.Expr = raw
    if template.group == "length" and answers is None:  # a choice between two actions
        middle = pl.lit(template.local.split("-")[0])
    head = raw if answers is None else pl.lit(answers)
    dash = pl.lit("-")
    return pl.select(pl.concat_str(head, dash, middle, dash, kinds, dash, ids["time"])).to_series()


def _raw(pattern: str) -> Iterator[str]:
    for literal, name, *_ in Formatter().parse(pattern):
        yield from ([literal] if literal else [])
        yield from ([f"${name}"] if name else [])


def key_ids(template: Template, asked: Shard) -> dict[str, pl.Series]:
    """The ids of the direct arguments, per slot; of a time the ids of its actions."""
    objects, relations, actions = (
        pl.Series([word.id for word in words], dtype=pl.String)
        for words in (asked.vocabulary.objects, asked.vocabulary.relations, asked.vocabulary.actions)
    )
    found = {}
    for name, slot in slots(template.node).items():
        if name == "relation":
            found[name] = relations.gather(asked.column("relation"))
        elif name != "time":
            found[name] = (objects if slot.kind == OBJECT else actions).gather(asked.column(STANDS[name]))
    distinct, row = np.unique(asked.column("time"), return_inverse=True)  # "c076", "c076-c023", "" for the whole video
    times = ["-".join(actions[at] for at in time_actions(packed) if at >= 0) for packed in distinct.tolist()]
    return found | {
        "time": pl.Series(times, dtype=pl.String).gather(row)
    }  # "c076", "c076-c023", "" for the whole video
