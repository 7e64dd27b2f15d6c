"""Videos with many actions: files and memory are cut by the questions expected, time phrases can be capped."""

import json
import re
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.columns.hashing import mix, seed_of
from questree.sources.own_json import write
from questree.stages.audit import audited, key_counts
from questree.stages.audit.audited import AuditOptions
from questree.stages.audit.videos import audit
from questree.stages.generate import arguments, layout, pieces, questions, shards
from questree.stages.generate.annotated import actions_only
from questree.stages.generate.layout import cut, expected, regular, times
from questree.stages.generate.shards import GenerateOptions, generate
from questree.stages.generate.word_columns import pair_counts
from questree.stages.questions import Bank
from questree.tables.questions import read_balanced
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table, rows_in
from questree.vocabulary.load import default, default_text
from worlds.commands import questree
from worlds.exported_worlds import exported
from worlds.small import facts

SMALL = GenerateOptions(shard=5, text=True, rare_below=3)


def made(run: Run, options: GenerateOptions = SMALL) -> Run:
    generate(run, options, pool=ThreadPoolExecutor(1))
    return run


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.*"))}


def rows(run: Run) -> pl.DataFrame:
    return pl.read_parquet(run.questions / "*" / "questions.parquet").sort("video", "number")


def test_shards_and_chunks_are_cut_by_questions_and_by_videos(monkeypatch: pytest.MonkeyPatch) -> None:
    few = np.full(300, 10)
    assert cut(few, 128) == [(0, 64, 128), (128, 192, 256), (256, 300)]
    assert cut(few, 100) == [(0, 64, 100), (100, 164, 200), (200, 264, 300)]
    assert cut(few[:0], 128) == []
    assert regular(cut(few, 128), 128) and regular([], 128)
    monkeypatch.setattr(layout, "SHARD", 100)
    monkeypatch.setattr(layout, "TOGETHER", 50)
    uneven = np.array([40, 20, 40, 1, 500, 10, 10, 10, 10, 10, 10])
    assert cut(uneven, 128) == [(0, 1, 2, 3), (3, 4), (4, 5), (5, 10, 11)]
    assert not regular(cut(uneven, 128), 128)


