"""Augmentation shared out: whatever the ranges of videos, files and ledger are those of all videos at once."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

from chaos.kills import content
from conftest import copy
from questree.api.augmenting import augment
from questree.faults import BadInput
from questree.stages import augmented
from questree.stages.augment import RULES, AugmentationRule, AugmentOptions, Change, Graphs
from questree.stages.augment.guarantees import SHOWN
from questree.stages.augment.rules import RULES as ALL
from questree.tables.facts import ACTIONS, Facts
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary
from worlds.small import facts

LEFT_OUT = ("3", "8", "9", "10", "11", "12")


def files(run: Run, videos: int, **options: Any) -> dict[str, bytes]:
    """Of a run that is cleaned in shards of at most so many videos."""
    with patch.object(augmented, "VIDEOS", videos):
        augment(run.folder, **options)
    return {name: data for name, data in content(run.folder).items() if not name.startswith("raw")}


def ranges(run: Run, videos: int) -> list[int]:
    with patch.object(augmented, "VIDEOS", videos):
        return augmented.layout(run)


@pytest.fixture
def noisy(cleaned_run: Run, tmp_path: Path) -> Run:
    """Raw facts, and a truth in another order and without one of the videos."""
    run = copy(cleaned_run, tmp_path)
    whole = run.load("facts")
    turned = [whole.between(at, at + 1) for at in reversed(range(1, len(whole.videos)))]
    moved = [
        Facts(*(_moved(getattr(part, name), at) for name in Facts.__dataclass_fields__))
        for at, part in enumerate(turned)
    ]
    run.truth.mkdir()
    names = Facts.__dataclass_fields__
    Facts(*(pl.concat([getattr(part, name) for part in moved]) for name in names)).save(run.truth)
    return run


def _moved(table: pl.DataFrame, by: int) -> pl.DataFrame:
    return table.with_columns(pl.col("video") + by) if "video" in table.columns else table


def test_any_ranges_of_videos_give_the_same_files(noisy: Run, tmp_path: Path) -> None:
    other = copy(noisy, tmp_path / "other")
    assert ranges(noisy, 100) == [0, 12]
    assert len(ranges(other, 3)) == 5
    whole, shared = files(noisy, 100), files(other, 3)
    assert whole.keys() == shared.keys() and b'"precision"' in whole["ledger.json"]
    assert [name for name in whole if whole[name] != shared[name]] == []


def test_rules_are_worth_the_same(noisy: Run, tmp_path: Path) -> None:
    noisy.load("raw").between(2, 4).save(noisy.raw)
    other = copy(noisy, tmp_path / "other")
    whole, shared = (files(run, most, ablation=True, without=LEFT_OUT) for run, most in ((noisy, 2), (other, 1)))
    assert whole["ledger.json"].count(b'"alone"') == 8 and whole == shared


def test_without_the_rule_that_counts_there_is_one_round(noisy: Run, tmp_path: Path) -> None:
    other = copy(noisy, tmp_path / "other")
    with patch.object(augmented, "prepare", side_effect=AssertionError):
        assert files(noisy, 100, without=["5"]) == files(other, 5, without=["5"])


@pytest.mark.processes
def test_processes_give_the_files_of_one(noisy: Run, tmp_path: Path) -> None:
    other = copy(noisy, tmp_path / "other")
    assert files(noisy, 100, workers=1) == files(other, 4, workers=2)


HEIGHTS = """
    video {name}
    frames 0
    person 0 at 0 0 10 100
    light 0 at 0 0 5 5: {relation}
    """


def test_a_class_is_judged_by_all_videos(tmp_path: Path, noisy: Run) -> None:
    """Each video agrees with itself, all of them do not: the class loses both relations."""
    told = [HEIGHTS.format(name=name, relation=how) for name, how in (("A", "above"), ("B", "beneath"))]
    facts("".join(told)).save(noisy.raw)
    for table in noisy.truth.iterdir():
        table.unlink()
    noisy.truth.rmdir()
    files(noisy, 1)
    tracks, words = noisy.load("facts").tracks, noisy.vocabulary()
    assert not {words.relation_at["above"], words.relation_at["beneath"]} & {*tracks["relation"].to_list()}


def broken(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    """Actions lose their frames."""
    bare = graphs.actions.with_columns(first=pl.lit(None, pl.UInt16), last=pl.lit(None, pl.UInt16))
    return Graphs(**{**vars(graphs), "actions": bare}), []


def failing(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    if graphs.videos["id"][0] == failing.at:  # type: ignore[attr-defined]
        raise MemoryError("no room")
    return graphs, [Change("videos", changed=len(graphs.videos))]


@pytest.fixture
def with_rule() -> Iterator[Any]:
    """Adds a rule for one test."""
    before = dict(ALL.items())

    def add(apply: Any, by_video: bool = True) -> None:
        rule = AugmentationRule(99, "mine", "", apply, by_video=by_video)
        stack.enter_context(patch.dict(RULES, {**before, "mine": rule}, clear=True))

    with ExitStack() as stack:
        yield add


def test_broken_promises_of_all_shards_are_one_line(noisy: Run, with_rule: Any) -> None:
    with_rule(broken)
    lines = list[str]()
    for videos in (100, 3):
        with pytest.raises(BadInput) as bad:
            files(noisy, videos)
        lines += [str(bad.value)]
        assert not (noisy.folder / "ledger.json").exists()
    assert lines[0] == lines[1]
    assert (
        lines[0].partition("actions whose frames are not those inside their stamps: ")[2].partition("\n")[0].count(";")
        == SHOWN
    )


def test_a_shard_that_fails_is_named_and_nothing_is_written(noisy: Run, with_rule: Any) -> None:
    before = content(noisy.folder)
    failing.at = noisy.load("raw").videos["id"][ranges(noisy, 3)[1]]  # type: ignore[attr-defined]
    with_rule(failing)
    begin, end = ranges(noisy, 3)[1:3]
    with pytest.raises(BadInput, match=f"videos {begin}-{end - 1}: failed, 3 of 4 are finished; nothing is written"):
        files(noisy, 3)
    assert content(noisy.folder) == before


@pytest.mark.parametrize(("by_video", "changes"), [(True, 4), (False, 1)])
def test_a_rule_that_may_look_at_many_videos_sees_them_all(
    noisy: Run, with_rule: Any, by_video: bool, changes: int
) -> None:
    seen, failing.at = list[int](), ""  # type: ignore[attr-defined]

    def counting(graphs: Graphs, *rest: Any) -> Any:
        seen.append(len(graphs.videos))
        return failing(graphs, *rest)

    with_rule(counting, by_video)
    files(noisy, 3)
    assert len(seen) == changes and sum(seen) == 12


def test_what_is_wide_in_one_piece_is_wide(tmp_path: Path) -> None:
    row = {"video": [0], "action": [1], "start": [0.0], "end": [1.0], "first": [0], "last": [1]}
    for name, instance in (("a", pl.UInt8), ("b", pl.UInt16)):
        (tmp_path / name).mkdir()
        ACTIONS.write_piece(pl.DataFrame(row | {"instance": pl.Series([1], dtype=instance)}), tmp_path / name)
    ACTIONS.join([tmp_path / "a", tmp_path / "b"], tmp_path)
    found = ACTIONS.read(tmp_path)
    assert found["instance"].dtype == pl.UInt16 and found["instance"].to_list() == [1, 1]
