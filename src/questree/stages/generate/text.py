"""The text of questions by columns: phrases are made once per word or row of a side table, then gathered and joined."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.benchmarks.agqa import phrases
from questree.benchmarks.agqa.arguments import Arguments
from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.frames import Forms, Phrase, Piece, frames, kinds, split
from questree.benchmarks.agqa.templates import ACTION_REFERENCES, REFERENCES, TIMES
from questree.columns.hashing import Words as Hashes
from questree.columns.joins import Ints, starts
from questree.program import OBJECT
from questree.stages.generate.choices import WAYS, Choices, choices, time_ways
from questree.stages.generate.spans import DIRECT, INDIRECT, NOTHING
from questree.tables.questions import NOTHING8
from questree.vocabulary.words import Vocabulary

GATHERED = ("relation", "done_to", "x", "first", "second", "phrase")  # columns phrases are chosen by
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
class Said:
    """Phrases of a shard's side tables; a row's ways stand next to each other: row * ways + way."""

    start: dict[str, Ints]  # side table -> [video + 1]
    objects: pl.Series  # Lexicon.objects, then references with a time of their own
    references: Ints  # row of objects, per row of references and way
    actions: Texts
    times: Texts  # "" as it ends a question, "leading" as it opens one


def said(lexicon: Lexicon, sides: dict[str, pl.DataFrame], first_video: int, videos: int) -> Said:
    start = {name: starts(table["video"].to_numpy() - first_video, videos) for name, table in sides.items()}
    refs, acts, named = sides["references"], sides["action_references"], sides["phrases"]
    kind, relation = refs["kind"].to_numpy().astype(np.int64), refs["relation"].to_numpy().astype(np.int64)
    words = lexicon.vocabulary
    indirect = len(words.objects) + ((kind - 1) * len(words.relations) + relation) * WAYS
    way = np.arange(WAYS)
    objects = np.where((kind > 0)[:, None], indirect[:, None] + way, refs["object"].to_numpy()[:, None])  # [row, way]
    named_objects = lexicon.objects
    if "time" in refs.columns:
        timed = np.flatnonzero(refs["time"].to_numpy() > 0)
        objects[timed] = len(named_objects) + np.arange(len(timed) * WAYS).reshape(-1, WAYS)
        named_objects = pl.concat([named_objects, _series(timed_texts(lexicon, refs[timed]))])
    actions = action_texts(lexicon, acts, objects, named_objects, start["references"], first_video)
    times = time_texts(lexicon.edition.name, named, actions, start["action_references"], first_video)
    return Said(start, named_objects, objects.ravel(), actions, times)


def timed_texts(lexicon: Lexicon, refs: pl.DataFrame) -> list[str | None]:
    """References with a time of their own, few per video: [row * WAYS + way]."""
    make = Arguments(lexicon.vocabulary, lexicon.edition.name)
    rows = refs.select("kind", "relation", "time").iter_rows()
    return [
        make.object_reference(REFERENCES[kind], relation, way, make.packed_time(time, way)).forms[""].text
        for kind, relation, time in rows
        for way in range(WAYS)
    ]


def action_texts(
    lexicon: Lexicon, acts: pl.DataFrame, objects: Ints, nouns: pl.Series, ref_start: Ints, first_video: int
) -> Texts:
    kind, action = acts["kind"].to_numpy(), acts["action"].to_numpy().astype(np.int64)
    inner = kind == INDIRECT
    row = np.where(inner, ref_start[acts["video"].to_numpy() - first_video] + acts["reference"].to_numpy(), 0)
    superlative = len(lexicon.heads[""]) + (kind.astype(np.int64) - 1) * WAYS
    plain = np.where((kind == DIRECT)[:, None], action[:, None], superlative[:, None] + np.arange(WAYS))  # [row, way]
    plain = np.where(inner[:, None], 0, plain).ravel()
    twice, is_inner = np.repeat(action, WAYS), pl.Series(np.repeat(inner, WAYS))
    noun = nouns.gather(objects[row].ravel()) if len(objects) else pl.Series(dtype=pl.String)
    found: Texts = {}
    for form in TENSES:
        replaced = pl.select(pl.concat_str(lexicon.heads[form].gather(twice), noun, lexicon.tails[form].gather(twice)))
        found[form] = pl.select(
            pl.when(is_inner).then(replaced.to_series()).otherwise(lexicon.actions[form].gather(plain))
        ).to_series()
    return found


def time_texts(edition: str, named: pl.DataFrame, actions: Texts, act_start: Ints, first_video: int) -> Texts:
    """Time phrases: way = own way + ways * way of the actions."""
    ways = time_ways(edition)
    video = named["video"].to_numpy() - first_video
    kind = np.repeat(named["kind"].to_numpy(), WAYS * ways)
    way = np.tile(np.arange(WAYS * ways), len(named))
    rows = {}
    for side in "ab":
        at = named[side].to_numpy().astype(np.int64)
        row = np.where(at == NOTHING, 0, act_start[video] + at)
        rows[side] = np.repeat(row, WAYS * ways) * WAYS + way // ways
    text = np.empty(len(kind), object)
    for number, name in enumerate(TIMES):
        patterns = phrases.TIMES[edition][name]
        for own, pattern in enumerate(patterns):
            at = np.flatnonzero((kind == number) & (way % ways % len(patterns) == own))
            pieces = [
                pl.lit(piece) if isinstance(piece, str) else actions[piece.form].gather(rows[piece.slot][at])
                for piece in split(pattern)
            ]
            text[at] = pl.select(pl.concat_str(pieces)).to_series().to_numpy() if pieces and len(at) else ""
    suffix = _series(text.tolist())
    leading = capital(suffix.str.strip_chars_start())
    return {"": suffix, "leading": leading.replace("", phrases.WHOLE_VIDEO.text)}


def capital(texts: pl.Series) -> pl.Series:
    return pl.select(pl.concat_str(texts.str.slice(0, 1).str.to_uppercase(), texts.str.slice(1))).to_series()


def texts(
    questions: pl.DataFrame, sides: dict[str, pl.DataFrame], words: Lexicon, seeds: Hashes, first_video: int
) -> pl.Series:
    """The text of every question, in order. seeds: of the videos from first_video on."""
    if questions.is_empty():
        return pl.Series("question", [], dtype=pl.String)
    spoken = said(words, sides, first_video, len(seeds))
    video = questions["video"].to_numpy() - first_video
    edition, known = words.edition, frames(words.edition.name)
    ways = choices(seeds, video, questions["number"].to_numpy(), edition.name)
    template = questions["template"].to_numpy()
    sizes = np.array([len(known[t.name]) for t in edition.by_code])
    frame = ways.frame % sizes[template]
    order = np.lexsort((frame, template))
    begin = np.flatnonzero(np.diff(template[order].astype(np.int64) * 1000 + frame[order], prepend=-1))
    columns = {name: questions[name].to_numpy() for name in GATHERED if name in questions.columns}
    parts = []
    for lo, hi in zip(begin, [*begin[1:], len(order)], strict=True):
        at = order[lo:hi]
        pieces = known[edition.by_code[template[at[0]]].name][frame[at[0]]].pieces
        found = [part(piece, at, template[at[0]], columns, video, ways, words, spoken) for piece in pieces]
        if not isinstance(pieces[0], str):  # a phrase opens the question
            found[0] = capital(found[0])
        parts.append(pl.select(pl.concat_str(found).alias("question")).to_series())
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.arange(len(order))
    return pl.concat(parts).gather(inverse)


def part(
    piece: str | Piece,
    at: Ints,
    template: int,
    columns: dict[str, Ints],
    video: Ints,
    ways: Choices,
    words: Lexicon,
    spoken: Said,
) -> pl.Series:
    """One piece of a frame, for the rows `at`."""
    if isinstance(piece, str):
        return pl.repeat(piece, len(at), eager=True)
    phrases, row = place(piece, at, template, columns, video, ways, words, spoken)
    return phrases.gather(row)


def named_relations(at: Ints, columns: dict[str, Ints], words: Lexicon) -> Ints:
    """Rows of Lexicon.relations: the relation's word, or what was done to an object."""
    relation = columns["relation"][at]
    if "done_to" not in columns:
        return relation
    done_to = columns["done_to"][at].astype(np.int64)
    return np.where(done_to == NOTHING8, relation, len(words.vocabulary.relations) + done_to)


