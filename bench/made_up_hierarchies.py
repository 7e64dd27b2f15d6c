"""Hierarchies and predictions of a made-up model, as tables or as released files: what scoring is measured on."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.hierarchies import COMPOSED, DAGS, EDGES, ISOLATED, NODES, NOTHING, Hierarchies

# a shape of DAG: its nodes as (type, {composition: children by position}); the root is node 0
Shape = list[tuple[str, dict[str, list[int]]]]
OBJECT: tuple[str, dict[str, list[int]]] = ("Object Exists", {})
RELATION: tuple[str, dict[str, list[int]]] = ("Relation Exists", {})
INTERACTION: Shape = [("Interaction", {"Interaction": [1, 2, 3]}), OBJECT, RELATION, OBJECT]
LOCALISED: Shape = [
    ("Interaction After", {"After": [1, 2], "Interaction": [3, 4, 5]}),
    ("Interaction", {"Interaction": [6, 7, 8]}),
    ("Exists After", {"After": [9, 2]}),
    ("Exists After", {"After": [6, 2]}),
    RELATION,
    ("Exists After", {"After": [8, 2]}),
    *(OBJECT, RELATION, OBJECT, OBJECT),
]
BETWEEN: Shape = [
    ("Exists Between", {"Between": [1, 2]}),
    ("Exists After", {"After": [3, 4]}),
    ("Exists Before", {"Before": [3, 5]}),
    OBJECT,
    ("Interaction", {"Interaction": [6, 7, 8]}),
    ("Interaction", {"Interaction": [6, 9, 10]}),
    *(OBJECT, RELATION, OBJECT, RELATION, OBJECT),
]
EITHER: Shape = [
    ("Xor", {"Xor": [1, 2]}),
    ("Interaction While", {"While": [3, 4], "Interaction": [5, 6, 7]}),
    ("Interaction While", {"While": [8, 4], "Interaction": [5, 9, 10]}),
    ("Interaction", {"Interaction": [5, 11, 7]}),
    ("Interaction", {"Interaction": [5, 12, 13]}),
    *(OBJECT, RELATION, OBJECT),
    ("Interaction", {"Interaction": [5, 11, 10]}),
    *(RELATION, OBJECT, RELATION, RELATION, OBJECT),
]
CHOICE: Shape = [
    ("Choose", {"Choose": [1, 2]}),
    ("Object Equals", {"Equals": [3, 5]}),
    ("Object Equals", {"Equals": [4, 5]}),
    *(OBJECT, OBJECT),
    ("First Object", {"First": [6]}),
    ("Object After", {"After": [7, 8]}),
    ("Object", {"Interaction": [9, 10]}),
    ("Interaction", {"Interaction": [9, 11, 12]}),
    *(OBJECT, RELATION, RELATION, OBJECT),
    ("Action", {}),
    ("Longest Action", {}),
]
SHAPES = (INTERACTION, LOCALISED, BETWEEN, EITHER, CHOICE)
SHARES = (0.145, 0.165, 0.23, 0.20, 0.26)  # 11.5 nodes on average, as the AGQA-Decomp paper counts
POOL = 20  # texts of one type in one video
OBJECTS = [f"object {n}" for n in range(169)]  # with yes and no as many as the answers of AGQA
WORDS = ["yes", "no", *OBJECTS]
TYPES = sorted({type for shape in SHAPES for type, _ in shape})
COMPOSITIONS = sorted({name for shape in SHAPES for _, parts in shape for name in parts})
OPEN = frozenset(["Choose", "First Object", "Object", "Object After", "Action", "Longest Action"])
Ints = NDArray[np.int64]


def made_up_hierarchies(dags: int, videos: int, seed: int = 0) -> Hierarchies:
    """DAGs of five shapes over texts drawn from each video's pool; a tenth of the texts have no truth."""
    draw = np.random.default_rng([seed, 0])
    video = np.sort(draw.integers(0, videos, dags))
    shape = draw.choice(len(SHAPES), dags, p=SHARES)
    sizes = np.array([len(one) for one in SHAPES])[shape]
    start = np.concatenate([[0], np.cumsum(sizes)])  # [dag] first node
    nodes = int(start[-1])
    type, dag = np.empty(nodes, np.uint16), np.repeat(np.arange(dags, dtype=np.uint32), sizes)
    for number, one in enumerate(SHAPES):
        first = start[:-1][shape == number]
        for place, (name, _) in enumerate(one):
            type[first + place] = TYPES.index(name)
    text = (video[dag] * len(TYPES) + type) * POOL + draw.integers(0, POOL, nodes)
    answer, thing = _texts(videos, seed)
    parent = np.zeros(nodes, bool)
    composed, edges = _edges(shape, start)
    parent[composed["parent"].to_numpy()] = True
    columns = {"dag": dag, "text": text, "type": type, "key": text, "answer": answer[text], "object": thing[text]}
    keys = pl.DataFrame({"n": np.arange(len(answer), dtype=np.uint32)}).select(pl.format("q-{}", "n"))
    return Hierarchies(
        nodes=NODES.frame({**columns, "parent": parent}),
        composed=composed,
        edges=edges,
        dags=DAGS.frame({"video": video}),
        isolated=ISOLATED.empty(),
        videos=[f"v{n}" for n in range(videos)],
        types=list(TYPES),
        compositions=list(COMPOSITIONS),
        words=list(WORDS),
        keys=keys.to_series(),
    )


