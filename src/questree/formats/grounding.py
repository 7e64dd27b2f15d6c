"""What a question rests on, slot by slot: the evidence of its program as vertices of the scene graph."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.columns.joins import Ints
from questree.domains.video import Videos
from questree.formats.nodes import Vertices, action_lists
from questree.formats.wording import Spans
from questree.program import OBJECT, RELATION, Array, slots
from questree.readings.evidence import evidence
from questree.stages.generate.spans import INDIRECT, NOTHING
from questree.stages.ground.frames import COLUMN, cores, reference_frames, slot_frames, windows


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
    window = windows(world, phrases, acts["action"].to_numpy().astype(np.int64), local["phrases"], base)
    span = world.ask(local["phrases"]).span(window)
    times[""] = vertices.lists(local["phrases"], np.zeros(len(phrases), np.int64), [""], span)
    return Ground(vertices, start, window, actions, times)


def _gathered(nodes: pl.Series, row: Ints, there: Array) -> pl.Series:
    """nodes[row], null where there is nothing."""
    few = nodes.gather(row[there])
    at = np.where(there, np.cumsum(there) - 1, len(few))
    return pl.concat([few, pl.Series([None], dtype=pl.String)]).gather(at)


def _references(vertices: Vertices, table: pl.DataFrame, video: Ints) -> pl.Series:
    prefixes = [f"{word.id}/" for word in vertices.world.vocabulary.objects]
    frames = reference_frames(vertices.world, table, video)
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
    frames = slot_frames(node, evidence(node, world.ask(here), rows), rows, few["answer"])
    words = {OBJECT: world.vocabulary.objects, RELATION: world.vocabulary.relations}
    prefixes = {kind: [f"{word.id}/" for word in known] for kind, known in words.items()}  # type: ignore[attr-defined]
    return {
        name: ground.vertices.lists(here, rows[name], prefixes[wanted[name]], bits).gather(core)
        for name, bits in frames.items()
    }
