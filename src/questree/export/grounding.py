"""What a question rests on, slot by slot: the evidence of its program as vertices of the scene graph."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import REFERENCES, TEMPLATES, TIMES, WHOLE
from questree.domains.video import VIDEO, Videos
from questree.domains.video.bits import Bits
from questree.export.nodes import Vertices, action_lists
from questree.export.wording import Spans
from questree.meanings.evidence import evidence
from questree.program import OBJECT, RELATION, Array, Node, Slot, slots, walk
from questree.stages.generate.joins import Ints
from questree.stages.generate.spans import DIRECT, INDIRECT, NOTHING

OP = VIDEO.ops
RELATED = Slot("r", RELATION)
COLUMN = {"object": "x", "first": "x", "a": "x", "second": "y", "b": "y"}  # slot -> column of its direct class


def slot_frames(node: Node, world: Videos, rows: dict[str, Array], answer: Ints) -> dict[str, Bits]:
    """[row, word] per object or relation slot: the frames on which what fills it bears on the answer.

    A slot has the frames of the operator it is given to, or (equals) of what it is compared with. An object that
    is offered as an answer has frames only if it is the answer.
    """
    grounds = evidence(node, world, rows)
    found: dict[str, Bits] = {}
    for inner in dict.fromkeys(walk(node)):
        if not isinstance(inner, Node):
            continue
        target = dict(inner.named()).get(inner.op.target)
        own = grounds.get(inner, grounds.get(target) if isinstance(target, Node) else None)
        for arg in inner.args:
            if isinstance(arg, Slot) and arg.kind in (OBJECT, RELATION) and own is not None:
                option = inner.kind == OBJECT == arg.kind
                kept = np.where((answer == rows[arg.name])[:, None], own, np.uint64(0)) if option else own
                found[arg.name] = found.get(arg.name, np.uint64(0)) | kept
    return found


@dataclass(frozen=True)
class Ground:
    """The vertices behind the rows of the side tables, by what is inside a phrase (null: nothing is), insides first."""

    vertices: Vertices
    start: dict[str, Ints]  # side table -> [video] its first row
    window: Ints  # [phrase, 2]
    actions: dict[str, pl.Series]  # [action reference] ".object" and "" (the action itself)
    times: dict[str, pl.Series]  # [phrase] ".a.object", ".a", ..., ""


def ground(world: Videos, sides: dict[str, pl.DataFrame], start: dict[str, Ints], first_video: int) -> Ground:
    local = {name: table["video"].to_numpy().astype(np.int64) - first_video for name, table in sides.items()}
    acts, phrases = sides["action_references"], sides["phrases"]
    vertices = Vertices(world)
    references = _references(vertices, sides["references"], local["references"])
    inner = start["references"][local["action_references"]] + acts["reference"].to_numpy()
    actions = {
        ".object": _gathered(references, inner, acts["kind"].to_numpy() == INDIRECT),
        "": action_lists(acts["action"].to_numpy(), [word.id for word in world.vocabulary.actions]),
    }
    base, times = start["action_references"][local["phrases"]], dict[str, pl.Series]()
    for side in "ab":
        row = phrases[side].to_numpy().astype(np.int64)
        for name, nodes in actions.items():
            times[f".{side}{name}"] = _gathered(nodes, base + row, row != NOTHING)
    window = _windows(world, phrases, acts["action"].to_numpy().astype(np.int64), local["phrases"], base)
    span = world.ask(local["phrases"]).span(window)
    times[""] = vertices.lists(local["phrases"], np.zeros(len(phrases), np.int64), [""], span)
    return Ground(vertices, start, window, actions, times)


def _gathered(nodes: pl.Series, row: Ints, there: Array) -> pl.Series:
    """nodes[row], null where there is nothing."""
    few = nodes.gather(row[there])
    at = np.where(there, np.cumsum(there) - 1, len(few))
    return pl.concat([few, pl.Series([None], dtype=pl.String)]).gather(at)


def _windows(world: Videos, phrases: pl.DataFrame, acts: Ints, video: Ints, base: Ints) -> Ints:
    kind, found = phrases["kind"].to_numpy(), np.zeros((len(phrases), 2), np.int64)
    for number, name in enumerate(TIMES):
        op = OP["whole" if name == TIMES[0] else name]
        at = np.flatnonzero(kind == number)
        named = [acts[base[at] + phrases[side].to_numpy()[at]] for side in "ab"[: len(op.params)]]
        found[at] = op.run(world.ask(video[at]), *named)
    return found


def _references(vertices: Vertices, table: pl.DataFrame, video: Ints) -> pl.Series:
    """The deciding frame of a first or last reference; every frame of the relation if it only has one object."""
    world = vertices.world
    kind, frames = table["kind"].to_numpy(), np.zeros((len(table), world.words), np.uint64)
    for number, name in enumerate(REFERENCES):
        if number == DIRECT:
            continue
        at = np.flatnonzero(kind == number)
        target = OP["objects" if name == WHOLE else name](RELATED, OP["whole"]())
        relation = table["relation"].to_numpy()[at].astype(np.int64)
        frames[at] = evidence(target, world.ask(video[at]), {"r": relation})[target]
    prefixes = [f"{word.id}/" for word in world.vocabulary.objects]
    return vertices.lists(video, table["object"].to_numpy(), prefixes, frames)


def groundings(ground: Ground, template: int, columns: dict[str, Ints], video: Ints, spans: Spans) -> pl.Series:
    """[question] of one template: a JSON object from "begin-end" to vertices."""
    entries = [
        entry(spans[name], nodes)
        for name, nodes in phrase_nodes(ground, template, columns, video)
        if name in spans and (spans[name][:, 0] >= 0).any()
    ]
    if not entries:
        return pl.repeat("{}", len(video), dtype=pl.String, eager=True)
    inner = pl.concat_str(entries, separator=", ", ignore_nulls=True)
    return pl.select(pl.concat_str(pl.lit("{"), inner, pl.lit("}"))).to_series()


def entry(span: Ints, nodes: pl.Series) -> pl.Series:
    """[question] `"27-36": ["o4/000105"]`; null where there is no such phrase."""
    begin, end = (pl.Series(span[:, side]) for side in (0, 1))
    text = pl.concat_str(pl.lit('"'), begin.cast(pl.String), pl.lit("-"), end.cast(pl.String), pl.lit('": '), nodes)
    return pl.select(pl.when(begin >= 0).then(text)).to_series()


def phrase_nodes(
    ground: Ground, template: int, columns: dict[str, Ints], video: Ints
) -> Iterator[tuple[str, pl.Series]]:
    """Phrase -> the vertices behind it, in the order of the release: slots, actions and what is inside, the time."""
    yield from slot_nodes(ground, template, columns, video).items()
    for slot in slots(TEMPLATES[template].node):
        if slot in ("a", "b"):
            row = ground.start["action_references"][video] + columns["first" if slot == "a" else "second"]
            yield from ((slot + name, nodes.gather(row)) for name, nodes in ground.actions.items())
        elif slot == "time":
            row = ground.start["phrases"][video] + columns["phrase"]
            yield from ((slot + name, nodes.gather(row)) for name, nodes in ground.times.items())


def slot_nodes(ground: Ground, template: int, columns: dict[str, Ints], video: Ints) -> dict[str, pl.Series]:
    """Object and relation slots; an answer does not depend on the wording, so its evidence is found once for all."""
    node, world = TEMPLATES[template].node, ground.vertices.world
    wanted = {name: slot.kind for name, slot in slots(node).items()}
    if not any(kind in (OBJECT, RELATION) for kind in wanted.values()):
        return {}
    first, core = cores(columns, video)
    few = {name: column[first].astype(np.int64) for name, column in columns.items()}
    here = video[first]
    rows = {name: few[COLUMN.get(name, name)] for name in wanted if name != "time"}
    rows["time"] = ground.window[ground.start["phrases"][here] + few["phrase"]]
    frames = slot_frames(node, world.ask(here), rows, few["answer"])
    words = {OBJECT: world.vocabulary.objects, RELATION: world.vocabulary.relations}
    prefixes = {kind: [f"{word.id}/" for word in known] for kind, known in words.items()}  # type: ignore[attr-defined]
    return {
        name: ground.vertices.lists(here, rows[name], prefixes[wanted[name]], bits).gather(core)
        for name, bits in frames.items()
    }


def cores(columns: dict[str, Ints], video: Ints) -> tuple[Ints, Ints]:
    """(first question of each core, [question] its core): a core is video, direct arguments and time."""
    key = video.astype(np.uint64)
    for name, bits in (("relation", 8), ("x", 8), ("y", 8), ("time", 24)):
        key = (key << np.uint64(bits)) | columns[name].astype(np.uint64)
    _, first, core = np.unique(key, return_index=True, return_inverse=True)
    return first, core
