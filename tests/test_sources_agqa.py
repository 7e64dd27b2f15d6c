"""AGQA's released scene graphs become facts, whichever of their shapes a vertex has."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from questree.faults import BadInput
from questree.sources.agqa import read_agqa
from questree.sources.assemble import SourceReading
from questree.vocabulary import default
from worlds.small import actions, presence, relations

Graph = dict[str, Any]


def graph() -> Graph:
    """Somebody takes a pillow from a bed and holds it: three frames, two actions, cyclic links everywhere."""
    seconds = {"000105": 3.5, "000150": 5.0, "000209": 7.0}
    frames: Graph = {
        name: {"id": name, "type": "frame", "secs": secs, "metadata": "train", "objects": {"names": [], "vertices": []}}
        for name, secs in seconds.items()
    }
    found: Graph = dict(frames)
    for name, visible, box in (
        ("o26/000105", True, (10, 20, 30, 40)),
        ("o26/000150", True, None),
        ("o3/000105", True, (0.5, 0, 99, 50)),
        ("o3/000209", False, None),
    ):
        kind, frame = name.split("/")
        groups: Graph = {"attention": [], "contact": [], "spatial": [], "verb": {"names": [], "vertices": []}}
        found[name] = {"id": name, "type": "object", "class": kind, "visible": visible, "bbox": box, **groups}
        found[name] |= {"secs": seconds[frame], "frame_num": frame, "metadata": {"set": "train"}}
        frames[frame]["objects"]["vertices"].append(found[name])
        frames[frame]["objects"]["names"].append(kind)
    link(found, "r15/000150", "contact", "o26/000150")
    link(found, "r7/000105", "spatial", "o26/000105", "o3/000105")
    link(found, "v023/000105", "verb", "o26/000105")
    found["o26/000105"]["next"], found["o26/000150"]["prev"] = found["o26/000150"], found["o26/000105"]
    found["c079/1"] = {"id": "c079/1", "type": "act", "charades": "c079", "start": 2.0, "end": 4.0, "length": 2.0}
    found["c079/1"] |= {"all_f": ["000105"], "object": "o26", "verb": "v023"}
    found["c076/1"] = {"id": "c076/1", "type": "action", "charades": "c076", "start": 4.0, "end": 7.1}
    found["c076/1"] |= {"all_f": [frames["000209"], frames["000150"]], "previous": found["c079/1"]}
    found["c079/1"]["next"] = found["c076/1"]
    return found


def link(found: Graph, name: str, group: str, *objects: str) -> None:
    """A relation vertex and its objects, each pointing at the other."""
    found[name] = {"id": name, "type": group, "class": name.split("/")[0], "objects": [found[o] for o in objects]}
    for thing in objects:
        if isinstance(found[thing][group], dict):
            found[thing][group]["names"].append(name.split("/")[0])
            found[thing][group]["vertices"].append(found[name])
        else:
            found[thing][group].append(found[name])


def write(folder: Path, **files: Any) -> Path:
    for split, content in files.items():
        (folder / f"AGQA_{split}_stsgs.pkl").write_bytes(pickle.dumps(content))
    return folder


def read(folder: Path, **files: Any) -> SourceReading:
    return read_agqa(write(folder, **files), default())


def faults(folder: Path, **files: Any) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(folder, **files)
    return [str(fault).replace(str(folder), "DIR") for fault in caught.value.faults]


def test_a_graph_becomes_facts(tmp_path: Path) -> None:
    reading = read(tmp_path, train={"AAAAA": graph()})
    facts = reading.facts
    assert facts.videos.rows() == [("AAAAA", "train", None, None, None)]
    assert facts.frames.select("frame", "number", "seconds").rows() == [(0, 105, 3.5), (1, 150, 5.0), (2, 209, 7.0)]
    assert relations(facts) == {"behind bed": [0], "behind pillow": [0], "taking pillow": [0], "holding pillow": [1]}
    assert presence(facts) == {"bed": [0], "pillow": [0, 1]}
    assert actions(facts) == [("c079", 1, 2.0, 4.0, 0, 0), ("c076", 1, 4.0, 7.1, 1, 2)]
    assert reading.skipped == {}


def test_boxes_are_sides_as_in_action_genome(tmp_path: Path) -> None:
    objects = read(tmp_path, train={"AAAAA": graph()}).facts.objects
    boxes = objects.select("frame", "x1", "y1", "x2", "y2", "visible").rows()
    assert boxes == [
        (0, 0.5, 0, 99.5, 50, True),
        (0, 10, 20, 40, 60, True),
        (1, None, None, None, None, True),
        (2, None, None, None, None, False),
    ]


def test_the_split_is_the_files(tmp_path: Path) -> None:
    reading = read(tmp_path, train={"BBBBB": graph()}, test={"AAAAA": graph()})
    assert reading.facts.videos.select("id", "split").rows() == [("AAAAA", "test"), ("BBBBB", "train")]
    assert reading.skipped == {"video whose frames name another split than its file": 1}


@pytest.mark.parametrize(
    "objects",
    [["o26"], ["o26/000150"], {"names": ["o26"]}, {"vertices": [{"id": "o26/000150"}]}, [{"class": "o26"}], "o26"],
    ids=["classes", "ids", "names", "vertices", "class", "one"],
)
def test_links_are_understood_in_every_shape(tmp_path: Path, objects: Any) -> None:
    found = {"000150": {"secs": 5}, "v023/000150": {"objects": objects}, "r22/000150": {"objects": None}}
    assert relations(read(tmp_path, test={"AAAAA": found}).facts) == {"taking pillow": [0]}


def test_mentions_of_frames_that_are_not_there_are_counted(tmp_path: Path) -> None:
    found = graph()
    del found["000209"]
    found["c076/1"]["all_f"] = ["000150", "000209"]
    reading = read(tmp_path, train={"AAAAA": found})
    assert reading.skipped == {"mention of a frame that is not there, left out": 2}
    assert actions(reading.facts)[1] == ("c076", 1, 4.0, 7.1, 1, 1)


def test_an_action_without_frames_has_none(tmp_path: Path) -> None:
    found = {"000105": {"secs": 3.5}, "c076/1": {"start": 3, "end": 4, "all_f": []}}
    assert actions(read(tmp_path, test={"AAAAA": found}).facts) == [("c076", 1, 3.0, 4.0, None, None)]


def test_what_is_not_understood_is_all_named(tmp_path: Path) -> None:
    found: Graph = {
        "000105": {"secs": 3.5},
        "000106": {"secs": "late"},
        "scene": {},
        "o4/000105": ["no", "vertex"],
        "o99/000105": {"bbox": None},
        "o5/000105": {"bbox": (1, 2), "contact": ["r99"]},
        "o6/000105": {"bbox": None, "contact": ["r99"]},
        "c076/1": {"start": None, "end": 4},
    }
    lines = faults(tmp_path, train={"AAAAA": found, "BBBBB": None}, test={"AAAAA": graph()})
    place, wanted = "DIR/AGQA_train_stsgs.pkl, video AAAAA, vertex", "expected a dictionary under an id like"
    assert [line.split(" known: ")[0] for line in lines] == [
        f"{place} scene: not a vertex: {wanted} 000105, o4/000105, r22/000105, c076/1",
        f"{place} o4/000105: not a vertex: {wanted} 000105, o4/000105, r22/000105, c076/1",
        f"{place} 000106: secs must be a number, is 'late'",
        f"{place} o99/000105: unknown object 'o99'; did you mean 'o9'?",
        f"{place} o5/000105: bbox must be (x, y, width, height) or None, is (1, 2)",
        f"{place} o6/000105: unknown relation 'r99'; did you mean 'r9'?",
        f"{place} c076/1: start and end must be seconds, are None and 4",
        "DIR/AGQA_train_stsgs.pkl, video BBBBB: expected a dictionary of vertices",
        "DIR/AGQA_test_stsgs.pkl, video AAAAA: is in both files",
    ]


def test_a_folder_without_graphs_is_refused(tmp_path: Path) -> None:
    wanted = "DIR: no scene graphs here; expected AGQA_train_stsgs.pkl or AGQA_test_stsgs.pkl"
    assert faults(tmp_path) == [wanted]
    assert faults(tmp_path, train=[1]) == ["DIR/AGQA_train_stsgs.pkl: expected a dictionary of videos, got list"]
    missing = "DIR: no such folder; expected one with AGQA_train_stsgs.pkl or AGQA_test_stsgs.pkl"
    assert faults(tmp_path / "none") == [missing]
