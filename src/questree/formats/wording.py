"""The text of questions by columns, with the characters at which every slot's phrase stands."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks.agqa import phrases
from questree.benchmarks.agqa.frames import EXTRA, FRAMES, Piece, split
from questree.benchmarks.agqa.templates import TEMPLATES, TIMES
from questree.columns.joins import Ints
from questree.stages.generate.choices import TIME_WAYS, WAYS, Choices
from questree.stages.generate.spans import INDIRECT, NOTHING
from questree.stages.generate.text import TENSES, Lexicon, Said, capital, place

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


def inside(words: Lexicon, spoken: Said, sides: dict[str, pl.DataFrame], first_video: int, sizes: Sizes) -> Inside:
    actions = {form: {"object": _references(form, words, spoken, sides, first_video, sizes)} for form in TENSES}
    suffix = _times(actions[""]["object"], spoken, sides, first_video, sizes)
    leading = {name: moved(span, np.full(len(span), -1)) for name, span in suffix.items()}  # its space is dropped
    return Inside(actions, {"": suffix, "leading": leading})


def _references(
    form: str, words: Lexicon, spoken: Said, sides: dict[str, pl.DataFrame], first_video: int, sizes: Sizes
) -> Ints:
    """[row of action references * WAYS + way, 2] the reference that stands for an action's noun."""
    acts = sides["action_references"]
    inner = np.flatnonzero(acts["kind"].to_numpy() == INDIRECT)
    found = none(len(acts) * WAYS).reshape(-1, WAYS, 2)
    video = acts["video"].to_numpy()[inner].astype(np.int64) - first_video
    reference = spoken.start["references"][video] + acts["reference"].to_numpy()[inner]
    begin = sizes(words.heads[form])[acts["action"].to_numpy()[inner]]
    for way in range(WAYS):
        size = sizes(words.objects)[spoken.references[reference * WAYS + way]]
        found[inner, way] = np.stack([begin, begin + size], axis=1)
    return found.reshape(-1, 2)


def _times(
    references: Ints, spoken: Said, sides: dict[str, pl.DataFrame], first_video: int, sizes: Sizes
) -> dict[str, Ints]:
    """[row of phrases * TIME_WAYS + way, 2] for time phrases as they end a question, their space included."""
    named = sides["phrases"]
    kind = np.repeat(named["kind"].to_numpy(), TIME_WAYS)
    way = np.tile(np.arange(TIME_WAYS), len(named))
    base = spoken.start["action_references"][named["video"].to_numpy().astype(np.int64) - first_video]
    found = {name: none(len(kind)) for name in ("a", "a.object", "b", "b.object")}
    for number, name in enumerate(TIMES):
        patterns = phrases.TIMES["2.0"][name]
        for order, pattern in enumerate(patterns):
            at = np.flatnonzero((kind == number) & (way % 2 % len(patterns) == order))
            end = np.zeros(len(at), np.int64)
            for piece in split(pattern):
                if isinstance(piece, str):
                    end = end + len(piece)
                    continue
                row = named[piece.slot].to_numpy().astype(np.int64)[at // TIME_WAYS]
                assert (row != NOTHING).all(), "a time phrase names its actions"
                row = (base[at // TIME_WAYS] + row) * WAYS + way[at] // 2
                begin, end = end, end + sizes(spoken.actions[piece.form])[row]
                found[piece.slot][at] = np.stack([begin, end], axis=1)
                found[f"{piece.slot}.object"][at] = moved(references[row], begin)
    return found


@dataclass(frozen=True)
class Speech:
    """Everything the questions of some videos are said with."""

    words: Lexicon
    spoken: Said
    inside: Inside
    sizes: Sizes

    def say(self, template: int, columns: dict[str, Ints], video: Ints, ways: Choices) -> tuple[pl.Series, Spans]:
        """The questions of one template; video counts from the first one of `spoken`."""
        frames = FRAMES[TEMPLATES[template].name]
        number = ways.frame % len(frames)
        order = np.argsort(number, kind="stable")
        ends = np.cumsum(np.bincount(number, minlength=len(frames)))
        texts, spans = [], dict[str, Ints]()
        for frame, (lo, hi) in zip(frames, zip([0, *ends[:-1]], ends, strict=True), strict=True):
            if hi > lo:
                at = order[lo:hi]
                arguments = (at, template, columns, video, ways, self.words, self.spoken)
                text, own = self._frame(frame.pieces, arguments, len(at))
                texts.append(text)
                for name, span in own.items():
                    spans.setdefault(name, none(len(video)))[at] = span
        inverse = np.empty(len(order), np.int64)
        inverse[order] = np.arange(len(order))
        return pl.concat(texts).gather(inverse), spans

    def _frame(self, pieces: tuple[str | Piece, ...], arguments: tuple[Any, ...], rows: int) -> tuple[pl.Series, Spans]:
        """All questions said with one frame; the spans follow `benchmarks.agqa.frames.fill`."""
        parts: list[pl.Expr | pl.Series] = []
        spans: Spans = {}
        end = np.zeros(rows, np.int64)
        for piece in pieces:
            if isinstance(piece, str):
                parts.append(pl.lit(piece))
                end = end + len(piece)
                continue
            texts, row = place(piece, *arguments)
            parts.append(texts.gather(row))
            begin, end = end, end + self.sizes(texts)[row]
            if piece.form not in EXTRA:
                margin = (piece == Piece("time")) & (end > begin)  # the space a time phrase brings along
                spans[piece.slot] = np.stack([begin + margin, end], axis=1)
                for name, span in self._inner(piece).items():
                    spans[f"{piece.slot}.{name}"] = moved(span[row], begin)
            elif piece.form == "rest" and piece.slot in spans:
                own = spans[piece.slot]
                own[:, 1] = np.where(own[:, 1] == begin, end, own[:, 1])
        if not isinstance(pieces[0], str):  # a phrase opens the question
            parts[0] = capital(parts[0])  # type: ignore[arg-type]
        if not spans:  # nothing to fill in
            return pl.repeat("".join(map(str, pieces)), rows, eager=True), spans
        return pl.select(pl.concat_str(parts)).to_series(), spans

    def _inner(self, piece: Piece) -> Spans:
        if piece.slot == "time":
            return self.inside.times[piece.form]
        is_action = piece.slot in ("a", "b")
        return self.inside.actions[piece.form] if is_action else {}
