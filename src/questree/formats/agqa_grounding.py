"""What a question rests on, slot by slot: the evidence of its program as vertices of the scene graph.

Vertices go by their ids, in JSON lists: frames "000105", objects "o4/000105", actions "c076/1".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import Template
from questree.columns.joins import Ints
from questree.domains.video import Videos
from questree.domains.video.facts import Bits
from questree.program import OBJECT, RELATION, slots
from questree.readings.evidence import evidence
from questree.stages.generate.text import Spans
from questree.stages.ground.evidence import arguments, cores, reference_frames, slot_frames, windows
from questree.stages.questions import Named, Shard
from questree.tables.questions import WORDED

EMPTY = "[]"


def frame_name(number: int) -> str:
    return f"{number:06d}"


def action_lists(actions: Ints, ids: list[str]) -> pl.Series:
    """The first instance of each action, whichever was meant: the release always says so."""
    return pl.Series([f'["{name}/1"]' for name in ids], dtype=pl.String).gather(actions)


@dataclass(frozen=True)
class Vertices:
    """Lists of vertices of the videos of a world."""

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
        """[phrase, 2]"""
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
