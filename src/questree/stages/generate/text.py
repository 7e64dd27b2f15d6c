"""The text of questions by columns: phrases are made once per word or row of a side table, then gathered and joined."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import polars as pl

from questree.benchmarks.agqa import phrases
from questree.benchmarks.agqa.arguments import ArgumentMaker
from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.frames import EXTRA, Forms, FramePiece, Phrase, split
from questree.benchmarks.agqa.phrases import WAYS, Choices, choices, time_ways
from questree.benchmarks.agqa.templates import ACTION_REFERENCES, BETWEEN, REFERENCES, TIMES, Template
from questree.columns.joins import Ints
from questree.stages.named import DIRECT, Named
from questree.stages.questions import GIVEN_TEXT, Shard
from questree.tables.questions import WORDED
from questree.tables.table import NO_WORD
from questree.terms import OBJECT
from questree.vocabulary.words import Vocabulary

TENSES = ("", "present", "past")
Texts = dict[str, pl.Series]  # form -> phrases


@dataclass(frozen=True)
class Lexicon:
    """Phrases that do not depend on a video."""

    edition: Edition
    relations: Texts  # per relation, then (edition 1.0) per object to which something was done first
    objects: pl.Series  # per object, then per (kind of reference, relation, way)
    actions: Texts  # per action, then per (longest, shortest; way)
    heads: Texts  # per action: what stands before its noun, to be replaced by a reference; null if it cannot be
    tails: Texts

    vocabulary: Vocabulary


def _series(texts: list[str | None]) -> pl.Series:
    return pl.Series(texts, dtype=pl.String)


def lexicon(vocabulary: Vocabulary, edition: Edition = SECOND) -> Lexicon:
    relations = [phrases.relation(at, vocabulary) for at in range(len(vocabulary.relations))]
    objects = [phrases.noun(at, vocabulary)[""].text for at in range(len(vocabulary.objects))]
    for kind in REFERENCES[1:]:
        objects += [phrases.object_reference(kind, r, way)[""].text for r in relations for way in range(WAYS)]
    if edition.relation_references:
        relations += [phrases.relation_reference(at, vocabulary) for at in range(len(vocabulary.objects))]
    actions = [phrases.action(at, vocabulary) for at in range(len(vocabulary.actions))]
    actions += [phrases.action_reference(kind, way) for kind in ACTION_REFERENCES[1:3] for way in range(WAYS)]
    hole: Forms = {"": Phrase("\0")}
    holes = [phrases.indirect_action(at, hole, vocabulary) for at in range(len(vocabulary.actions))]
    return Lexicon(
        edition,
        {form: _series([forms[form].text for forms in relations]) for form in relations[0]},
        _series([*objects]),
        {form: _series([forms[form].text for forms in actions]) for form in TENSES},
        {form: _series([h[form].text.partition("\0")[0] if h else None for h in holes]) for form in TENSES},
        {form: _series([h[form].text.partition("\0")[2] if h else None for h in holes]) for form in TENSES},
        vocabulary,
    )


@dataclass(frozen=True)
class PhraseTable:
    """Phrases of a shard's side tables; a row's ways stand next to each other: row * ways + way."""

    objects: pl.Series  # Lexicon.objects, then references with a time of their own
    references: Ints  # row of objects, per row of references and way
    actions: Texts
    times: Texts  # "" as it ends a question, "leading" as it opens one


def said(lexicon: Lexicon, named: Named) -> PhraseTable:
    refs, words = named.sides["references"], lexicon.vocabulary
    kind, relation = named.column("references", "kind"), named.column("references", "relation")
    indirect = len(words.objects) + ((kind - 1) * len(words.relations) + relation) * WAYS
    way = np.arange(WAYS)
    objects = np.where((kind > 0)[:, None], indirect[:, None] + way, refs["object"].to_numpy()[:, None])  # [row, way]
    named_objects = lexicon.objects
    if "time" in refs.columns:
        timed = np.flatnonzero(refs["time"].to_numpy() > 0)
        objects[timed] = len(named_objects) + np.arange(len(timed) * WAYS).reshape(-1, WAYS)
        named_objects = pl.concat([named_objects, _series(timed_texts(lexicon, refs[timed]))])
    actions = action_texts(lexicon, named, objects, named_objects)
    return PhraseTable(named_objects, objects.ravel(), actions, time_texts(lexicon.edition.name, named, actions))


def timed_texts(lexicon: Lexicon, refs: pl.DataFrame) -> list[str | None]:
    """References with a time of their own, few per video: [row * WAYS + way]."""
    make = ArgumentMaker(lexicon.vocabulary, lexicon.edition.name)
    rows = refs.select("kind", "relation", "time").iter_rows()
    return [
        make.object_reference(REFERENCES[kind], relation, way, make.packed_time(time, way)).forms[""].text
        for kind, relation, time in rows
        for way in range(WAYS)
    ]


def action_texts(lexicon: Lexicon, named: Named, objects: Ints, nouns: pl.Series) -> Texts:
    kind, action = named.column("action_references", "kind"), named.column("action_references", "action")
    inner = named.inner >= 0
    superlative = len(lexicon.heads[""]) + (kind - 1) * WAYS
    plain = np.where((kind == DIRECT)[:, None], action[:, None], superlative[:, None] + np.arange(WAYS))  # [row, way]
    plain = np.where(inner[:, None], 0, plain).ravel()
    twice, is_inner = np.repeat(action, WAYS), pl.Series(np.repeat(inner, WAYS))
    row = np.where(inner, named.inner, 0)
    noun = nouns.gather(objects[row].ravel()) if len(objects) else pl.repeat("", len(twice), eager=True)
    found: Texts = {}
    for form in TENSES:
        replaced = pl.select(pl.concat_str(lexicon.heads[form].gather(twice), noun, lexicon.tails[form].gather(twice)))
        found[form] = pl.select(
            pl.when(is_inner).then(replaced.to_series()).otherwise(lexicon.actions[form].gather(plain))
        ).to_series()
    return found


def time_patterns(edition: str, named: Named) -> Iterator[tuple[tuple[str | FramePiece, ...], Ints, dict[str, Ints]]]:
    """(pattern, rows, side -> rows of the phrases of its actions): time phrases said alike; row * ways + way."""
    ways = time_ways(edition)
    kind, way = np.repeat(named.column("phrases", "kind"), WAYS * ways), np.tile(np.arange(WAYS * ways), named.phrases)
    acts = {side: np.repeat(np.maximum(named.actions_of(side), 0), WAYS * ways) * WAYS + way // ways for side in "ab"}
    for number, name in enumerate(TIMES):
        patterns = phrases.TIMES[edition][name]
        for own, pattern in enumerate(patterns):
            at = np.flatnonzero((kind == number) & (way % ways % len(patterns) == own))
            yield split(pattern), at, {side: rows[at] for side, rows in acts.items()}


def time_texts(edition: str, named: Named, actions: Texts) -> Texts:
    """Time phrases: way = own way + ways * way of the actions."""
    text = np.empty(named.phrases * WAYS * time_ways(edition), object)
    for pattern, at, acts in time_patterns(edition, named):
        pieces = [
            pl.lit(piece) if isinstance(piece, str) else actions[piece.form].gather(acts[piece.slot])
            for piece in pattern
        ]
        text[at] = pl.select(pl.concat_str(pieces)).to_series().to_numpy() if pieces and len(at) else ""
    suffix = _series(text.tolist())
    leading = capital(suffix.str.strip_chars_start())
    return {"": suffix, "leading": leading.replace("", phrases.WHOLE_VIDEO.text)}


def capital(texts: pl.Series) -> pl.Series:
    return pl.select(pl.concat_str(texts.str.slice(0, 1).str.to_uppercase(), texts.str.slice(1))).to_series()


Spans = dict[str, Ints]  # "first", "time", "time.a", "time.a.object" -> [row, 2] characters begin <= i < end; -1: none


@dataclass
class Sizes:
    """Number of characters of every phrase of a list, counted once per list."""

    _known: dict[int, tuple[pl.Series, Ints]] = field(default_factory=dict)  # the list is kept, so its id stays its own

    def __call__(self, texts: pl.Series) -> Ints:
        if id(texts) not in self._known:
            self._known[id(texts)] = texts, texts.str.len_chars().fill_null(0).to_numpy().astype(np.int64)
        return self._known[id(texts)][1]


@dataclass(frozen=True)
class Inside:
    """Where phrases stand inside phrases, in the order of `Said`."""

    actions: dict[str, Spans]  # form -> "object": the reference inside an action
    times: dict[str, Spans]  # form -> "a", "b": actions inside a time phrase, "a.object": the reference inside


def none(rows: int) -> Ints:
    return np.full((rows, 2), -1)


def moved(span: Ints, by: Ints) -> Ints:
    """The span further right; where there is none it stays none."""
    return np.where(span < 0, -1, span + by[:, None])


def inside(words: Lexicon, spoken: PhraseTable, named: Named, sizes: Sizes) -> Inside:
    actions = {form: {"object": reference_spans(form, words, spoken, named, sizes)} for form in TENSES}
    suffix = {
        name: none(named.phrases * WAYS * time_ways(words.edition.name)) for name in ("a", "a.object", "b", "b.object")
    }
    for pattern, at, acts in time_patterns(words.edition.name, named):  # as they end a question, their space included
        end = np.zeros(len(at), np.int64)
        for piece in pattern:
            if isinstance(piece, str):
                end = end + len(piece)
                continue
            row = acts[piece.slot]
            begin, end = end, end + sizes(spoken.actions[piece.form])[row]
            suffix[piece.slot][at] = np.stack([begin, end], axis=1)
            suffix[f"{piece.slot}.object"][at] = moved(actions[piece.form]["object"][row], begin)
    leading = {name: moved(span, np.full(len(span), -1)) for name, span in suffix.items()}  # its space is dropped
    return Inside(actions, {"": suffix, "leading": leading})


def reference_spans(form: str, words: Lexicon, spoken: PhraseTable, named: Named, sizes: Sizes) -> Ints:
    """[row of action references * WAYS + way, 2] the reference that stands for an action's noun."""
    inner = np.flatnonzero(named.inner >= 0)
    found = none(len(named.inner) * WAYS).reshape(-1, WAYS, 2)
    begin = sizes(words.heads[form])[named.column("action_references", "action")[inner]]
    for way in range(WAYS):
        size = sizes(spoken.objects)[spoken.references[named.inner[inner] * WAYS + way]]
        found[inner, way] = np.stack([begin, begin + size], axis=1)
    return found.reshape(-1, 2)