def _texts(videos: int, seed: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """[text] its true answer; [text] the object it asks about, where it asks whether one exists."""
    draw = np.random.default_rng([seed, 1])
    type = np.tile(np.repeat(np.arange(len(TYPES)), POOL), videos)
    objects = draw.integers(2, len(WORDS), len(type), dtype=np.int32)
    truth = draw.integers(0, 2, len(type), dtype=np.int32)
    open = np.isin(type, [TYPES.index(name) for name in OPEN])
    answer = np.where(draw.random(len(type)) < 0.1, NOTHING, np.where(open, objects, truth)).astype(np.int32)
    return answer, np.where(type == TYPES.index("Object Exists"), objects, NOTHING).astype(np.int32)


def _edges(shape: Ints, start: Ints) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The compositions of all DAGs in the order of their parents, and their edges in the order of the compositions."""
    rows = [
        [(place, name, children) for place, (_, parts) in enumerate(one) for name, children in parts.items()]
        for one in SHAPES
    ]
    per_dag = np.array([len(one) for one in rows])[shape]
    first_row = np.concatenate([[0], np.cumsum(per_dag)])
    per_dag_edges = np.array([sum(len(children) for _, _, children in one) for one in rows])[shape]
    first_edge = np.concatenate([[0], np.cumsum(per_dag_edges)])
    parent, kind, first, count = (np.empty(int(first_row[-1]), np.int64) for _ in range(4))
    child, repeated = np.empty(int(first_edge[-1]), np.int64), np.zeros(int(first_edge[-1]), bool)
    for number, one in enumerate(rows):
        dags = np.flatnonzero(shape == number)
        edge, seen = first_edge[dags], set[tuple[int, int]]()
        for at, (place, name, children) in enumerate(one):
            row = first_row[dags] + at
            parent[row], kind[row] = start[dags] + place, COMPOSITIONS.index(name)
            first[row], count[row] = edge, len(children)
            for number_of_child, node in enumerate(children):
                child[edge + number_of_child] = start[dags] + node
                repeated[edge + number_of_child] = (place, node) in seen
                seen.add((place, node))
            edge = edge + len(children)
    composed = COMPOSED.frame({"parent": parent, "composition": kind, "first": first, "edges": count})
    return composed, EDGES.frame({"child": child, "repeated": repeated})


def made_up_predictions(hierarchies: Hierarchies, seed: int = 0, right: float = 0.7) -> pl.DataFrame:
    """id, prediction of every text: the truth with probability `right`, else any word."""
    draw = np.random.default_rng([seed, 2])
    truth = np.full(len(hierarchies.keys), NOTHING, np.int32)
    truth[hierarchies.nodes["key"].to_numpy()] = hierarchies.nodes["answer"].to_numpy()
    guess = draw.choice(len(WORDS), len(truth), p=[0.4, 0.4, *[0.2 / len(OBJECTS)] * len(OBJECTS)])
    known = (truth != NOTHING) & (draw.random(len(truth)) < right)
    words = pl.Series(WORDS)
    return pl.DataFrame({"id": hierarchies.keys, "prediction": words.gather(np.where(known, truth, guess))})


def write_hierarchies(made: Hierarchies, folder: Path) -> int:
    """A file of DAGs per video as AGQA-Decomp writes them, its texts and programs as long; the number of nodes.

    A text that is drawn twice for one DAG is one sub-question there.
    """
    folder.mkdir(parents=True)
    node, answers = made.nodes.to_dict(as_series=False), [*made.words, None]  # NOTHING is the last
    parents, first, size = (made.composed[name].to_list() for name in ("parent", "first", "edges"))
    kinds, child = made.composed["composition"].to_list(), made.edges["child"].to_list()
    sizes = np.bincount(made.nodes["dag"].to_numpy(), minlength=len(made.dags)).tolist()
    nodes, at, begin, video = 0, 0, 0, made.dags["video"].to_list()

    def question(of: int) -> str:
        number = node["text"][of]
        return f"Was the {made.types[node['type'][of]]} of the person's {number} things there after they went on?"

    def entry(of: int) -> dict[str, str | None]:
        thing, type = node["object"][of], made.types[node["type"][of]]
        objects = f"objExists({made.words[thing]})" if thing != NOTHING else None
        program = objects or f"query(class, {type}, exists(relation {node['text'][of]}, iterate(video, filter(frame))))"
        answer = answers[node["answer"][of]]
        return {"key": f"q-{node['key'][of]}", "type": type, "program": program, "answer": answer}

    dags = dict[str, Any]()
    for dag, many in enumerate(sizes):
        subquestion = {question(of): entry(of) for of in range(begin, begin + many)}
        hierarchy = dict[str, dict[str, list[str]]]()
        while at < len(parents) and parents[at] < begin + many:
            listed = [question(of) for of in child[first[at] : first[at] + size[at]]]
            hierarchy.setdefault(question(parents[at]), {})[made.compositions[kinds[at]]] = listed
            at += 1
        root = subquestion[question(begin)]
        head = {"question": question(begin), "type": root["type"], "old_program": root["program"]}
        head |= {"new_program": root["program"], "answer": root["answer"]}
        dags[f"{made.videos[video[dag]]}-{dag}"] = {**head, "subquestion": subquestion, "hierarchy": hierarchy}
        begin, nodes = begin + many, nodes + len(subquestion)
        if dag + 1 == len(video) or video[dag + 1] != video[dag]:
            (folder / f"{made.videos[video[dag]]}.json").write_text(json.dumps(dags), "utf-8")
            dags = {}
    return nodes
