"""Questions and sub-questions of a run, the edges between them and what models answer, as tables in words."""

from collections.abc import Callable

import numpy as np
import polars as pl

from questree.benchmarks import COVR, Benchmark
from questree.columns.joins import ranges
from questree.columns.quoting import quoted
from questree.faults import BadInput
from questree.models.stored import of_shards, said
from questree.notation.grammar import names
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.decompose.question_texts import texts_at
from questree.stages.decompose.set_hierarchies import image_ids, read_sets, set_corpus
from questree.stages.decompose.spoken import by_form, say
from questree.stages.generate.programs import filled
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import FORMS, SETS, read_nodes
from questree.tables.predictions import PREDICTIONS, Stored, of_image_sets
from questree.tables.run import Run
from questree.tables.table import read_parquet
from questree.terms import Array, slots


def node_table(dags: RunHierarchies, programs: bool = True, texts: bool = True) -> pl.DataFrame:
    """Every question and sub-question once, as predictions name it."""
    found = dags.hierarchies
    nodes = found.nodes.select("key", "type", "answer", video=pl.Series(found.node_video))
    every = pl.concat([nodes, found.isolated.select(nodes.columns)]).unique("key", keep="first").sort("key")
    key = every["key"].to_numpy().astype(np.int64)
    words = pl.Series([*found.words, None], dtype=pl.String)
    asked = np.zeros(len(found.keys), bool)
    for shard, rows in of_shards(dags.named):
        asked[shard.asked["key"].to_numpy() + rows.start] = True
    images = all(of_image_sets(shard.shard) for shard in dags.named)
    columns = {
        "id": found.keys.gather(key),
        "scope": _of_nodes(dags, key, scopes) if images else pl.Series(found.videos).gather(every["video"]),
        **({"question": texts_at(dags, key)} if texts else {}),
        "answer": words.gather(every["answer"].to_numpy() % len(words)),  # NOTHING is the last
        "type": pl.Series(found.types, dtype=pl.String).gather(every["type"]),
        **({"program": _of_nodes(dags, key, programs_of if images else written)} if programs else {}),
        "asked": pl.Series(asked[key]),
    }
    return pl.DataFrame(columns)


def _of_nodes(dags: RunHierarchies, key: Array, said: Callable[[Run, str], pl.Series]) -> pl.Series:
    """[key] what is said of its node, given that of all nodes of a shard; keys ascend."""
    parts = list[pl.Series]()
    for shard, rows in of_shards(dags.named):
        here = key[(key >= rows.start) & (key < rows.stop)] - rows.start
        parts.append(said(dags.run, shard.shard).gather(np.append(np.arange(shard.nodes), shard.tops)[here]))
    return pl.concat(parts)


def scopes(run: Run, shard: str) -> pl.Series:
    """[node] of a shard of image sets: the ids of its images."""
    corpus, tables = set_corpus(run.folder), read_sets(COVR.place(run, "decomposed") / shard)
    return image_ids(tables[SETS.name]["images"], corpus.images).gather(tables["nodes"]["set"])


def programs_of(run: Run, shard: str) -> pl.Series:
    """[node] of a shard of image sets: its program in our notation."""
    tables = read_sets(COVR.place(run, "decomposed") / shard)
    return say(tables[FORMS.name], tables["nodes"], set_corpus(run.folder).texts, columns=("program",))["program"]


def written(run: Run, shard: str) -> pl.Series:
    """[node] of a shard of videos."""
    folder, words, found = run.decomposed / shard, run.vocabulary(), [pl.Series(dtype=pl.String)]
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
    else:
        folders = own.part("shards")(run)
    tables = [read_parquet(folder / f"{name}.parquet") for folder in folders]
    if not tables:
        raise BadInput.at(run.folder, f"no {name} here; `questree decompose` makes them")
    parts = [
        table.insert_column(0, pl.lit(folder.name).alias("shard"))
        for folder, table in zip(folders, tables, strict=True)
    ]
    return pl.concat(parts, how="diagonal")  # nodes about image sets have as many words as their shard needs
