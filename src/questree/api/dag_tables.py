"""Questions and sub-questions of a run, the edges between them and what models answer, as tables in words."""

import numpy as np
import polars as pl

from questree.benchmarks import COVR, Benchmark
from questree.columns.joins import ranges
from questree.columns.quoting import quoted
from questree.faults import BadInput
from questree.models.stored import of_shards, said
from questree.notation.grammar import names
from questree.stages.decompose.hierarchies import RunHierarchies, shards
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.stages.decompose.question_texts import texts_at
from questree.stages.decompose.set_hierarchies import image_ids
from questree.stages.decompose.spoken import by_form
from questree.stages.generate.programs import filled
from questree.tables.hierarchies import NOTHING
from questree.tables.images import IMAGES
from questree.tables.nodes import EDGES, FORMS, NODES, read_nodes
from questree.tables.predictions import IMAGE_SETS, PREDICTIONS, Stored
from questree.tables.run import Run
from questree.terms import Array, slots
from questree.vocabulary.words import Vocabulary


def node_table(dags: RunHierarchies, programs: bool = True, texts: bool = True) -> pl.DataFrame:
    """Every question and sub-question once, as predictions name it."""
    found, run = dags.hierarchies, dags.run
    nodes = found.nodes.select("key", "type", "answer", video=pl.Series(found.node_video))
    every = pl.concat([nodes, found.isolated.select(nodes.columns)]).unique("key", keep="first").sort("key")
    key = every["key"].to_numpy().astype(np.int64)
    words = pl.Series([*found.words, None], dtype=pl.String)
    asked = np.zeros(len(found.keys), bool)
    for shard, rows in of_shards(dags.named):
        asked[shard.asked["key"].to_numpy() + rows.start] = True
    columns = {
        "id": found.keys.gather(key),
        "scope": _sets(run, key) if _of_images(dags) else pl.Series(found.videos).gather(every["video"]),
        **({"question": texts_at(dags, key)} if texts else {}),
        "answer": words.gather(every["answer"].to_numpy() % len(words)),  # NOTHING is the last
        "type": pl.Series(found.types, dtype=pl.String).gather(every["type"]),
        **({"program": _programs(dags, key)} if programs else {}),
        "asked": pl.Series(asked[key]),
    }
    return pl.DataFrame(columns)


def _of_images(dags: RunHierarchies) -> bool:
    return [shard.shard for shard in dags.named] == [IMAGE_SETS]


def _sets(run: Run, key: Array) -> pl.Series:
    """[key] the ids of the images it is about; keys of image sets are nodes."""
    tables = read_sets(COVR.place(run, "decomposed"))
    return image_ids(tables["sets"]["images"], IMAGES.read(run.images)["id"]).gather(tables["nodes"]["set"].gather(key))


def _programs(dags: RunHierarchies, key: Array) -> pl.Series:
    """[key] its program in our notation; keys ascend."""
    if _of_images(dags):
        return spoken_sets(read_sets(COVR.place(dags.run, "decomposed")), asked=False)["program"].gather(key)
    words, parts = dags.run.vocabulary(), [pl.Series(dtype=pl.String)]
    for shard, rows in of_shards(dags.named):
        here = key[(key >= rows.start) & (key < rows.stop)] - rows.start
        node = np.append(np.arange(shard.nodes), shard.tops)[here]
        parts.append(written(dags.run, shard.shard, words).gather(node))
    return pl.concat(parts)


def written(run: Run, shard: str, words: Vocabulary) -> pl.Series:
    """[node] of a shard of videos."""
    folder, found = run.decomposed / shard, [pl.Series(dtype=pl.String)]
    for rows, _, node, values in by_form(FORMS.read(folder), read_nodes(folder)):
        known = {
            name: pl.Series([*map(quoted, names(slot.kind, words))], dtype=pl.String).gather(values[name])
            for name, slot in slots(node).items()
        }
        found.append(filled(node, known, rows.stop - rows.start))
    return pl.concat(found)


def edge_table(dags: RunHierarchies) -> pl.DataFrame:
    """parent, composition, position, child: every sub-question of a question, by the ids of both."""
    found = dags.hierarchies
    first = found.composed["first"].to_numpy().astype(np.int64)
    row, edge = ranges(first, first + found.composed["edges"].to_numpy())
    key = found.nodes["key"]
    columns = {
        "parent": found.keys.gather(key.gather(found.composed["parent"].gather(row))),
        "composition": pl.Series(found.compositions, dtype=pl.String).gather(found.composed["composition"].gather(row)),
        "position": pl.Series(edge - first[row]).cast(pl.UInt32),
        "child": found.keys.gather(key.gather(found.edges["child"].gather(edge))),
    }
    return pl.DataFrame(columns).unique(maintain_order=True)


def prediction_table(dags: RunHierarchies, model: str) -> pl.DataFrame:
    """id, prediction, answer of every question and sub-question that a stored model answers."""
    answers, nodes = said(dags, Stored.of(dags.run, model)), node_keys(dags)
    word = answers.by_key[nodes["key"].to_numpy()]
    given = pl.Series([*answers.words, None], dtype=pl.String).gather(word.astype(np.int64) % (len(answers.words) + 1))
    return nodes.with_columns(prediction=given).select("id", "prediction", "answer").filter(pl.Series(word != NOTHING))


def node_keys(dags: RunHierarchies) -> pl.DataFrame:
    """key, id, answer of every question and sub-question."""
    found = dags.hierarchies
    both = pl.concat([found.nodes.select("key", "answer"), found.isolated.select("key", "answer")])
    every = both.unique("key", keep="first").sort("key")
    words = pl.Series([*found.words, None], dtype=pl.String)
    answer = words.gather(every["answer"].to_numpy() % len(words))
    return every.select("key", id=found.keys.gather(every["key"]), answer=answer)


def raw_table(run: Run, own: Benchmark, name: str, model: str = "") -> pl.DataFrame:
    """nodes, edges or predictions as they are stored, with the shard they are in."""
    if name == PREDICTIONS.name:
        folders = sorted(path for path in Stored.of(run, model).folder.glob("*/"))
        tables = {folder.name: PREDICTIONS.read(folder) for folder in folders}
    else:
        tables = own.part("stored DAGs")(run, name)
    if not tables:
        raise BadInput.at(run.folder, f"no {name} here; `questree decompose` makes them")
    return pl.concat([found.insert_column(0, pl.lit(shard).alias("shard")) for shard, found in tables.items()])


def stored_of_videos(run: Run, name: str) -> dict[str, pl.DataFrame]:
    """Shard -> its nodes or edges."""
    table = {NODES.name: NODES, EDGES.name: EDGES}[name]
    return {folder.name: table.read(folder) for folder in shards(run)}


def stored_of_images(run: Run, name: str) -> dict[str, pl.DataFrame]:
    """The same of image sets, which are one shard."""
    return {IMAGE_SETS: read_sets(COVR.place(run, "decomposed"))[name]}