def place(
    piece: Piece,
    at: Ints,
    template: int,
    columns: dict[str, Ints],
    video: Ints,
    ways: Choices,
    words: Lexicon,
    spoken: Said,
) -> tuple[pl.Series, Ints]:
    """Where the phrases of a slot stand: a list of phrases, and the row of it each of the rows `at` takes."""
    if piece.slot == "relation":
        return words.relations[piece.form], named_relations(at, columns, words)
    if piece.slot == "time":
        row = spoken.start["phrases"][video[at]] + columns["phrase"][at]
        return spoken.times[piece.form], row * WAYS * time_ways(words.edition.name) + ways.time[at]
    asked = words.edition.by_code[template]
    if asked.every_object:  # asked whether it occurs or not, so by its name
        return words.objects, columns["x"][at]
    if asked.every_action:
        return words.actions[piece.form], columns["x"][at]
    side = "second" if piece.slot in ("second", "b") else "first"
    way = getattr(ways, side)[at]
    if kinds(asked.name)[piece.slot] == OBJECT.name:
        row = spoken.start["references"][video[at]] + columns[side][at]
        return spoken.objects, spoken.references[row * WAYS + way]
    row = spoken.start["action_references"][video[at]] + columns[side][at]
    return spoken.actions[piece.form], row * WAYS + way
