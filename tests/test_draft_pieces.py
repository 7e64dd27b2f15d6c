"""Which drafted questions stay, decided from numbers: as a reader of all chunks, with sets and loops, decides it."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from questree.columns.hashing import seed_of
from questree.domains.images import corpus
from questree.search.index import Index, boxes_of
from questree.search.same_words import SameWords
from questree.stages.drafts.builders import Reasons
from questree.stages.drafts.chunk import COLUMNS, DraftedChunk
from questree.stages.drafts.part_facts import PartFacts, write_facts
from questree.stages.drafts.pieces import MetKeys, PartRows, SoFar, apart, final, numbered, write_kept, written
from questree.stages.question_shards import write_shards
from questree.tables.image_questions import answered
from questree.tables.images import Images
from questree.tables.run import Run
from worlds.image_run import write_images

Row = tuple[int, str, str]  # pair in its chunk, id, text
PARTS = ("train", "dev", "test")


def drawn(seed: int) -> list[list[Row]]:
    """Chunks of pairs of one or two questions; ids and texts are few, so many come again."""
    draw, chunks = np.random.default_rng(seed), list[list[Row]]()
    for _ in range(int(draw.integers(1, 6))):
        pairs = [(pair, f"text {draw.integers(20)}") for pair in range(int(draw.integers(0, 12)))]
        rows = [(pair, text) for pair, text in pairs for _ in range(int(draw.integers(1, 3)))]
        chunks.append([(pair, f"id {draw.integers(60)}", text) for pair, text in rows])
    return chunks


def stays(chunks: list[list[Row]], wanted: int) -> tuple[list[tuple[int, Row]], int]:
    """(chunk, question) of all that stay, and how many were asked before."""
    seen, kept, again = set[str](), list[tuple[int, Row]](), 0
    for at, chunk in enumerate(chunks):
        ids = [id for _, id, _ in chunk]
        old = {pair for place, (pair, id, _) in enumerate(chunk) if id in seen or id in ids[:place]}
        new = [row for row in chunk if row[0] not in old]
        again += len(chunk) - len(new)
        seen |= {id for _, id, _ in new}
        kept += [(at, row) for row in new]
        if len(seen) >= wanted:
            break
    if len(kept) > wanted:
        torn = kept[wanted][0], kept[wanted][1][0]
        kept = [(at, row) for at, row in kept[:wanted] if (at, row[0]) != torn]
    return kept, again


def chunk_of(rows: list[Row]) -> DraftedChunk:
    plain = {"template": "COUNT", "answer": "1", "length": 1, "depth": 1, "attributes": 0}
    columns = [plain | {"id": id, "question": text, "pair": pair} for pair, id, text in rows]
    own = [row | {"program": f"count(find({row['id']}))", "images": [1]} for row in columns]
    return DraftedChunk(pl.DataFrame(own, schema=COLUMNS), len({row[0] for row in rows}), Reasons(), Reasons())


@pytest.mark.parametrize("seed", range(12))
def test_chunks_keep_what_a_reader_of_all_keeps(seed: int, tmp_path: Path) -> None:
    drafted = {part: drawn(3 * seed + at) for at, part in enumerate(PARTS)}
    wanted, rows, judged, again = 5 + 2 * seed, dict[str, PartRows](), dict[str, list[tuple[int, Row]]](), 0
    for part, chunks in drafted.items():
        made = [written(chunk_of(own), tmp_path / f"{part}-{at}", part) for at, own in enumerate(chunks)]
        rows[part] = PartRows.of(part, made, SoFar(wanted), Reasons(), Reasons())
        judged[part], repeated = stays(chunks, wanted)
        again += repeated
        assert len(rows[part]) == len(judged[part])
    both = {text for _, (_, _, text) in judged["dev"]} & {text for _, (_, _, text) in judged["test"]}
    home = {text: "dev" if int(seed_of(0, text)) % 2 else "test" for text in both}
    expected = {p: [r for r in own if p == "train" or home.get(r[1][2], p) == p] for p, own in judged.items()}
    kept = list(numbered([rows["train"], *apart(rows["dev"], rows["test"])]))
    counts = [write_kept(chunk) for chunk in kept]
    run = Run(tmp_path / "run")
    write_shards([final(chunk.place) for chunk in kept], run.covr, None)
    found = answered(run)
    assert found.select("split", "id").rows() == [(p, id) for p in PARTS for _, (_, id, _) in expected[p]]
    pairs = [(p, at, pair) for p in PARTS for at, (pair, _, _) in expected[p]]
    number = {pair: at for at, pair in enumerate(dict.fromkeys(pairs))}
    assert found["pair"].to_list() == [number[pair] for pair in pairs]
    size = Counter(pairs)
    told = dict(pl.concat(counts).filter(template="COUNT").group_by("what").agg(pl.col("n").sum()).rows())
    moved = sum(map(len, judged.values())) - len(pairs)
    twins = sum(size[pair] == 2 for pair in pairs)
    wanted_counts = {"questions": len(pairs), "paired": twins, "asked before": again, "text in dev and test": moved}
    assert told == {what: n for what, n in wanted_counts.items() if n}


def test_what_was_met_is_known_whatever_came_when() -> None:
    draw, met, plain = np.random.default_rng(1), MetKeys(), set[int]()
    for size in (1, 0, 5, 3, 40, 2, 2, 100):
        keys = np.unique(draw.integers(0, 500, size).astype(np.uint64))
        assert met.holds(keys).tolist() == [int(key) in plain for key in keys]
        new = keys[~met.holds(keys)]
        met.add(new)
        plain |= set(map(int, new))
        assert len(met) == len(plain)
    lengths = [len(run) for run in met.runs]
    assert all(a > 2 * b for a, b in pairwise(lengths))


def test_facts_of_a_part_are_mapped_as_they_were_built(tmp_path: Path) -> None:
    images, groups = images_of(tmp_path), {"red": "color"}
    write_facts(images, np.arange(len(images.images)), groups, tmp_path)
    found, index, words = PartFacts.mapped(tmp_path), Index.of(images), SameWords.of(images)
    for name in ("scenes", "postings"):
        own, other = (getattr(each, name)._asdict() for each in (index, found.index))
        assert [column for column in own if not same(own[column], other[column])] == []
    assert found.merged is not None, "cup and cups mean the same"
    for built, mapped in ((corpus(images, groups), found.corpus), (corpus(words.merged(images), groups), found.merged)):
        assert (built.words, built.groups, built.image_ids) == (mapped.words, mapped.groups, mapped.image_ids)
        assert [n for n in built.facts._fields if not same(getattr(built.facts, n), getattr(mapped.facts, n))] == []
        assert same(built.first_page, mapped.first_page) and same(built.image_of, mapped.image_of)
    for name in ("area", "ends", "links"):
        assert same(getattr(index, name), getattr(found.index, name))
    assert words == found.same and same(boxes_of(images), found.boxes)
    assert found.rows.tolist() == [*range(len(images.images))]
    assert index.thing_ids.equals(found.index.thing_ids) and index.words == found.index.words


def same(one: Any, other: Any) -> bool:
    """Values, and the type that kernels are compiled for."""
    if not isinstance(one, np.ndarray):
        return bool(one == other)
    equal = np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return equal and (type(other), other.dtype, other.flags.writeable) == (np.ndarray, one.dtype, True)


def images_of(folder: Path) -> Images:
    rooms = {"train": ["red cup, cups, table, 0 on 2", "dog"], "dev": ["blue cup, chair, 0 near 1"]}
    return write_images(Run(folder / "run"), rooms)