def texts(shard: Shard, words: Lexicon) -> pl.Series:
    """The text of every question, in order."""
    if GIVEN_TEXT in shard.questions.columns:
        return shard.questions[GIVEN_TEXT].alias("question")
    return Speech(words, shard.named).say(shard)


@dataclass
class Speech:
    """Everything the questions of a shard are said with."""

    words: Lexicon
    named: Named

    @cached_property
    def said(self) -> PhraseTable:
        return said(self.words, self.named)

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes()

    @cached_property
    def inside(self) -> Inside:
        return inside(self.words, self.said, self.named, self.sizes)

    def say(self, asked: Shard, spans: Spans | None = None) -> pl.Series:
        """[question] its text; `spans`, if given, is filled with the characters at which phrases stand."""
        if asked.questions.is_empty():
            return pl.Series("question", [], dtype=pl.String)
        edition = asked.edition
        ways = choices(asked.seeds, asked.video, asked.questions["number"].to_numpy(), edition.name)
        template = asked.questions["template"].to_numpy()
        sizes = np.array([len(t.frames) for t in edition.by_code])
        frame = ways.frame % sizes[template]
        order = np.lexsort((frame, template))
        begin = np.flatnonzero(np.diff(template[order].astype(np.int64) * 1000 + frame[order], prepend=-1))
        parts, rows = [], PhraseRows(asked)
        for lo, hi in zip(begin, [*begin[1:], len(order)], strict=True):
            at, own = order[lo:hi], edition.by_code[template[order[lo]]]
            pieces = own.frames[frame[at[0]]].pieces
            found = [self.place(piece, own, at, rows, ways) for piece in pieces]
            if spans is not None:
                for name, span in self.spans(pieces, found, len(at)).items():
                    spans.setdefault(name, none(len(order)))[at] = span
            parts.append(joined(pieces, found, len(at)))
        inverse = np.empty(len(order), np.int64)
        inverse[order] = np.arange(len(order))
        return pl.concat(parts).gather(inverse)

    def place(
        self, piece: str | FramePiece, asked: Template, at: Ints, rows: "PhraseRows", ways: Choices
    ) -> tuple[pl.Series, Ints]:
        """Where the phrases of a slot stand: a list of phrases, and the row of it each of the questions `at` takes."""
        words, spoken = self.words, self.said
        if isinstance(piece, str):
            return constant(piece)
        if piece.slot == "relation":
            return words.relations[piece.form], rows["relation"][at]
        if piece.slot == "time":
            way = self.time_way(asked, at, rows, ways)
            return spoken.times[piece.form], rows["time"][at] * WAYS * time_ways(words.edition.name) + way
        if asked.every_object:  # asked whether it occurs or not, so by its name
            return words.objects, rows["x"][at]
        if asked.every_action:
            return words.actions[piece.form], rows["x"][at]
        side = WORDED[piece.slot]
        way = rows[side][at] * WAYS + getattr(ways, side)[at]
        if asked.kinds[piece.slot] == OBJECT.name:
            return spoken.objects, spoken.references[way]
        return spoken.actions[piece.form], way

    @cached_property
    def runs_on(self) -> Ints:
        """[row of the lexicon's relations]"""
        relations = len(self.words.vocabulary.relations)
        own = [
            at < relations and phrases.runs_on(at, self.words.vocabulary) for at in range(len(self.words.relations[""]))
        ]
        return np.array(own, bool)

    def time_way(self, asked: Template, at: Ints, rows: "PhraseRows", ways: Choices) -> Ints:
        if "relation" not in asked.kinds or not self.runs_on.any():
            return ways.time[at]
        between = self.named.column("phrases", "kind")[rows["time"][at]] == TIMES.index(BETWEEN)
        runs_on = between & self.runs_on[rows["relation"][at]]
        return phrases.not_between(ways.time[at], runs_on, self.words.edition.name)

    def inner(self, piece: FramePiece, texts: pl.Series) -> Spans:
        if piece.slot == "time":
            return self.inside.times[piece.form]
        return self.inside.actions[piece.form] if texts is self.said.actions.get(piece.form) else {}

    def spans(self, pieces: Sequence[str | FramePiece], found: list[tuple[pl.Series, Ints]], rows: int) -> Spans:
        """The characters of every slot's phrase, as `benchmarks.agqa.frames.fill` finds them for one question."""
        spans: Spans = {}
        end = np.zeros(rows, np.int64)
        for piece, (texts, row) in zip(pieces, found, strict=True):
            begin, end = end, end + self.sizes(texts)[row]
            if isinstance(piece, str):
                continue
            if piece.form not in EXTRA:
                margin = (piece == FramePiece("time")) & (end > begin)  # the space a time phrase brings along
                spans[piece.slot] = np.stack([begin + margin, end], axis=1)
                for name, span in self.inner(piece, texts).items():
                    spans[f"{piece.slot}.{name}"] = moved(span[row], begin)
            elif piece.form == "rest" and piece.slot in spans:
                own = spans[piece.slot]
                own[:, 1] = np.where(own[:, 1] == begin, end, own[:, 1])
        return spans


