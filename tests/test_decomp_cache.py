"""What was read of large folders is found again by content; a cache that is not as it was written is none."""

import json
import shutil
from pathlib import Path

import pytest

from questree.cli.app import app
from questree.formats import decomp_cache
from questree.formats.decomp_cache import cache_folder, cached_hierarchies
from questree.formats.decomp_files import hierarchies_of, read_hierarchies
from questree.tables.hierarchies import Hierarchies
from worlds.decomp_files import random_files

FILES = random_files(1)[0]
NEW, OLD = "kept for the next time", "hierarchies as read before"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that counts as large, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(decomp_cache, "LARGE", 0)
    (tmp_path / "dags").mkdir()
    for name, content in FILES.items():
        (tmp_path / "dags" / name).write_text(json.dumps(content))
    return tmp_path / "dags"


def same(one: Hierarchies, other: Hierarchies) -> bool:
    tables = ("nodes", "composed", "edges", "dags", "isolated", "keys")
    lists = ("videos", "types", "compositions", "words")
    return all(getattr(one, name).equals(getattr(other, name)) for name in tables) and all(
        getattr(one, name) == getattr(other, name) for name in lists
    )


def read(folder: Path) -> tuple[Hierarchies, str]:
    said = list[str]()
    found = cached_hierarchies(folder, said.append)
    return found, said[0] if said else ""


def entries() -> list[Path]:
    return [path for path in cache_folder().iterdir() if path.is_dir()]


def test_the_second_time_the_tables_are_read_whoever_reads_whatever_copy(folder: Path) -> None:
    wanted = hierarchies_of(FILES)
    for place, told in ((folder, NEW), (folder, OLD), (shutil.copytree(folder, folder.with_name("copy")), OLD)):
        found, said = read(place)
        assert same(found, wanted)
        assert said.startswith(told)
    assert len(entries()) == 1


def test_another_content_is_read_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same size, and however soon after the first reading."""
    read(folder)
    text = (folder / "V1.json").read_text()
    (folder / "V1.json").write_text(text.replace('"yes"', '"nay"'))
    found, said = read(folder)
    assert said.startswith(NEW)
    assert "nay" in found.words
    assert same(found, read_hierarchies(folder))
    (folder / "V1.json").unlink()
    assert read(folder)[0].videos == ["V2", "V1"]


def test_a_folder_that_looks_as_before_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decomp_cache, "SETTLED", -1)  # as if its files were old
    read(folder)
    monkeypatch.setattr(decomp_cache, "content", None)  # would be called
    assert read(folder)[1].startswith(OLD)


@pytest.mark.parametrize("damage", ["a table", "the lists", "a byte", "other lists", "a note"])
def test_a_damaged_cache_is_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    monkeypatch.setattr(decomp_cache, "SETTLED", -1)
    wanted = read(folder)[0]
    (place,) = entries()
    nodes, lists = place / "nodes.parquet", place / "names.json"
    if damage == "a table":
        nodes.unlink()
    elif damage == "the lists":
        lists.write_text("{")
    elif damage == "a byte":
        content = bytearray(nodes.read_bytes())
        content[len(content) // 2] ^= 1
        nodes.write_bytes(content)
    elif damage == "other lists":
        lists.write_text('{"names": {"strange": []}, "digests": {}}')
    else:
        for note in cache_folder().glob("*.folder"):
            note.write_bytes(b"../../\xff")
    found, said = read(folder)
    assert same(found, wanted)
    assert said.startswith(OLD if damage == "a note" else NEW)
    assert read(folder)[1].startswith(OLD)


def test_a_cache_that_cannot_be_written_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.parent / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "file"))
    found, said = read(folder)
    assert same(found, hierarchies_of(FILES))
    assert not said


def test_what_was_not_used_for_longest_makes_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(folder)
    (first,) = entries()
    monkeypatch.setattr(decomp_cache, "LARGEST", int(1.5 * decomp_cache._size(first)))
    (folder / "V1.json").write_text((folder / "V2.json").read_text())
    read(folder)
    assert len(entries()) == 1
    assert entries() != [first]
    monkeypatch.setattr(decomp_cache, "LARGEST", 10)
    (folder / "V1.json").unlink()
    assert not read(folder)[1]  # itself too large
    assert len(entries()) == 1


def test_the_command_uses_the_cache_unless_told_not_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = folder.parent / "model.json"
    keys = hierarchies_of(FILES).keys.unique().to_list()
    said.write_text(json.dumps([{"csv_q_id": key, "prediction": "yes"} for key in keys]))
    given = ["score", "decomp", "--hierarchies", str(folder), "--predictions", str(said), "--resamples", "0"]
    texts = []
    for more in ([], [], ["--no-cache"]):
        app([*given, *more], result_action="return_value")
        texts.append(capsys.readouterr().out.splitlines())
    assert texts[0][0].startswith(NEW)
    assert texts[1][0].startswith(OLD)
    assert texts[0][1:] == texts[1][1:] == texts[2]
