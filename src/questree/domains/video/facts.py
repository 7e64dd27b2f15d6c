"""The facts of many videos in memory: tracks of frames as bits and actions, found by key; seconds by frame."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.columns.joins import ranges
from questree.readings.answer import position
from questree.tables.facts import Facts
from questree.terms import Word
from questree.vocabulary.words import Vocabulary

Bits = NDArray[np.uint64]  # [row, word], frame f is bit f % 64 of word f // 64
Ints = NDArray[Any]  # [row]
WORD = 64
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


def span(lo: Ints, hi: Ints, words: int) -> Bits:
    """[row, word] the frames lo <= f < hi; none if hi <= lo."""
    start = np.arange(words, dtype=np.int64) * WORD  # [word]
    low = np.clip(np.asarray(lo)[:, None] - start, 0, WORD)
    high = np.clip(np.asarray(hi)[:, None] - start, 0, WORD)
    return np.where(high > low, _below(high) & ~_below(low), np.uint64(0))


def _below(count: Ints) -> Bits:
    """A word with its lowest `count` bits set, count 0..64."""
    some = count.astype(np.uint64)
    return np.where(some >= WORD, FULL, (np.uint64(1) << (some % np.uint64(WORD))) - np.uint64(1))


def anywhere(bits: Bits) -> NDArray[np.bool_]:
    return np.asarray(bits.any(axis=-1))


def frames_of(bits: NDArray[np.uint64]) -> list[int]:
    """The frames in one row of words."""
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()


def first_frame(bits: Bits, lo: Ints, hi: Ints, wanted: bool, at: Ints | None = None) -> Ints:
    """[row] the first frame f, lo <= f < hi, that is in the set (wanted) or not in it; -1 if there is none.

    at: [row] where its set stands in `bits`, if not in the same row.
    """
    return np.asarray(_first(bits, np.arange(len(lo)) if at is None else at, lo, hi, wanted))


def last_frame(bits: Bits, lo: Ints, hi: Ints, wanted: bool, at: Ints | None = None) -> Ints:
    """[row] the last such frame."""
    return np.asarray(_last(bits, np.arange(len(lo)) if at is None else at, lo, hi, wanted))


@njit(cache=True)
def _first(bits, at, lo, hi, wanted):  # type: ignore[no-untyped-def]
    found = np.full(len(lo), -1, np.int64)
    flip = np.uint64(0) if wanted else FULL
    for row in range(len(lo)):
        frame = lo[row]
        while frame < hi[row]:
            left = (bits[at[row], frame >> 6] ^ flip) >> np.uint64(frame & 63)
            if left == 0:  # long videos have many words
                frame = ((frame >> 6) + 1) << 6
                continue
            while left & np.uint64(1) == 0:
                left >>= np.uint64(1)
                frame += 1
            if frame < hi[row]:
                found[row] = frame
            break
    return found


@njit(cache=True)
def _last(bits, at, lo, hi, wanted):  # type: ignore[no-untyped-def]
    found = np.full(len(lo), -1, np.int64)
    flip, top = np.uint64(0) if wanted else FULL, np.uint64(1 << 63)
    for row in range(len(lo)):
        frame = hi[row] - 1
        while frame >= lo[row]:
            left = (bits[at[row], frame >> 6] ^ flip) << np.uint64(63 - (frame & 63))
            if left == 0:
                frame = ((frame >> 6) << 6) - 1
                continue
            while left & top == 0:
                left <<= np.uint64(1)
                frame -= 1
            if frame >= lo[row]:
                found[row] = frame
            break
    return found


KEY = 1 << 14  # radix of the relations and objects of a key, more than a vocabulary has
ANY = KEY - 1  # in a key: any relation, or any object
DEED = 1 << 16  # radix of the actions of a key
ALWAYS, NEVER = -(1 << 60), 1 << 60  # moments before and after every video


@dataclass(frozen=True)
class Videos:
    """Facts of all videos, and the video each row asks about."""

    vocabulary: Vocabulary
    ids: list[str]
    length: Ints  # [video] number of annotated frames
    frame_start: Ints  # [video] where its frames begin in the two columns below
    number: Ints  # [frame of the corpus] name of the frame
    seconds: Ints  # [frame of the corpus], and one more
    key: Ints  # [track] ((video * KEY) + relation) * KEY + object, ascending
    bits: Bits  # [track, word]; the last row is empty, for what is not there
    instance_start: Ints  # [video + 1] its rows in the columns of instances
    instances: dict[str, Ints]  # action, instance, start, end (moments), first, last; without a frame 0, -1: never said
    action_key: Ints  # [video with action] video * DEED + action, ascending
    actions: dict[str, Ints]  # per action_key: first instance's lo, hi, start, end, length; last one's; count; unseen
    row: Ints  # [row] video
    released_last: bool = False  # `last` as the released generator computes it, see meaning of `last`
    released_between: bool = False  # between two actions begins after the first one's last instance, as released

    def __len__(self) -> int:
        return len(self.row)

    def ask(self, row: Any) -> "Videos":
        """The same facts, asked about these videos."""
        return replace(self, row=np.atleast_1d(np.asarray(row, np.int64)))

    @property
    def between_from(self) -> str:
        """Which instance of an action a time between it and another begins after: the prefix of its columns."""
        return "last_" if self.released_between else ""

    def position(self, word: Word) -> int:
        return position(word, self.vocabulary)

    @property
    def words(self) -> int:
        return int(self.bits.shape[1])

    @property
    def everything(self) -> Bits:
        """[row, word] all there is to rest on."""
        return np.full((len(self), self.words), FULL)

    @property
    def frames(self) -> Ints:
        """[row] number of annotated frames."""
        return self.length[self.row]

    def track(self, relation: Any, object: Any) -> Bits:
        """[row, word] the frames on which the relation holds with the object; ANY stands for whatever there is."""
        return self.bits[self.track_at(relation, object)]

    def track_at(self, relation: Any, object: Any) -> Ints:
        """[row] where these frames stand in `bits`."""
        return _find(self.key, (self.row * KEY + relation) * KEY + object)

    def holds(self, relation: Any, object: Any, window: Ints) -> NDArray[np.bool_]:
        """[row] does the relation hold with the object on a frame of the window?"""
        return first_frame(self.bits, window[:, 0], window[:, 1], True, self.track_at(relation, object)) >= 0

    def tracks(self) -> tuple[Ints, Ints, Ints]:
        """[track] its video, relation and object; ANY in place of either is a union."""
        return self.key // (KEY * KEY), self.key // KEY % KEY, self.key % KEY

    def deeds(self) -> tuple[Ints, Ints]:
        """(video, action) of every action that occurs."""
        return self.action_key // DEED, self.action_key % DEED

    def tracks_of(self, relation: Any) -> tuple[Ints, Ints]:
        """[row] begin and end of the relation's tracks (one per object) in `key` and `bits`."""
        begin = (self.row * KEY + relation) * KEY
        return np.searchsorted(self.key, begin), np.searchsorted(self.key, begin + ANY)

    def action(self, action: Any, what: str) -> Ints:
        """[row] a column of `actions` for the (merged) action; 0 where it does not occur."""
        wanted = self.row * DEED + self.vocabulary.merged_action[action]
        return self.actions[what][_find(self.action_key, wanted)]

    def doing(self, action: Any) -> Bits:
        """[row, word] the frames of all instances of the action."""
        wanted = self.row * DEED + self.vocabulary.merged_action[action]
        deeds, own = np.unique(wanted, return_inverse=True)  # rows are many, actions of a video are few
        found = np.zeros((len(deeds), self.words), np.uint64)
        deed, instance = self.ask(deeds // DEED).pairs()
        same = self.instances["action"][instance] == (deeds % DEED)[deed]
        deed, instance = deed[same], instance[same]
        frames = span(self.instances["first"][instance], self.instances["last"][instance] + 1, self.words)
        np.bitwise_or.at(found, deed, frames)
        return found[own]

    def unseen(self, action: Any) -> NDArray[np.bool_]:
        """[row] is the action done at a time that no frame shows?"""
        row, instance = self.pairs()
        same = self.instances["action"][instance] == np.broadcast_to(action, len(self))[row]
        same &= self.instances["last"][instance] < 0
        return np.asarray(np.bincount(row[same], minlength=len(self)) > 0)

    def pairs(self) -> tuple[Ints, Ints]:
        """Every (row, instance of its video)."""
        begin, end = self.instance_start[self.row], self.instance_start[self.row + 1]
        return ranges(begin, end)

    def span(self, window: Ints) -> Bits:
        """[row, word] the frames of a window [row, 2]."""
        return span(window[:, 0], window[:, 1], self.words)

    def seconds_at(self, frame: Ints) -> NDArray[np.float64]:
        """[row] seconds of a frame (0 where the frame is not there)."""
        at = self.frame_start[self.row] + np.clip(frame, 0, np.maximum(self.frames - 1, 0))
        return np.where(self.frames > 0, self.seconds[np.minimum(at, len(self.seconds) - 1)], 0.0)


def moment(seconds: Any) -> Ints:
    """Microseconds: whole numbers, so that a window holds moments beside frames and equal stamps are equal."""
    return np.rint(np.asarray(seconds, np.float64) * 1e6).astype(np.int64)


def _find(keys: Ints, wanted: Ints) -> Ints:
    """Positions of the keys, -1 (the empty row at the end) for those that are not there."""
    at = np.searchsorted(keys, wanted)
    there = np.append(keys, -1)[at] == wanted
    return np.where(there, at, -1)


def videos(facts: Facts, vocabulary: Vocabulary, released_last: bool = False, released_between: bool = False) -> Videos:
    """Load tables into memory; row i asks about video i until `ask` says otherwise."""
    length = np.bincount(facts.frames["video"].to_numpy(), minlength=len(facts.videos)).astype(np.int64)
    key, bits = _tracks(facts, vocabulary, length)
    action_key, actions = _actions(facts.actions, len(facts.videos))
    known = facts.actions.with_columns(
        pl.col("first").cast(pl.Int64).fill_null(0), pl.col("last").cast(pl.Int64).fill_null(-1)
    ).sort("video", "start", "action")
    count = np.bincount(known["video"].to_numpy(), minlength=len(facts.videos))
    return Videos(
        vocabulary=vocabulary,
        ids=facts.videos["id"].to_list(),
        length=length,
        frame_start=np.cumsum(length) - length,
        number=facts.frames["number"].to_numpy().astype(np.int64),
        seconds=np.append(facts.frames["seconds"].to_numpy(), 0.0),  # so that there is always one
        key=key,
        bits=bits,
        instance_start=np.concatenate([[0], np.cumsum(count)]),
        instances={
            **{name: known[name].to_numpy().astype(np.int64) for name in ("action", "instance", "first", "last")},
            "start": moment(known["start"].to_numpy()),
            "end": np.maximum(moment(known["end"].to_numpy()), moment(known["start"].to_numpy()) + 1),
        },
        action_key=action_key,
        actions=actions,
        row=np.arange(len(facts.videos)),
        released_last=released_last,
        released_between=released_between,
    )


def _tracks(facts: Facts, vocabulary: Vocabulary, length: Ints) -> tuple[Ints, Bits]:
    """All tracks and their unions: per relation, per object, interacting with an object, and the person."""
    words = max(1, -(-int(length.max(initial=1)) // WORD))
    lists = facts.tracks["bits"]
    sizes = lists.list.len().to_numpy().astype(np.int64)
    bits = np.zeros((len(sizes), words), np.uint64)
    row, at = ranges(np.zeros(len(sizes), np.int64), sizes)
    bits[row, at] = lists.explode(empty_as_null=False).to_numpy() if len(row) else 0
    video, relation, object_ = (facts.tracks[c].to_numpy().astype(np.int64) for c in ("video", "relation", "object"))
    none = vocabulary.relations_named(vocabulary.lists.not_touching_contacts)
    contact = np.isin(relation, np.setdiff1d(vocabulary.group("contact"), none))
    exists = ~np.isin(relation, vocabulary.group("attention"))  # 13.2: annotated, or object of any other relation
    interacting = np.full(len(video), vocabulary.relation_at[vocabulary.interacting])
    person = np.full(len(length), vocabulary.object_at[vocabulary.person])
    anything = np.full(len(video), ANY)
    groups = [
        (video, relation, object_, bits),
        (video, relation, anything, bits),
        (video[exists], anything[exists], object_[exists], bits[exists]),
        (video[contact], interacting[contact], object_[contact], bits[contact]),
        (video[contact], interacting[contact], anything[contact], bits[contact]),
        (np.arange(len(length)), np.full(len(length), ANY), person, span(np.zeros(len(length), int), length, words)),
    ]
    keys = np.concatenate([(v * KEY + r) * KEY + o for v, r, o, _ in groups])
    order = np.argsort(keys, kind="stable")
    unique, begin = np.unique(keys[order], return_index=True)
    joined = np.concatenate([b for *_, b in groups])[order]
    united = np.bitwise_or.reduceat(joined, begin, axis=0) if len(begin) else joined
    return unique, np.vstack([united & FULL, np.zeros((1, words), np.uint64)])


def _actions(actions: pl.DataFrame, videos: int) -> tuple[Ints, dict[str, Ints]]:
    """Per (video, action): frames of its first and last instance, how often it occurs and how long the first lasts.

    It also occurs where no frame shows it, but what never has a frame is not there.
    """
    grouped = (
        actions.with_columns(count=pl.len().over("video", "action"))
        .drop_nulls(["first", "last"])
        .sort("video", "action", "start", "first")
        .group_by("video", "action", maintain_order=True)
        .agg(
            pl.col("first").first().alias("lo"),
            (pl.col("last").first() + 1).alias("hi"),
            pl.col("first").last().alias("last_lo"),
            (pl.col("last").last() + 1).alias("last_hi"),
            pl.col("count").first(),
            (pl.col("count").first() - pl.len()).alias("unseen"),
            pl.col("start").first(),
            pl.col("end").first(),
            pl.col("start").last().alias("last_start"),
            pl.col("end").last().alias("last_end"),
        )
    )
    key = grouped["video"].to_numpy().astype(np.int64) * DEED + grouped["action"].to_numpy()
    stamps = ("start", "end", "last_start", "last_end")
    columns = {
        name: moment(grouped[name].to_numpy()) if name in stamps else grouped[name].to_numpy().astype(np.int64)
        for name in grouped.columns[2:]
    }
    columns["length"] = columns["end"] - columns["start"]
    for which in ("", "last_"):  # a moment is not nothing
        columns[f"{which}end"] = np.maximum(columns[f"{which}end"], columns[f"{which}start"] + 1)
    return key, {name: np.append(column, 0) for name, column in columns.items()}
