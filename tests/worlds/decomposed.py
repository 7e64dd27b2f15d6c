"""DAGs out of tables, to look at in tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from judges.facts import WORDS
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.dag_shards import Decomposed, tables
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.spoken import Texts, spoken
from questree.stages.questions import Bank
from questree.tables.facts import ACTIONS, FRAMES, OBJECTS, PERSONS, RELATIONS, VIDEOS, Facts, pack
from questree.tables.nodes import EDGES, TOPS
from questree.tables.run import Run

FORMS = NodeForms(WORDS)
Edge = tuple[str, str, str]  # question, composition, sub-question


@dataclass(frozen=True)
class Stored:
    """The tables of one shard."""

    nodes: pl.DataFrame  # video, text, type, program, answer
    tops: pl.DataFrame
    edges: dict[int, list[tuple[str, int]]]

    @classmethod
    def read(cls, folder: Path, executed: bool = True) -> "Stored":
        edges: dict[int, list[tuple[str, int]]] = {}
        for parent, label, _, child in EDGES.read(folder).iter_rows():
            edges.setdefault(parent, []).append((VIDEO_DAGS.compositions[label], child))
        return cls(spoken(folder, Texts(WORDS), executed), TOPS.read(folder), edges)

    def below(self, node: int) -> list[int]:
        found, waiting = dict[int, None](), [node]
        while waiting:
            found[(own := waiting.pop())] = None
            waiting += [child for _, child in self.edges.get(own, ()) if child not in found]
        return list(found)

    def dag(self, node: int) -> set[Edge]:
        text = self.nodes["text"]
        return {(text[p], label, text[c]) for p in self.below(node) for label, c in self.edges.get(p, ())}


def shards(run: Run) -> list[Path]:
    return sorted(path for path in run.decomposed.iterdir() if path.is_dir())


def in_memory(run: Run, closed: bool = True, templates: tuple[str, ...] = ()) -> list[Decomposed]:
    """Every shard's DAGs; of the questions of some templates only, if any are named."""
    return _in_memory(run.folder, closed, templates)


@cache
def _in_memory(folder: Path, closed: bool, templates: tuple[str, ...]) -> list[Decomposed]:
    return list(made(Run(folder), FORMS, closed, templates))


def made(run: Run, forms: NodeForms, closed: bool = True, templates: tuple[str, ...] = ()) -> Iterator[Decomposed]:
    wanted = [at for at, template in enumerate(TEMPLATES) if not templates or template.name in templates]
    bank, facts = Bank(run), run.load("facts")
    for folder in bank.folders():
        shard = bank.shard(folder)
        world = bank.edition.read(facts.between(shard.first, shard.first + len(shard.seeds)), bank.vocabulary)
        rows = np.flatnonzero(shard.questions["template"].is_in(wanted).to_numpy())
        yield tables(forms, shard, rows, world, closed)


def crowded(videos: int) -> Facts:
    """Videos with a few things in front of each other again and again, and two actions that concern none of them."""
    random, frames, things = np.random.default_rng(5), 9, ("phone", "dish", "box", "bag")
    there = random.random((videos, 2, len(things), frames)) < 0.3  # [video, relation, object, frame]
    video, relation, thing, frame = np.nonzero(there)
    relations = np.array([WORDS.relation_at[name] for name in ("in front of", "behind")])
    objects = np.array([WORDS.object_at[name] for name in things])
    named = {"video": video, "frame": frame, "relation": relations[relation], "object": objects[thing]}
    present = named | {"relation": np.full(len(video), WORDS.relation_at[WORDS.annotated])}
    rows = pl.concat([RELATIONS.frame(pl.DataFrame(columns)) for columns in (named, present)])
    each = np.repeat(np.arange(videos), frames)
    second = np.tile(np.arange(frames), videos)
    deeds = [(WORDS.action_at["standing up"], 2, 3), (WORDS.action_at["sneezing somewhere"], 6, 6)]
    actions = [(at, deed, 1, lo - 0.1, hi + 0.1, lo, hi) for at in range(videos) for deed, lo, hi in deeds]
    empty = {table.name: table.empty() for table in (OBJECTS, PERSONS)}
    names = {"id": [f"V{at:04d}" for at in range(videos)], "split": [""] * videos}
    return Facts(
        videos=VIDEOS.frame(names | {"length": [9.0] * videos, "width": [400] * videos, "height": [300] * videos}),
        frames=FRAMES.frame({"video": each, "frame": second, "number": second * 30 + 1, "seconds": second}),
        tracks=pack(rows),
        actions=ACTIONS.frame(pl.DataFrame(actions, schema=dict(ACTIONS.columns), orient="row")),
        **empty,
    )