def joined(pieces: Sequence[str | FramePiece], found: list[tuple[pl.Series, Ints]], rows: int) -> pl.Series:
    """The questions said with one frame."""
    if all(isinstance(piece, str) for piece in pieces):
        return pl.repeat("".join(map(str, pieces)), rows, eager=True).alias("question")
    said = [
        pl.lit(piece) if isinstance(piece, str) else pl.lit(texts).gather(pl.lit(pl.Series(row)))
        for piece, (texts, row) in zip(pieces, found, strict=True)
    ]
    if not isinstance(pieces[0], str):  # a phrase opens the question
        said[0] = pl.concat_str(said[0].str.slice(0, 1).str.to_uppercase(), said[0].str.slice(1))
    return pl.select(pl.concat_str(said).alias("question")).to_series()


@cache
def constant(piece: str) -> tuple[pl.Series, Ints]:
    """The same words in every question."""
    return _series([piece]), np.zeros(1, np.int64)


class PhraseRows(dict[str, Ints]):
    """Slot -> [question] the row of the phrases it is said with."""

    def __init__(self, asked: Shard):
        super().__init__()
        self.asked = asked

    def __missing__(self, slot: str) -> Ints:
        asked = self.asked
        if slot == "relation":  # its word, or (edition 1.0) what was done to an object
            found, count = asked.column("relation"), len(asked.vocabulary.relations)
            if "done_to" in asked.questions.columns:
                done_to = asked.column("done_to")
                found = np.where(done_to == NO_WORD[asked.vocabulary.wide], found, count + done_to)
        else:
            found = asked.column("x") if slot == "x" else asked.row(slot)
        self[slot] = found
        return found