def test_questions_are_expected_of_pairs_of_objects_in_times(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.vocabulary_file.write_text(default_text())
    found = facts(
        """
        video A
        frames 0 1 2 3 4 5
        bare dish 0-1: holding
        bare cup 2: holding
        bare dish 4: touching
        action c107 0 1
        action c061 3 4
        video B
        frames 0 1 2
        bare dish 0: holding
        bare cup 1: touching
        video C
        frames 0
        """
    )
    with new_folder(run.facts) as folder:
        found.save(folder)
    assert times(run).tolist() == [1 + 2 * 3 + 1, 1, 1]
    # dishes and cups are held and touched somewhere, so there are four pairs with either relation; in C is neither
    assert expected(run).tolist() == [8 * (2 * 2 + 2 * 2), 2 * 2 + 2 * 2, 0]


def test_what_is_told_of_the_corpus_does_not_depend_on_how_many_videos_are_read_at_once(
    cleaned_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = copy(cleaned_run, tmp_path)
    shutil.rmtree(run.truth, ignore_errors=True)  # with it everything is known of videos with actions alone
    pl.read_parquet(run.raw / "tracks.parquet").filter(pl.col("video") % 5 != 2).write_parquet(
        run.raw / "tracks.parquet"
    )

    def told() -> list[list[int]]:
        counts = np.asarray(pair_counts(run.stored("facts"), run.vocabulary()))
        return [times(run).tolist(), expected(run).tolist(), actions_only(run).tolist(), counts.tolist()]

    assert run.stored("facts").told and len(run.stored("facts").videos) > 7
    whole = told()
    assert [at for at, bare in enumerate(whole[2]) if bare][:2] == [2, 7]
    assert np.array_equal(whole[3], np.asarray(pair_counts(run.load("facts"), run.vocabulary())))
    monkeypatch.setattr("questree.tables.facts.RANGE", 3)
    assert told() == whole


def test_smaller_shards_are_the_same_questions_everywhere(
    asked_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(json.loads((asked_run.questions / "plan.json").read_text())) == {"options", "facts"}
    monkeypatch.setattr(layout, "SHARD", 15_000)
    monkeypatch.setattr(layout, "TOGETHER", 8_000)
    run = made(copy(asked_run, tmp_path), GenerateOptions(text=True, rare_below=3))
    bank, begins = Bank(run), json.loads((run.questions / "plan.json").read_text())["begins"]
    assert begins[0] == 0 and 3 < len(begins) < len(bank.ids) and bank.begins.tolist() == begins
    assert len(bank.folders()) == len(begins) and rows(run).equals(rows(asked_run))
    for number, folder in enumerate(bank.folders()):
        seen = pl.read_parquet(folder / "questions.parquet")["video"].unique().sort().to_list()
        assert seen == list(range(*[*begins, len(bank.ids)][number : number + 2]))
    for video in bank.ids:
        assert bank.find(f"{video}-7") == Bank(asked_run).find(f"{video}-7")
    other = copy(asked_run, tmp_path / "other")
    for each in (run, other):
        assert questree("balance", each.folder, "--workers", 1, "--quiet").returncode == 0
    assert read_balanced(run.balanced).equals(read_balanced(other.balanced))
    ours, theirs = (files(exported(each, tmp_path / f"out{at}")) for at, each in enumerate((run, other)))
    assert ours == theirs


SMALLEST = {  # as if memory had room for very little
    (questions, "CANDIDATES"): 500,
    (questions, "WORDED"): 60,
    (arguments, "TOGETHER"): 40,
}


@pytest.mark.parametrize("shard", [1, 3])  # pieces of one video come one by one, those of several are sorted
@pytest.mark.parametrize("edition", ["1.0", "2.0"])
def test_a_video_too_big_for_memory_is_asked_about_piece_by_piece(
    cleaned_run: Run, tmp_path: Path, edition: str, shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = GenerateOptions(shard=shard, rare_below=3, edition=edition, text=True)
    few = copy(cleaned_run, tmp_path / "few")
    for stage in ("raw", "facts"):
        with new_folder(few.folder / stage) as folder:
            cleaned_run.load(stage).between(0, 6).save(folder)
    whole = files(made(copy(few, tmp_path / "whole"), options).questions)
    for place, limit in SMALLEST.items():
        monkeypatch.setattr(*place, limit)
    seen = {name: list[int]() for name in ("fillings", "cores", "worded")}

    def watched(name: str, owner: Any, method: str, count: Any) -> None:
        own = getattr(owner, method)

        def watching(*given: Any) -> Any:
            found = own(*given)
            seen[name].append(count(found))
            return found

        monkeypatch.setattr(owner, method, watching)

    watched("fillings", arguments.Filler, "fill", lambda found: len(found[0]))
    watched("cores", questions, "sift", lambda found: len(found[0].row))
    watched("worded", questions, "finish", lambda found: len(found["video"]))
    assert files(made(copy(few, tmp_path / "cut"), options).questions) == whole
    assert all(len(sizes) > 100 for sizes in seen.values())
    # a group, piece or part may end behind its limit by what may not be divided: one argument, one core
    assert max(seen["cores"]) <= 500 and max(seen["worded"]) <= (120 if edition == "1.0" else 100)
    assert max(seen["fillings"]) <= (400 if edition == "1.0" else 100)


@pytest.mark.parametrize("text", [True, False])
def test_tables_of_a_long_video_are_never_in_memory_together(
    cleaned_run: Run, tmp_path: Path, text: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = GenerateOptions(shard=1, rare_below=3, text=text)
    whole = made(copy(cleaned_run, tmp_path / "whole"), options)
    monkeypatch.setattr(questions, "WORDED", 60)
    monkeypatch.setattr(pieces, "PIECE", 300)
    held, add = list[int](), pieces.ShardRows.add

    def watching(self: pieces.ShardRows, table: Table, found: pl.DataFrame) -> None:
        add(self, table, found)
        held.append(sum(len(each) for _, each in self._held))

    monkeypatch.setattr(pieces.ShardRows, "add", watching)
    cut = made(copy(cleaned_run, tmp_path / "cut"), options)
    largest = max(rows_in(folder / "questions.parquet") for folder in Bank(cut).folders())
    assert largest > 5000 and max(held) < 1500
    for ours, theirs in zip(Bank(cut).folders(), Bank(whole).folders(), strict=True):
        assert {path.name for path in ours.iterdir()} == {path.name for path in theirs.iterdir()}
        for table in theirs.glob("*.parquet"):  # only groups of rows end elsewhere
            assert pl.read_parquet(ours / table.name).equals(pl.read_parquet(table))
        assert (ours / "counts.json").read_bytes() == (theirs / "counts.json").read_bytes()


def test_capped_phrases_ask_a_part_of_the_same_questions(asked_run: Run, tmp_path: Path) -> None:
    most = 7
    run = made(copy(asked_run, tmp_path), GenerateOptions(shard=5, rare_below=3, phrases=most))
    assert Bank(run).options["phrases"] == most and "phrases" not in Bank(asked_run).options
    few, every = (pl.read_parquet(each.questions / "*" / "phrases.parquet") for each in (run, asked_run))
    kept = set[tuple[int, int, int, int]]()
    for video, name in enumerate(Bank(run).ids):
        own = [row for row in every.rows() if row[0] == video]
        kept |= {own[0], *chosen(own[1:], seed_of(1, name), most, indirect(asked_run, video))}
    assert few.rows() == [row for row in every.rows() if row in kept]
    assert few["video"].value_counts()["count"].max() == most + 1
    # what is asked of them is what was asked before
    same = ["video", "template", "relation", "x", "y", "first", "second", "time", "answer", "steps", "flags", "effect"]
    assert worded(run, same) == Counter(
        {row: n for row, n in worded(asked_run, same).items() if (row[0], *row[-3:]) in kept}
    )


def worded(run: Run, columns: list[str]) -> "Counter[tuple[int, ...]]":
    """Questions with their phrase instead of its number."""
    phrases = pl.read_parquet(run.questions / "*" / "phrases.parquet")
    phrases = phrases.with_columns(phrase=pl.int_range(pl.len()).over("video").cast(pl.UInt16))
    return Counter(rows(run).join(phrases, on=["video", "phrase"]).select(*columns, "kind", "a", "b").iter_rows())


def indirect(run: Run, video: int) -> set[int]:
    """Numbers of the actions of a video that are named by a reference to their object."""
    found = pl.read_parquet(run.questions / "*" / "action_references.parquet").filter(video=video)
    return {at for at, kind in enumerate(found["kind"]) if kind == 3}


Phrase = tuple[int, int, int, int]  # video, kind, a, b


def chosen(phrases: list[Phrase], seed: np.uint64, most: int, indirect: set[int]) -> list[Phrase]:
    """By the rule of docs/questions.md: kinds, plain and with an indirect object, take turns."""
    heaps: dict[tuple[int, int], list[Phrase]] = {}
    for phrase in phrases:
        _, kind, a, b = phrase
        heaps.setdefault((kind, int(a in indirect or b in indirect)), []).append(phrase)
    for (_, second), heap in heaps.items():
        heap.sort(key=lambda row: int(mix(seed, second, *row[1:])), reverse=True)
    found = list[Phrase]()
    for heap in cycle([heaps[key] for key in sorted(heaps)]):
        if len(found) == most or not any(heaps.values()):
            return found
        found += [heap.pop()] if heap else []
    return found


def test_build_takes_what_bounds_the_questions(cleaned_run: Run, tmp_path: Path) -> None:
    write(cleaned_run.load("raw").between(0, 3), default(), tmp_path / "mine.json")
    common = ("build", tmp_path / "mine.json", "--workers", 1, "--quiet", "--out")
    done = questree(*common, tmp_path / "run", "--shard", 2, "--phrases", 3, "--no-text")
    assert (done.returncode, done.stderr) == (0, "")
    bank = Bank(Run(tmp_path / "run"))
    assert (bank.options["shard"], bank.options["phrases"], bank.options["text"]) == (2, 3, False)
    assert len(bank.folders()) == 2 and not list(bank.run.questions.rglob("text.parquet"))
    refused = questree("build", tmp_path, "--source", "gqa", "--out", tmp_path / "no", "--no-text", "--phrases", 3)
    assert refused.stderr.splitlines() == [
        "error: --text: expected raw files of video, got images (gqa)",
        "error: --phrases: expected raw files of video, got images (gqa)",
    ]
    few = questree("generate", tmp_path / "run", "--phrases", -1)
    assert few.stderr == "error: --phrases: expected at least 0, got -1\n"


def test_an_action_may_happen_more_than_255_times(tmp_path: Path) -> None:
    frames = [
        {"number": at, "seconds": at, "objects": [{"class": "dish", "relations": ["holding"]}]} for at in range(620)
    ]
    doing = [{"class": "c107", "start": 2 * at, "end": 2 * at + 1} for at in range(300)]
    doing += [{"class": "c061", "start": 610, "end": 615}]
    own = {"videos": [{"id": "v", "split": "train", "frames": frames, "actions": doing}]}
    (tmp_path / "own.json").write_text(json.dumps(own))
    for command in ("ingest json own.json --out run", "augment run", "generate run --rare-below 0 --workers 1"):
        done = questree(*command.split(), "-q", folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    run = Run(tmp_path / "run")
    for stage in ("raw", "facts"):
        counted = run.load(stage).actions.filter(action=default().action_at["c107"])["instance"]
        assert counted.dtype == pl.UInt16 and counted.to_list() == list(range(1, 301))
    shown = questree("show", run.folder, "v", folder=tmp_path).stdout
    assert sum("holding" in line and "(300)" in line for line in shown.splitlines()) == 1
    asked = {(time >> 8 & 255, time >> 16) for time in rows(run)["time"] if time & 255 == 4}
    first, second = (default().action_at[action] + 1 for action in ("c107", "c061"))
    assert (first, second) in asked, "between the last instance of one action and another action"


def test_more_rows_than_columns_can_count_are_refused(
    cleaned_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "MOST_ROWS", 30)
    run = copy(cleaned_run, tmp_path)
    done = questree("generate", run.folder, "--quiet", "--workers", 1)
    assert done.returncode == 1
    assert re.fullmatch(
        r"error: video \w+: expected at most 30 phrases, got \d+; sample with a smaller --most-per-video",
        done.stderr.splitlines()[0],
    )
    assert questree("generate", run.folder, "--quiet", "--workers", 1, "--phrases", 20).returncode == 0


def test_an_audit_that_counts_part_by_part_finds_the_same(
    asked_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = copy(asked_run, tmp_path)
    assert questree("balance", run.folder, "--workers", 1, "--quiet").returncode == 0
    whole = audit(run, AuditOptions(most=2000))
    report = files(run.folder / "audit")
    monkeypatch.setattr(key_counts, "PART", 2000)
    monkeypatch.setattr(key_counts, "EVERY", 10)
    seen = list[int]()

    def counted(*given: Any) -> list[pl.DataFrame]:
        parts = [*key_counts.key_parts(*given)]
        seen.append(len(parts))
        return parts

    monkeypatch.setattr(audited, "key_parts", counted)
    assert audit(run, AuditOptions(most=2000)) == whole and files(run.folder / "audit") == report
    assert seen[0] > 4 and not list(run.folder.glob(".audit*"))
