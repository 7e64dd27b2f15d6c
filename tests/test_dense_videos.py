"""Videos with more questions than are wanted: asked about are samples of their references, actions and times."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.benchmarks.agqa.editions import EDITIONS
from questree.columns.joins import Ints, in_turn
from questree.stages.generate import localised
from questree.stages.generate import questions as asking
from questree.stages.generate.cores import Core
from questree.stages.generate.estimate import estimate
from questree.stages.generate.rules import Tally
from questree.stages.generate.sampling import ENOUGH, fitted
from questree.stages.generate.shards import SAMPLED, GenerateOptions, generate
from questree.stages.questions import Bank
from questree.tables.questions import TABLES
from questree.tables.run import Run
from questree.tables.store import new_folder
from worlds.commands import questree
from worlds.generator_rows import EVERY_REFERENCE, Generated, plain

MOST = 2000  # of the few videos here most have more


def made(run: Run, options: GenerateOptions) -> Run:
    generate(run, options, pool=ThreadPoolExecutor(1))
    return run


def tables(run: Run, edition: str = "2.0") -> dict[str, pl.DataFrame]:
    found = {
        name: pl.concat([table.read(folder) for folder in Bank(run).folders()])
        for name, table in TABLES[edition].items()
    }
    return found | {"questions": found["questions"].sort("video", "number")}


def counts(run: Run) -> list[int]:
    rows = np.bincount(tables(run)["questions"]["video"], minlength=len(Bank(run).ids))
    return [int(count) for count in rows]


def notes(run: Run) -> dict[str, dict[str, list[int]]]:
    found = [json.loads(path.read_text()) for path in sorted(run.questions.glob(f"*/{SAMPLED}"))]
    return {video: told for each in found for video, told in each.items()}


@pytest.mark.parametrize("edition", ["2.0", "1.0"])
def test_what_is_asked_of_a_sample_is_asked_of_the_whole_with_the_same_answer(
    cleaned_run: Run, tmp_path: Path, edition: str
) -> None:
    few = copy(cleaned_run, tmp_path / "few")
    for stage in ("raw", "facts"):
        with new_folder(few.folder / stage) as folder:
            cleaned_run.load(stage).between(0, 6).save(folder)
    # a time inside a reference is one of those of the sample, so other ones than by default may be kept
    references = EVERY_REFERENCE if edition == "1.0" else 3
    asked = []
    for name, most in (("sample", MOST), ("whole", 10**9)):
        options = GenerateOptions(rare_below=3, edition=edition, most_per_video=most, references=references)
        run = made(copy(few, tmp_path / name), options)
        sides = tables(run, edition)
        asked.append(plain(Generated(sides.pop("questions"), sides, {}, EDITIONS[edition]), 6))
    sampled = 0
    for sample, whole in zip(*asked, strict=True):
        assert not set(sample) - set(whole) and len(set(sample)) == len(sample) <= MOST
        assert len(sample) == len(whole) or len(whole) > MOST
        sampled += len(sample) < len(whole)
        if len(sample) < len(whole):
            assert len(sample) > MOST / 3, "one more of each may be many more questions where few are kept"
            assert {each.template for each in sample} > {"objExists", "objRelExists", "andObjRelExists"}
    assert sampled >= 3


def test_a_sample_does_not_depend_on_workers_or_shards(asked_run: Run, tmp_path: Path) -> None:
    run, other = (copy(asked_run, tmp_path / name) for name in ("one", "other"))
    said = []
    for each, shard, workers in ((run, 5, 1), (other, 3, 2)):
        line = ("generate", each.folder, "--rare-below", 3, "--most-per-video", MOST, "--shard", shard)
        done = questree(*line, "--workers", workers, "--json", each.folder / "told.json")
        assert (done.returncode, done.stderr) == (0, "")
        said.append([line for line in done.stdout.splitlines() if "--most-per-video" in line])
    assert all(ours.equals(tables(other)[name]) for name, ours in tables(run).items())
    assert said[0] == said[1] and len(said[0]) == 1
    few, many = counts(run), counts(asked_run)
    sampled = [video for video, ours, theirs in zip(Bank(run).ids, few, many, strict=True) if ours < theirs]
    assert max(few) <= MOST and 3 < len(sampled) < len(few)
    told = json.loads((run.folder / "told.json").read_text())["sampled"]
    assert told == notes(run) == notes(other) and [*told] == sampled
    rows = {name: tables(run)[name]["video"].to_list() for name in ("references", "phrases")}
    for video, parts in told.items():
        at = Bank(run).ids.index(video)
        assert parts["references"][0] == rows["references"].count(at) <= parts["references"][1]
        assert parts["times"][0] <= rows["phrases"].count(at) and parts["times"][0] <= parts["times"][1]
    names = ("references", "actions", "times")
    kept, every = ([sum(parts[name][at] for parts in told.values()) for name in names] for at in (0, 1))
    assert said[0][0].startswith(f"{len(told):,} videos have more than {MOST:,} questions (about ")
    parts = zip(kept, every, ("references to objects", "actions", "times"), strict=True)
    assert ": asked about are " + ", ".join(f"{a:,} of {b:,} {c}" for a, b, c in parts) in said[0][0]
    for stage in ("balance", "split", "decompose"):
        done = questree(stage, run.folder, "--workers", 1)
        assert done.returncode == 0, done.stderr


def test_an_ordinary_corpus_is_asked_about_as_a_whole(asked_run: Run) -> None:
    assert not notes(asked_run) and max(counts(asked_run)) > MOST
    assert "most_per_video" not in Bank(asked_run).options


def test_of_a_video_with_a_great_many_actions_few_times_are_ever_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "synth corpus --videos 1 --objects 40 --relations 12 --actions 150 --cast 150 --instances 1 --seconds 900"
    for command in (
        f"{line} --frames 900 --out corpus",
        "ingest json corpus/videos.json --vocabulary corpus/vocabulary.toml --out run",
        "augment run",
    ):
        done = questree(*command.split(), "-q", folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    rows, own = list[int](), localised.localised

    def watching(world: object, words: object, spans: object, silent: object) -> object:
        rows.append(len(spans.video))  # type: ignore[attr-defined]
        return own(world, words, spans, silent)  # type: ignore[arg-type]

    monkeypatch.setattr(localised, "localised", watching)
    run = made(Run(tmp_path / "run"), GenerateOptions(rare_below=0, most_per_video=30_000))
    (told,) = notes(run).values()
    assert told["times"][1] > 20 * told["times"][0] and max(rows) < told["times"][1] / 3
    assert ENOUGH * 30_000 < counts(run)[0] <= 30_000
    found = estimate(run, GenerateOptions(rare_below=0, most_per_video=30_000))
    assert found.questions == counts(run)[0]


def test_other_times_that_may_be_meant_are_looked_at_some_at_a_time(
    cleaned_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A video whose actions are done again has many for every candidate."""
    together, own = list[int](), asking.sift

    def watching(core: Core, weight: Ints, tally: Tally) -> tuple[Core, Ints]:
        if core.chunk.otherwise is None:
            together.append(len(core.row))
        return own(core, weight, tally)

    monkeypatch.setattr(asking, "sift", watching)
    whole = made(copy(cleaned_run, tmp_path / "whole"), GenerateOptions(rare_below=3))
    most = max(together)
    together.clear()
    monkeypatch.setattr(asking, "READ", most // 8)
    some = made(copy(cleaned_run, tmp_path / "some"), GenerateOptions(rare_below=3))
    assert max(together) < most / 4
    assert all(table.equals(tables(some)[name]) for name, table in tables(whole).items())


@pytest.mark.parametrize("wanted", [50, 10_000, 5_000_000])
@pytest.mark.parametrize(
    ("asked", "most_tried"),
    [
        (lambda number: number**3 // 7, 8),
        (lambda number: 40 * min(number, 300) ** 2 + 9 * number, 8),
        (lambda number: 4500 * number, 14),
        (lambda number: 0 if number < 90 else number**2, 12),
    ],
)
def test_a_number_is_found_that_gives_nearly_as_many_questions_as_are_wanted(
    asked: Callable[[int], int], most_tried: int, wanted: int
) -> None:
    for first, limit in ((16, 65_535), (65_535, 65_535), (5, 5)):
        tried = list[int]()

        def count(number: int, tried: list[int] = tried, limit: int = limit) -> tuple[int, bool]:
            tried.append(number)
            return asked(number), number < 2000

        found = fitted(count, wanted, first, limit)
        assert asked(found) <= wanted and len(tried) == len(set(tried)) <= most_tried
        enough = asked(found) >= ENOUGH * wanted
        assert enough or found in (limit, *range(2000, limit + 1)) or asked(found + 1) > wanted


def test_kinds_take_turns() -> None:
    video, kind = np.array([0, 0, 0, 0, 0, 1, 1, 2]), np.array([4, 4, 4, 4, 1, 1, 1, 0])
    draw = np.array([9, 2, 7, 1, 5, 5, 3, 8], np.uint64)
    chosen = in_turn(np.array([3, 1, 0]), video, kind, draw)
    assert np.flatnonzero(chosen).tolist() == [1, 3, 4, 6]
