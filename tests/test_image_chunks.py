"""Stages of image sets shared out: whatever the chunks of questions, files are those of all questions at once."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from chaos.kills import content
from conftest import copy
from questree.api.stages import audit, balance, split
from questree.domains.images import corpus
from questree.faults import BadInput
from questree.formats.covr_export import export, export_split
from questree.search.word_tables import WordTables
from questree.stages.decompose.set_hierarchies import read_sets, set_shards
from questree.stages.decompose.set_numbers import set_keys
from questree.stages.decompose.set_shards import decompose as in_memory
from questree.stages.decompose.set_shards import decompose_run
from questree.tables.image_questions import BALANCED, answered, chunks
from questree.tables.images import Images
from questree.tables.run import Run
from worlds.image_run import image_run, words_folder
from worlds.question_shards import put_in_shards, write_questions

SPLIT: dict[str, Any] = {
    "curve": "0,2,5,all",
    "few_shot": 4,
    "lexical_pairs": 3,
    "lexical_alone": 5,
    "lexical_together": 2,
}
NO_TEMPLATE = "find($0)"  # no question
OWN = "splits: {counted: {held out: ['has(count) & template(COUNT)', 'answer(yes) & uses(noun=\"cup\")']}}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return image_run(tmp_path_factory.mktemp("chunks"))


def in_shards(run: Run, most: int) -> dict[str, Any]:
    """What every stage makes of a run, by shards of about so many questions, in whatever order."""
    put_in_shards(run, most)
    balance(run.folder, questions=200)
    (run.folder / "own.yaml").write_text(OWN)
    split(run.folder, splits=run.folder / "own.yaml", **SPLIT)
    audit(run.folder, most=90)
    return {str(path.relative_to(run.covr)): in_order(path) for path in run.covr.rglob("*") if path.is_file()}


def in_order(path: Path) -> Any:
    if path.suffix == ".parquet":
        return sorted(map(str, pl.read_parquet(path).rows()))
    found = json.loads(path.read_text()) if path.name in ("plan.json", "curve.json") else path.read_bytes()
    if isinstance(found, dict):
        return {name: own | {"questions": sorted(own["questions"])} for name, own in found.items()}
    return found


def test_any_shards_give_the_same_files(made: Run, tmp_path: Path) -> None:
    runs = {most: copy(made, tmp_path / str(most)) for most in (1000, 50)}
    whole, shared = (
        {name: own for name, own in in_shards(run, most).items() if not name.startswith("questions")}
        for most, run in runs.items()
    )
    assert len(chunks(runs[50])) > 3
    assert whole.keys() == shared.keys() and len(whole) > 30
    assert [name for name in whole if whole[name] != shared[name]] == []


@pytest.mark.processes
def test_processes_give_the_files_of_one(made: Run, tmp_path: Path) -> None:
    one, two = (copy(made, tmp_path / name) for name in ("one", "two"))
    for run, workers in ((one, 1), (two, 2)):
        put_in_shards(run, 60)
        balance(run.folder, questions=200, workers=workers)
        split(run.folder, workers=workers, **SPLIT)
        audit(run.folder, workers=workers)
    assert content(one.covr) == content(two.covr)


def test_sets_are_numbered_as_they_are_met_by_all_chunks(made: Run, tmp_path: Path) -> None:
    """In memory sets are the keys of a dictionary."""
    run, words = copy(made, tmp_path), WordTables.read(words_folder(tmp_path))
    mixed = answered(run).sample(fraction=1, shuffle=True, seed=3)
    strange, form = pl.int_range(pl.len()) % 7 == 3, pl.col("form").cast(pl.String)
    write_questions(mixed.with_columns(form=pl.when(strange).then(pl.lit(NO_TEMPLATE)).otherwise(form)), run, 25)
    told = decompose_run(run, words, every=True)
    assert told.unknown == -(-(len(mixed) - 3) // 7)
    at_once = in_memory(answered(run), corpus(Images.load(run.images), words.attribute_group))
    sets, shards = at_once["sets"], [read_sets(folder) for folder in set_shards(run)]
    assert len(shards) > 3
    assert pl.concat([own["sets"] for own in shards]).sort("number").equals(sets)
    for own in shards:
        assert own["words"].equals(at_once["words"])
        number = own["sets"]["number"].gather(own["nodes"]["set"])
        both = (
            own["nodes"].with_columns(set=number),
            at_once["nodes"].filter(at_once["nodes"]["set"].is_in(number.implode())),
        )
        shared = [name for name in both[1].columns if name in both[0].columns and name != "form"]
        assert both[0].select(shared).equals(both[1].select(shared))
        tops = at_once["tops"].filter(pl.col("id").is_in(own["tops"]["id"].implode()))
        assert own["tops"].drop("node").equals(tops.drop("node"))
    for name in ("nodes", "edges", "tops"):
        assert sum(len(own[name]) for own in shards) == len(at_once[name])


def test_a_set_is_known_by_its_images_in_any_order() -> None:
    sets = pl.Series([[1, 2, 3], [3, 1, 2], [1, 2], [1, 2, 0], [], [0], [2, 1]], dtype=pl.List(pl.UInt32))
    keys = set_keys(sets).tolist()
    assert keys[0] == keys[1] and keys[2] == keys[6] and len({*keys}) == 5
    assert keys[2:4] == set_keys(sets[2:4]).tolist(), "longer sets beside them do not matter"


def test_any_chunks_give_the_same_records(made: Run, tmp_path: Path) -> None:
    run = copy(made, tmp_path / "run")
    balance(run.folder, questions=200)
    split(run.folder, name=["HAS-QUANT"], curve="0,2", few_shot=3)
    for most in (1000, 50):
        put_in_shards(run, most)
        decompose_run(run, WordTables.read(words_folder(tmp_path)), every=True)
        export(run, tmp_path / f"{most}" / "all", every=True)
        export(run, tmp_path / f"{most}" / "balanced")
        export_split(run, tmp_path / f"{most}" / "split", "HAS-QUANT")
    whole, shared = (
        {name: sorted(data.splitlines()) for name, data in content(own).items()}
        for own in (tmp_path / "1000", tmp_path / "50")
    )
    assert len(whole) == 4 + 4 + 7 and whole == shared
    lines = [json.loads(line) for line in (tmp_path / "50" / "all" / "train.jsonl").read_text().splitlines()]
    assert {line["balanced"] for line in lines} == {True, False}


def test_a_selection_lies_in_some_chunks_alone(made: Run, tmp_path: Path) -> None:
    """A chunk without any chosen question is no fault; no chosen question at all is one."""
    run = copy(made, tmp_path)
    ids = answered(run)["id"]
    BALANCED.write(ids.head(60).to_frame(), run.covr)
    whole, shared = tmp_path / "whole", tmp_path / "shared"
    for place, most in ((whole, 1000), (shared, 50)):
        put_in_shards(run, most)
        split(run.folder, name=["HAS-QUANT", "LEXICAL"], few_shot=2)
        (run.covr / "splits").rename(place)
    assert [in_order(path) for path in sorted(whole.iterdir())] == [in_order(path) for path in sorted(shared.iterdir())]
    BALANCED.write(ids.head(0).to_frame(), run.covr)
    with pytest.raises(BadInput, match="the balanced selection is empty"):
        split(run.folder)


def test_words_of_all_chunks_may_be_named(made: Run, tmp_path: Path) -> None:
    run = copy(made, tmp_path)
    (tmp_path / "own.yaml").write_text("splits: {mine: {held out: uses(noun=lamp)}}")
    told = list[str]()
    for most in (1000, 50):
        put_in_shards(run, most)
        with pytest.raises(BadInput) as bad:
            split(run.folder, splits=tmp_path / "own.yaml")
        told.append(str(bad.value))
    assert told[0] == told[1] and "no noun 'lamp'; choose from chair, cup, dog, table" in told[0]
