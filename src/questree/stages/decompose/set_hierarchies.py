"""The DAGs about image sets, shard by shard, as the tables that scores read; and the ids of their nodes."""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl

from questree.faults import BadInput
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.hierarchies import Columns, RunHierarchies, ShardDags, ShardKeys, nothing_asked
from questree.stages.decompose.spoken import SetTexts
from questree.tables.hierarchies import Hierarchies, together
from questree.tables.images import IMAGES as IMAGE_TABLE
from questree.tables.nodes import ANSWERS, ASKED_TOPS, EDGES, FORMS, KEYS, SETS, WORDS, nodes_about, slots_of
from questree.tables.run import Run, kept_while
from questree.tables.table import Table, columns_in

DIGEST = 6  # bytes of a sub-question's id


def set_shards(run: Run) -> list[Path]:
    """Folders of the decomposed shards, in the order of their images."""
    folder = run.covr / "decomposed"
    if not folder.is_dir():
        raise BadInput.at(folder, "not there yet; `questree decompose` writes it")
    if any(not (folder / f"{table.name}.parquet").is_file() for table in (WORDS, ANSWERS)):
        raise BadInput.at(folder, "expected DAGs of this version, got older ones; run `questree decompose` again")
    run.require_plugins(run.covr)
    return sorted(path for path in folder.iterdir() if path.is_dir())


def set_node_table(folder: Path) -> Table:
    """The table of nodes of a shard, with as many words as the longest program there has."""
    path = folder / "nodes.parquet"
    return nodes_about("set", len(slots_of(columns_in(path))) if path.is_file() else 0, pl.UInt32)


def read_sets(folder: Path) -> dict[str, pl.DataFrame]:
    """The tables of a shard by name, the words of all beside them; nodes with `key` and `question`, as in KEYS."""
    tables = {table.name: table.read(folder) for table in (SETS, FORMS, EDGES, ASKED_TOPS)}
    nodes = set_node_table(folder).read(folder).hstack(KEYS.read(folder))
    return tables | {"nodes": nodes, WORDS.name: WORDS.read(folder.parent)}


class SetCorpus:
    """What all shards share, read at once: a task keeps it for others, whose files are elsewhere."""

    def __init__(self, run: Run):
        set_shards(run)  # says what is wrong with them
        folder = run.covr / "decomposed"
        self.texts = SetTexts(WORDS.read(folder)["word"])  # remembers what it has said: shards ask the same
        self.listed = ANSWERS.read(folder)
        self.words = answer_words(self.texts, self.listed)
        self.images = IMAGE_TABLE.only("id").read(run.images)["id"]  # [image] its id


def answer_words(texts: SetTexts, listed: pl.DataFrame) -> AnswerWords:
    """listed: rows of ANSWERS."""
    most = listed.filter("count")["word"].cast(pl.Int64).max()
    return AnswerWords(texts.words_of_answers, int(most or 0))  # type: ignore[arg-type]


@kept_while("images", "covr")
def set_corpus(run: Path) -> SetCorpus:
    """Kept in a process from one shard to the next."""
    return SetCorpus(Run(run))


def image_hierarchies(run: Run, split: str | None = None) -> RunHierarchies:
    """All DAGs, or those of the questions of one split."""
    found = [set_part(run.folder, folder.name, split) for folder in set_shards(run)]
    if not any(dags.videos for dags, _ in found):
        raise nothing_asked(run.covr / "decomposed", split)
    return RunHierarchies(run, together(dags.part for dags, _ in found), [named for _, named in found])


def set_part(run: Path, name: str, split: str | None) -> tuple[Hierarchies, ShardKeys]:
    """The DAGs of one shard; each counts for the first image of its set."""
    corpus = set_corpus(run)
    tables = read_sets(Run(run).covr / "decomposed" / name)
    nodes, tops = tables["nodes"], tables[ASKED_TOPS.name]
    first = tables[SETS.name]["images"].list.first().gather(nodes["set"]).gather(tops["node"])
    questions = tops.select("node", video=first, key=pl.col("node").cast(pl.Int64))
    if split is not None:
        questions = questions.filter(tops["split"] == split)
    columns = set_columns(tables[FORMS.name], nodes, corpus.words)
    asked = ShardDags.of(questions.unique(maintain_order=True), tables[EDGES.name], columns)
    ids, words = corpus.images.gather(asked.videos).to_list(), list(corpus.words.number)
    known = tops.select("id", key=pl.col("node").cast(pl.Int64))
    dags = asked.hierarchies(ids, words, nodes["key"], IMAGE_DAGS.compositions)
    return dags, ShardKeys(name, len(nodes), np.zeros(0, np.int64), known)


def set_columns(forms: pl.DataFrame, nodes: pl.DataFrame, words: AnswerWords) -> Columns:
    """What every node about a set of images brings along."""
    from questree.domains.images import IMAGES  # takes a moment, and video runs need none

    return Columns.of(forms, nodes, words, IMAGES, IMAGE_DAGS.types)


def image_ids(sets: pl.Series, names: pl.Series) -> pl.Series:
    """[set] the ids of its images, given the rows of its images and [image] their ids."""
    rows = pl.DataFrame({"image": sets}).with_row_index("set").explode("image")
    return rows.with_columns(id=names.gather(rows["image"])).group_by("set", maintain_order=True).agg("id")["id"]


def programs_in(nodes: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Nodes that differ in their program or its words, as they are said; and [node] which of them it is."""
    words = nodes.select("form", *slots_of(nodes.columns))
    different = words.unique().sort("form")
    number = different.with_row_index("number")
    return different, words.join(number, on=words.columns, how="left", maintain_order="left")["number"]


def node_keys(nodes: pl.DataFrame, texts: pl.Series, tops: pl.DataFrame, images: pl.Series) -> pl.Series:
    """[node] its id: that of the first question it is, or else a digest of what is asked about which images.

    nodes: set, number: which of the texts says what is asked. Predictions for other questions then never fit by
    chance, as they would if rows were counted.
    """
    first = tops.group_by("node", maintain_order=True).agg(pl.col("id").first()).sort("node")
    others = np.setdiff1d(np.arange(len(nodes)), first["node"].to_numpy())
    made = pl.Series([*digests(nodes[others], texts, images)], dtype=pl.String)
    return pl.concat([first["id"], made]).gather(np.argsort(np.concatenate([first["node"].to_numpy(), others])))


def digests(nodes: pl.DataFrame, texts: pl.Series, images: pl.Series) -> Iterator[str]:
    sets = ["\0".join(sorted(own)).encode() for own in images.to_list()]
    asked = [f"\n{text}".encode() for text in texts.to_list()]
    for at, number in nodes.select("set", "number").iter_rows():
        yield f"s-{blake2b(sets[at] + asked[number], digest_size=DIGEST).hexdigest()}"
