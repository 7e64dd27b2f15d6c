"""Tables keep their columns, tracks keep their frames, and output appears whole or not at all."""

import gzip
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questree.faults import BadInput
from questree.tables import store
from questree.tables.facts import RELATIONS, TABLES, TRACKS, Facts, pack, unpack
from questree.tables.run import kept_while
from questree.tables.store import content, new_file, new_folder
from questree.tables.table import Table

Row = tuple[int, int, int, int]


def rows(facts: set[Row]) -> pl.DataFrame:
    return RELATIONS.frame(pl.DataFrame(sorted(facts), schema=list(RELATIONS.columns), orient="row"))


FACTS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 200), st.integers(0, 4), st.integers(0, 4)), max_size=60)


@settings(max_examples=100, deadline=None)
@given(FACTS)
def test_unpacking_what_was_packed_gives_the_rows_back(facts: set[Row]) -> None:
    assert set(unpack(pack(rows(facts))).iter_rows()) == facts


def test_a_track_has_one_bit_per_frame_and_ends_with_its_last_word() -> None:
    tracks = pack(rows({(0, 0, 5, 7), (0, 63, 5, 7), (0, 130, 5, 7), (1, 2, 5, 7)}))
    assert tracks["bits"].to_list() == [[1 | 1 << 63, 0, 1 << 2], [4]]


def test_packing_ignores_order_and_repeats() -> None:
    table = rows({(0, 3, 1, 2), (0, 1, 1, 2), (2, 0, 0, 0)})
    assert pack(pl.concat([table.reverse(), table])).equals(pack(table))


def empty_facts() -> Facts:
    return Facts(**{name: table.empty() for name, table in TABLES.items()})


def test_facts_come_back_from_the_disk(tmp_path: Path) -> None:
    facts = replace(empty_facts(), tracks=pack(rows({(0, 3, 1, 2), (0, 70, 1, 2)})))
    facts.save(tmp_path)
    again = Facts.load(tmp_path)
    assert again.tracks.equals(facts.tracks)
    assert again.relations.rows() == [(0, 3, 1, 2), (0, 70, 1, 2)]


def test_a_range_of_videos_is_renumbered() -> None:
    facts = replace(empty_facts(), tracks=pack(rows({(0, 3, 1, 2), (2, 1, 1, 2), (3, 0, 4, 4)})))
    names = TABLES["videos"].frame({"id": list("abcd"), "split": [""] * 4, "length": [None] * 4} | _sizes(4))
    few = Facts(names, facts.frames, facts.objects, facts.persons, facts.tracks, facts.actions).between(2, 4)
    assert few.videos["id"].to_list() == ["c", "d"]
    assert few.relations.rows() == [(0, 1, 1, 2), (1, 0, 4, 4)]


def _sizes(count: int) -> dict[str, list[None]]:
    return {"width": [None] * count, "height": [None] * count}


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"tracks\.parquet: no table tracks here"):
        TRACKS.read(tmp_path)


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "tracks.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(BadInput, match="not a readable Parquet file"):
        TRACKS.read(tmp_path)


def test_a_table_in_which_polars_panics_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("index out of range")

    TRACKS.write(TRACKS.empty(), tmp_path)
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(BadInput, match=r"tracks\.parquet: not a readable Parquet file \(PanicException\)$"):
        TRACKS.read(tmp_path)


def test_missing_columns_are_named(tmp_path: Path) -> None:
    Table("tracks", {"video": pl.UInt32}).write(pl.DataFrame({"video": [1]}), tmp_path)
    with pytest.raises(BadInput, match="columns missing: relation, object, bits"):
        TRACKS.read(tmp_path)


def test_a_folder_that_fails_halfway_leaves_the_old_one_alone(tmp_path: Path) -> None:
    target = tmp_path / "run"
    with new_folder(target) as work:
        (work / "a").write_text("old")
    with pytest.raises(RuntimeError), new_folder(target) as work:
        (work / "a").write_text("new")
        raise RuntimeError
    assert (target / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_folder_replaces_the_old_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "run"
    for name in ("a", "b"):
        with new_folder(target) as work:
            (work / name).write_text(name)
    assert [path.name for path in target.iterdir()] == ["b"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_file_that_fails_halfway_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), new_file(tmp_path / "x.json") as work:
        work.write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_of_a_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(BadInput, match="expected a folder, got a file"), new_folder(tmp_path / "run"):
        pass


def test_a_packed_file_that_holds_far_more_than_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "zeros.json.gz"
    path.write_bytes(gzip.compress(bytes(1 << 20)))
    assert content(path) == bytes(1 << 20)  # that little is read whatever the size
    monkeypatch.setattr(store, "ALWAYS", 1 << 10)
    monkeypatch.setattr(store, "PIECE", 1 << 10)
    with pytest.raises(BadInput, match="refused: unpacks to more than 64 times its size; a larger QUESTREE_UNPACK"):
        content(path)
    monkeypatch.setenv(store.TIMES, "100000")
    assert content(path) == bytes(1 << 20)


def test_a_link_keeps_pointing_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    with new_file(tmp_path / "link.json") as work:
        work.write_text("new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    with new_file(Path("/dev/null")) as work:
        work.write_text("nothing")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("said", [(28, "No space left on device"), ("48 requested and 16 written",)])  # system, numpy
def test_a_full_disk_is_said_in_one_line(tmp_path: Path, said: tuple[object, ...]) -> None:
    with pytest.raises(BadInput, match=r"cannot be written \(No space left on device\)"), new_file(tmp_path / "x"):
        raise OSError(*said)
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_of_a_folder_is_read_again_when_a_part_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()

    @kept_while("facts")
    def facts(run: Path, note: str) -> str:
        read.append(note)
        return (run / "facts" / "text").read_text("utf-8")

    for name in ("a", "b"):
        with new_folder(tmp_path / name / "facts") as folder:
            (folder / "text").write_text(name, "utf-8")
    monkeypatch.chdir(tmp_path / "a")
    assert [facts(Path(), "x"), facts(Path(), "x"), facts(Path(), "y")] == ["a", "a", "a"]
    assert read == ["x", "y"]
    monkeypatch.chdir(tmp_path / "b")
    assert facts(Path(), "y") == "b"  # the same path of another folder
    with new_folder(tmp_path / "b" / "facts") as folder:
        (folder / "text").write_text("c", "utf-8")
    (tmp_path / "b" / "questions").mkdir()
    assert [facts(tmp_path / "b", "y"), facts(Path(), "y")] == ["c", "c"]
    assert read == ["x", "y", "y", "y"]
