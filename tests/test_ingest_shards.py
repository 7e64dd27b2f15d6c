"""Raw files shared out: whatever the parts, tables, counts and faults are those of all files read at once."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from chaos.kills import content
from questree.api.ingesting import ingest
from questree.faults import BadInput, Fault
from questree.sources import own_parts, shared_action_genome, shared_videos
from questree.sources.runs import split_counts, summary, write_run
from questree.sources.scenes import DEV
from questree.tables.images import Images
from questree.tables.run import Run
from questree.vocabulary import default
from questree.vocabulary.load import default_text
from test_sources_agqa import graph, write
from test_sources_own_json import example
from worlds.whole_sources import READERS, write_image_run


@contextmanager
def in_small_parts() -> Iterator[None]:
    with (
        patch.object(own_parts, "BYTES", 1),
        patch.object(shared_videos, "VIDEOS", 2),
        patch.object(shared_action_genome, "FRAMES", 40),
    ):
        yield


def whole(kind: str, source: Path, out: Path, **more: Any) -> dict[str, bytes]:
    """The tables of a run whose files are read at once; their names say which."""
    found = READERS[kind](source, default(), **more)
    write_run(out, default_text(), found.facts, found.truth)
    return content(out)


def shared(kind: str, source: Path, out: Path, **more: Any) -> dict[str, bytes]:
    with in_small_parts():
        made = ingest(source, out=out, source=kind, **more)
    assert made.data()["splits"] == summary([split_counts(Run(out).load("raw"), default())])
    others = ("lock.json", "raw/left_out.json")
    return {name: data for name, data in content(out).items() if name not in others}


def told(kind: str, source: Path, out: Path, **more: Any) -> list[Fault]:
    """What is wrong with files, which must be told alike."""
    lines = list[list[Fault]]()
    for read in (whole, shared):
        with pytest.raises(BadInput) as bad:
            read(kind, source, out / read.__name__, **more)
        lines.append(bad.value.faults)
        assert not (out / read.__name__).exists()
    assert lines[0] == lines[1]
    return lines[0]


def own_videos(*ids: str) -> list[dict[str, Any]]:
    """The example under several names, each a little longer."""
    (video,) = example()["videos"]
    return [{**video, "id": id, "length": 20.0 + at, "split": ("train", "test")[at % 2]} for at, id in enumerate(ids)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files whose videos lie among each other; one has a record on each line."""
    place = tmp_path / "mine"
    place.mkdir()
    (place / "a.json").write_bytes(msgspec.json.encode({"videos": own_videos("d", "a", "h")}))
    (place / "b.json").write_bytes(msgspec.json.encode({"videos": own_videos("g", "b")}))
    lines = map(msgspec.json.encode, own_videos("f", "c", "i", "e"))
    (place / "c.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines))
    return place


def test_own_files_give_the_tables_of_all_at_once(folder: Path, tmp_path: Path) -> None:
    with in_small_parts():
        assert [part.name.partition(",")[0] for part in own_parts.own_parts(folder)] == [
            *("a.json", "b.json"),
            *["c.jsonl"] * 4,
        ]
    assert whole("json", folder, tmp_path / "one") == shared("json", folder, tmp_path / "other")
    assert Run(tmp_path / "other").load("raw").videos["id"].to_list() == list("abcdefghi")


def test_small_files_are_read_together(folder: Path) -> None:
    assert [part.name for part in own_parts.own_parts(folder)] == ["a.json to c.jsonl"]


def test_faults_of_own_files_come_in_their_order(folder: Path, tmp_path: Path) -> None:
    """A video in two files, a word nobody knows, a line that is none, and a record without an id."""
    first, *rest = own_videos("b", "x")
    first["frames"][0]["objects"][0]["class"] = "unicorn"
    (folder / "c.jsonl").write_bytes(b"\n".join([msgspec.json.encode(first), b"{", b"", b'{"frames": []}']))
    (folder / "d.json").write_bytes(msgspec.json.encode({"videos": [*rest, *own_videos("b", "a")]}))
    found = told("json", folder, tmp_path)
    doubled = [fault for fault in found if "a video of this id is also in" in fault.message]
    assert [fault.place.rpartition(" ")[2] for fault in doubled] == ["b", "b", "a"]
    assert any("c.jsonl, line 2" in fault.place for fault in found) and len(found) > 5


def test_words_of_another_vocabulary_are_one_fault(folder: Path, tmp_path: Path) -> None:
    for at, path in enumerate(sorted(folder.iterdir())):
        (video,) = own_videos(f"v{at}")
        video["actions"] = [{"class": f"act {at} {more}", "start": 0, "end": 1} for more in range(9)]
        path.write_bytes(msgspec.json.encode(video if path.suffix == ".jsonl" else {"videos": [video]}))
    found = told("json", folder, tmp_path)
    assert found[0].message.startswith("expected words of the vocabulary 'agqa', got 'act 0 0', 'act 0 1', 'act 0 2'")


def test_released_graphs_are_read_a_file_at_a_time(tmp_path: Path) -> None:
    source = tmp_path / "graphs"
    source.mkdir()
    write(source, train={"B": graph(), "D": graph()}, test={"A": graph(), "C": graph(), "E": graph()})
    assert whole("agqa", source, tmp_path / "one") == shared("agqa", source, tmp_path / "other")
    write(source, test={"A": graph(), "B": graph()})
    assert [fault.message for fault in told("agqa", source, tmp_path / "twice")] == ["is in both files"]
    (source / "AGQA_test_stsgs.pkl").write_bytes(b"no pickle")
    write(source, train={"B": {"what": "ever"}})
    assert len(told("agqa", source, tmp_path / "damaged")) == 1


def test_action_genome_is_read_by_files_and_ranges_of_videos(cleaned_run: Run, tmp_path: Path) -> None:
    world = cleaned_run.folder.parent / "world"
    assert whole("action-genome", world, tmp_path / "one") == shared("action-genome", world, tmp_path / "other")
    found = ingest(world, out=tmp_path / "counted", source="action-genome").data()["skipped"]
    assert found == dict(READERS["action-genome"](world, default()).skipped)


def test_what_is_wrong_with_action_genome_is_told_as_before(cleaned_run: Run, tmp_path: Path) -> None:
    world = tmp_path / "world"
    shutil.copytree(cleaned_run.folder.parent / "world", world)
    other = (world / "truth" / "person_bbox.pkl").read_bytes()
    (world / "truth" / "person_bbox.pkl").write_bytes(other[:-9])
    assert "truth" in told("action-genome", world, tmp_path / "cut")[0].place
    (world / "truth" / "person_bbox.pkl").write_bytes(other)
    lines = (world / "truth" / "Charades_v1_train.csv").read_text("utf-8").splitlines(keepends=True)
    (world / "truth" / "Charades_v1_train.csv").write_text("".join(lines[:-2]), "utf-8")
    assert "its videos are not those of" in told("action-genome", world, tmp_path / "other")[0].message
    (world / "frame_rates.csv").write_text("video,fps\n")
    assert "the frame rate of" in told("action-genome", world, tmp_path / "rates")[0].message
    (world / "person_bbox.pkl").unlink()
    (world / "Charades_v1_test.csv").write_text("id,length\n")
    assert [fault.place.rpartition("/")[2] for fault in told("action-genome", world, tmp_path / "files")] == [
        *("person_bbox.pkl", "Charades_v1_test.csv")
    ]


@pytest.mark.processes
def test_processes_give_the_files_of_one(folder: Path, tmp_path: Path) -> None:
    with patch("questree.sources.shared_videos.LARGE", 0):
        several = shared("json", folder, tmp_path / "two", workers=2)
    assert whole("json", folder, tmp_path / "one") == several


def scene(name: str, *more: str) -> dict[str, Any]:
    """A thing beside others, each with an attribute of its own."""
    named = {str(at): one for at, one in enumerate((name, *more))}
    things: dict[str, Any] = {at: {"name": one, "attributes": [f"{one}ish"]} for at, one in named.items()}
    things["0"] |= {"x": 0, "y": 0, "w": 5, "h": 5, "relations": [{"name": "near", "object": str(len(more))}]}
    return {"width": 20, "height": 20, "objects": things}


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Scene graphs of three splits, whose words come in another order in each."""
    place = tmp_path / "pictures"
    place.mkdir()
    graphs = {
        "train": {"9": scene("cat", "mat"), "3": scene("dog")},
        "val": {"7": scene("mat", "dog", "cup")},
        "test": {"1": scene("cup,", "cat"), "2": scene("hat")},
    }
    for split, own in graphs.items():
        (place / f"{split}_sceneGraphs.json").write_bytes(msgspec.json.encode(own))
    return place


def images_whole(source: Path, out: Path, add: bool = False) -> dict[str, bytes]:
    found, odd = READERS["gqa"](source)
    counts = write_image_run(found, source, out, add)
    return content(out) | {"told": msgspec.json.encode(counts | {"skipped": odd})}


def images_shared(source: Path, out: Path, add: bool = False) -> dict[str, bytes]:
    made = ingest(source, out=out, source="gqa", add=add)
    others = ("lock.json", "images/left_out.json")
    tables = {name: data for name, data in content(out).items() if name not in others}
    return tables | {"told": msgspec.json.encode(made.data())}


def test_images_are_read_a_file_at_a_time(pictures: Path, tmp_path: Path) -> None:
    assert images_whole(pictures, tmp_path / "one") == images_shared(pictures, tmp_path / "other")
    assert Images.load(tmp_path / "other" / "images").images["split"].to_list() == [
        "test",
        "test",
        "train",
        "train",
        DEV,
    ]
    more = tmp_path / "more"
    more.mkdir()
    (more / "val_sceneGraphs.json").write_bytes(msgspec.json.encode({"5": scene("bat", "cat")}))
    both = [read(more, tmp_path / name, add=True) for read, name in ((images_whole, "one"), (images_shared, "other"))]
    assert both[0] == both[1]


def test_images_in_two_files_are_told_where_they_come(pictures: Path, tmp_path: Path) -> None:
    again = {"1": scene("cat"), "4": {"objects": {"a": {"name": ""}}}, "7": scene("")}
    (pictures / "train_sceneGraphs.json").write_bytes(msgspec.json.encode(again))
    told = list[list[Fault]]()
    for read in (images_whole, images_shared):
        with pytest.raises(BadInput) as bad:
            read(pictures, tmp_path / "run")
        told.append(bad.value.faults)
    assert told[0] == told[1] and len(told[0]) == 4
    assert not (tmp_path / "run").exists()
    with pytest.raises(BadInput, match="image id 7 is used twice; it is also in"):
        (pictures / "train_sceneGraphs.json").unlink()
        images_shared(pictures, tmp_path / "run")
        images_shared(pictures, tmp_path / "run", add=True)
