"""Situations of STAR questions become facts of their videos."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from questree.faults import BadInput
from questree.sources.assemble import SourceReading
from questree.sources.star import numbering, read_star
from questree.vocabulary import default
from worlds.small import actions, presence, relations

FIXTURE = Path(__file__).parent / "fixtures" / "STAR_train.json"
SHARED = Path(__file__).parents[2] / "shared" / "data" / "formats" / "star_question.json"


def situation(**fields: Any) -> dict[str, Any]:
    return {"rel_pairs": [], "rel_labels": [], "actions": [], "bbox": [], "bbox_labels": []} | fields


def question(video: str = "AAAAA", **frames: Any) -> dict[str, Any]:
    return {"question_id": "Q1", "video_id": video, "situations": {name[1:]: each for name, each in frames.items()}}


def read(folder: Path, fps: float | None = 10.0, **files: Any) -> SourceReading:
    for name, content in files.items():
        (folder / f"STAR_{name}.json").write_bytes(msgspec.json.encode(content))
    return read_star(folder, default(), fps)


def faults(folder: Path, fps: float | None = 10.0, **files: Any) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(folder, fps, **files)
    return [str(fault).replace(str(folder), "DIR") for fault in caught.value.faults]


def test_the_numbers_of_star_mean_what_star_says() -> None:
    names = numbering()
    assert names.name("object", "o003") == "closet"
    assert names.name("object", "o036") == "television"
    assert names.name("relation", "r009") == "holding"
    assert default().actions[default().action_at[names.name("action", "a086") or ""]].present == "close a closet"
    assert names.name("action", "a110") == "c143"
    assert [names.name("object", label) for label in ("o037", "r001", "o", "", "oxyz", "o-1")] == [None] * 6


def test_every_number_of_star_is_in_the_vocabulary_or_has_no_counterpart() -> None:
    names, words = numbering(), default()
    assert (len(names.objects), len(names.relations), len(names.actions)) == (37, 24, 111)
    assert set(names.objects) <= set(words.object_at)
    assert set(names.actions) <= set(words.action_at)
    assert set(names.relations) - set(words.relation_at) == set(names.without_counterpart)


def test_the_example_becomes_facts() -> None:
    reading = read_star(FIXTURE, default(), 10.0)
    facts = reading.facts
    assert facts.videos.rows() == [("AAAAA", "train", None, None, None)]
    assert facts.frames.select("number", "seconds").rows() == [(10, 1.0), (20, 2.0), (30, 3.0), (40, 4.0)]
    assert relations(facts) == {"in front of closet": [0, 1, 2], "holding book": [1]}
    assert presence(facts) == {"book": [1], "closet": [0, 1]}
    assert facts.persons.select("frame", "x1", "x2").rows() == [(0, 5.0, 25.0)]
    assert actions(facts) == [("c112", 1, 1.0, 2.1, 0, 1), ("c026", 1, 2.0, 2.1, 1, 1), ("c112", 2, 4.0, 4.1, 3, 3)]
    assert reading.skipped == {
        "relation 'near', which Action Genome does not have, left out": 1,
        "question without situations": 1,
    }


@pytest.mark.skipif(not SHARED.is_file(), reason="needs the shared sample of STAR")
def test_the_released_sample_is_read() -> None:
    reading = read_star(SHARED, default(), 30.0)
    assert reading.facts.frames["number"].to_list() == [288, 327, 367, 406, 408, 445, 447]
    assert presence(reading.facts) == {"book": [5, 6], "closet": [0, 1, 2, 3, 4, 5, 6], "paper": [1, 2, 4, 5]}
    assert actions(reading.facts) == [("c112", 1, 9.6, 448 / 30, 0, 6)]  # until frame 447 has been shown
    assert reading.skipped == {}


def test_questions_about_one_video_are_put_together(tmp_path: Path) -> None:
    first = question(_000010=situation(rel_pairs=[["o000", "o017"]], rel_labels=["r009"], actions=["a020"]))
    again = question(
        _000010=situation(rel_pairs=[["o000", "o017"]], rel_labels=["r019"]), _000020=situation(actions=["a020"])
    )
    facts = read(tmp_path, train=[first, again]).facts
    assert len(facts.videos) == 1
    assert relations(facts) == {"holding book": [0], "touching book": [0]}
    assert actions(facts) == [("c026", 1, 1.0, 2.1, 0, 1)]


def test_the_split_is_what_the_file_name_says(tmp_path: Path) -> None:
    train, val = (
        [question("AAAAA", _1=situation())],
        [question("AAAAA", _2=situation()), question("BBBBB", _1=situation())],
    )
    reading = read(tmp_path, val=val, train=train, test=[question("CCCCC", _1=situation())])
    assert reading.facts.videos.select("id", "split").rows() == [
        ("AAAAA", "train"),
        ("BBBBB", "test"),
        ("CCCCC", "test"),
    ]
    assert reading.skipped == {"question about a video of another split, taken for the first": 1}


def test_relations_between_objects_are_left_out_and_counted(tmp_path: Path) -> None:
    turned = situation(rel_pairs=[["o017", "o006"]], rel_labels=["r004"])
    reading = read(tmp_path, train=question(_1=turned))
    assert relations(reading.facts) == {}
    assert reading.skipped == {"relation that does not begin at the person, left out": 1}


def test_frames_need_a_rate(tmp_path: Path) -> None:
    assert (
        "the frame rate of 1 video (first: AAAAA) is not known"
        in faults(tmp_path, None, train=question(_1=situation()))[0]
    )
    (tmp_path / "frame_rates.csv").write_text("video,fps\nAAAAA,4\n")
    assert read(tmp_path, None).facts.frames["seconds"].to_list() == [0.25]


def test_what_is_not_understood_is_all_named(tmp_path: Path) -> None:
    bad = question(
        _x=situation(),
        _1=situation(rel_pairs=[["o000", "o001"]]),
        _2=situation(bbox_labels=["o099"], bbox=[[1, 2, 3, 4]], actions=["a999"]),
    )
    lines = faults(tmp_path, train=[bad, {"situations": {}}, question(_1={"bbox": [[1, 2]]})])
    place = "DIR/STAR_train.json, question"
    assert lines[0] == f"{place} 1 (counted from 0): Object missing required field `video_id`"
    assert lines[1].startswith(f"{place} 2 (counted from 0): Expected `array` of length 4")
    assert lines[2:] == [
        f"{place} Q1, frame x: a frame is named by its number, like 000445",
        f"{place} Q1, frame 1: relations and boxes need one label each",
        f"{place} Q1, frame 2: 'o099' is not the number of one of STAR's objects",
        f"{place} Q1, frame 2: 'a999' is not the number of one of STAR's actions",
    ]


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path) == [
        "DIR: no STAR questions here; expected STAR_train.json, STAR_val.json or STAR_test.json"
    ]
    (tmp_path / "STAR_val.json").write_text("[1, 2")
    assert "STAR_val.json: not JSON" in faults(tmp_path)[0]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "not JSON (the file is empty)"),
        (b" \n", "not JSON (the file is empty)"),
        (b"hello", "not JSON (JSON is malformed: invalid character (byte 0))"),
        (b'{"video_id": ', "not JSON (Input data was truncated)"),
        (b"[" * 100_000, "nested too deeply to be read"),
        (b'{"x": ' + b"[" * 100_000, "nested too deeply to be read"),
    ],
    ids=["empty", "blank", "text", "truncated", "deep list", "deep question"],
)
def test_what_is_no_json_is_one_line_about_the_file(tmp_path: Path, content: bytes, line: str) -> None:
    (tmp_path / "STAR_val.json").write_bytes(content)
    assert faults(tmp_path) == [f"DIR/STAR_val.json: {line}"]


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    wanted = "STAR_train.json, STAR_val.json or STAR_test.json"
    assert faults(tmp_path / "none") == [f"DIR: no such folder; expected one with {wanted}"]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "STAR_train.json").write_bytes(b"\xef\xbb\xbf" + FIXTURE.read_bytes())
    assert read(tmp_path).facts.videos["id"].to_list() == ["AAAAA"]
