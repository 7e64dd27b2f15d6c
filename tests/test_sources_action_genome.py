"""Action Genome pickles and Charades files as released, with their quirks, become facts."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from questree.faults import BadInput
from questree.sources.assemble import CLIPPED, SourceReading
from questree.vocabulary import default
from worlds.raw_files import mark, people, write_action_genome, write_charades
from worlds.small import actions, presence, relations
from worlds.whole_sources import read_action_genome

SHARED = Path(__file__).parents[2] / "shared" / "data" / "formats"
FIRST, SECOND, THIRD = "AAAAA.mp4/000030.png", "AAAAA.mp4/000060.png", "AAAAA.mp4/000105.png"
NO_ACTIONS = {"AAAAA": ("", 5.0)}


def read(folder: Path, fps: float | None = 30.0) -> SourceReading:
    return read_action_genome(folder, default(), fps)


def faults(folder: Path, fps: float | None = 30.0) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(folder, fps)
    return [str(fault).replace(str(folder), "DIR") for fault in caught.value.faults]


def rows(table: pl.DataFrame, *columns: str) -> list[Any]:
    return [row if len(columns) > 1 else row[0] for row in table.select(columns).iter_rows()]


def test_frames_are_ordered_by_number_and_timed_by_the_frame_rate(tmp_path: Path) -> None:
    folder = write_action_genome(tmp_path, {THIRD: [], FIRST: [], SECOND: []}, train=NO_ACTIONS)
    facts = read(folder).facts
    assert rows(facts.frames, "frame", "number", "seconds") == [(0, 30, 1.0), (1, 60, 2.0), (2, 105, 3.5)]
    assert facts.videos.rows() == [("AAAAA", "train", 5.0, 400, 300)]


def test_object_boxes_are_sides_and_person_boxes_are_corners(tmp_path: Path) -> None:
    objects = {FIRST: [mark("table", (10, 20, 30, 40))]}
    facts = read(write_action_genome(tmp_path, objects, {FIRST: people((10, 20, 30, 40))}, train=NO_ACTIONS)).facts
    assert rows(facts.objects, "x1", "y1", "x2", "y2") == [(10, 20, 40, 60)]
    assert facts.persons.drop("score").rows() == [(0, 0, 10, 20, 30, 40)]


def test_an_object_that_is_not_visible_keeps_its_row_but_is_not_annotated_there(tmp_path: Path) -> None:
    objects = {FIRST: [mark("door"), mark("table", None, False)], SECOND: [mark("table")]}
    facts = read(write_action_genome(tmp_path, objects, train=NO_ACTIONS)).facts
    at = default().object_at
    assert rows(facts.objects, "frame", "object", "visible") == [
        (0, at["door"], True),
        (0, at["table"], False),
        (1, at["table"], True),
    ]
    assert rows(facts.objects, "x1") == [10, None, 10]
    assert presence(facts) == {"door": [0], "table": [1]}


def test_both_spellings_of_classes_are_known(tmp_path: Path) -> None:
    released = mark(
        "closet/cabinet", attention=["looking_at"], spatial=["in_front_of"], contacting=["have_it_on_the_back"]
    )
    listed = mark("closetcabinet", attention=["lookingat"], spatial=["infrontof"], contacting=["haveitontheback"])
    facts = read(write_action_genome(tmp_path, {FIRST: [released], SECOND: [listed]}, train=NO_ACTIONS)).facts
    assert relations(facts) == {
        "looking at closet": [0, 1],
        "in front of closet": [0, 1],
        "having it on the back closet": [0, 1],
    }


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared class files")
def test_every_class_of_the_released_lists_is_known() -> None:
    for kind, at in (("object", default().object_at), ("relationship", default().relation_at)):
        names = (SHARED / f"action_genome_{kind}_classes.txt").read_text().split()
        assert [at.get(name) for name in names] == list(range(len(names)))


def test_lists_of_relations_may_be_none_or_empty(tmp_path: Path) -> None:
    objects = {FIRST: [mark("cup", spatial=None, contacting=[], attention=["unsure"])]}
    assert relations(read(write_action_genome(tmp_path, objects, train=NO_ACTIONS)).facts) == {"unsure cup": [0]}


def test_actions_get_the_frames_inside_them_and_are_numbered_by_start(tmp_path: Path) -> None:
    text = "c106 1.50 3.50;c097 2.00 2.00;c106 0.00 1.00;c020 4.00 99.00"
    frames: dict[str, Any] = {FIRST: [], SECOND: [], THIRD: []}
    reading = read(write_action_genome(tmp_path, frames, train={"AAAAA": (text, 30.0)}))
    assert actions(reading.facts) == [
        ("c106", 1, 0.0, 1.0, 0, 0),
        ("c106", 2, 1.5, 3.5, 1, 1),
        ("c097", 1, 2.0, 2.0, 1, 1),
        ("c020", 1, 4.0, 99.0, 2, 2),  # half a second away
    ]
    assert reading.skipped == {"action that ends after its video, kept": 1}


def test_the_charades_file_decides_the_split(tmp_path: Path) -> None:
    objects = {FIRST: [mark("cup", set="test")], "BBBBB.mp4/000001.png": [mark("cup", set="test")]}
    reading = read(write_action_genome(tmp_path, objects, train=NO_ACTIONS, test={"BBBBB": ("", 9.0)}))
    assert rows(reading.facts.videos, "id", "split") == [("AAAAA", "train"), ("BBBBB", "test")]
    assert reading.skipped == {"video whose annotations name another split than its Charades file": 1}


def test_videos_that_only_one_source_knows_are_left_out_and_counted(tmp_path: Path) -> None:
    objects = {FIRST: [mark("cup")], "BBBBB.mp4/000001.png": [mark("cup")]}
    videos = {**NO_ACTIONS, "CCCCC": ("c097 0 1", 9.0), "DDDDD": ("", 9.0)}
    reading = read(write_action_genome(tmp_path, objects, train=videos))
    assert rows(reading.facts.videos, "id") == ["AAAAA"]
    assert len(reading.facts.objects) == 1
    assert reading.facts.actions.is_empty()
    assert reading.skipped == {
        "video with frames but without a Charades row, left out": 1,
        "Charades video without frames, left out": 2,
    }


def test_a_frame_may_have_no_person_or_several(tmp_path: Path) -> None:
    persons = {FIRST: people(), SECOND: people((1, 1, 2, 2), (3, 3, 4, 4), scores=(0.5, 0.75))}
    folder = write_action_genome(tmp_path, {FIRST: [], SECOND: [], THIRD: []}, persons, train=NO_ACTIONS)
    reading = read(folder)
    assert reading.facts.persons.rows() == [(0, 1, 3, 3, 4, 4, 0.75)]
    assert reading.skipped == {"second person in a frame, left out": 1}


def test_persons_of_unknown_frames_are_left_out_and_counted(tmp_path: Path) -> None:
    persons = {SECOND: people((1, 1, 2, 2)), FIRST: people((5, 5, 6, 6))}
    reading = read(write_action_genome(tmp_path, {FIRST: []}, persons, train=NO_ACTIONS))
    assert rows(reading.facts.persons, "frame", "x1") == [(0, 5)]
    assert reading.skipped == {"frame with persons but without objects, left out": 1}


def test_one_object_per_class_and_frame_is_kept(tmp_path: Path) -> None:
    objects = {FIRST: [mark("cup", None, False), mark("cup", (1, 1, 1, 1)), mark("cup", (2, 2, 2, 2))]}
    reading = read(write_action_genome(tmp_path, objects, train=NO_ACTIONS))
    assert rows(reading.facts.objects, "x1", "visible") == [(1, True)]
    assert reading.skipped == {"second object of a class in one frame, left out": 2}


def test_odd_boxes_are_left_out_and_counted(tmp_path: Path) -> None:
    objects = {FIRST: [mark("cup", (1, 1, 1, 1), False), mark("door", (9, 9, -1, 5)), mark("bag", None)]}
    reading = read(write_action_genome(tmp_path, objects, train=NO_ACTIONS))
    assert rows(reading.facts.objects, "x1") == [None, None, None]
    assert reading.skipped == {
        "object that is not visible but has a box, box left out": 1,
        "box of negative size, left out": 1,
        "visible object without a box, kept": 1,
    }
    assert presence(reading.facts) == {"bag": [0], "door": [0]}


def test_boxes_that_stick_out_of_their_frame_are_clipped_and_counted(tmp_path: Path) -> None:
    objects = {FIRST: [mark("table", (-5, 20, 30, 400)), mark("door", (410, 0, 5, 5)), mark("bag", (0, 0, 400, 300))]}
    objects[FIRST].append(mark("cup", (10.3, 20.7, 5.1, 5.9)))  # inside, but not as a number of 32 bits
    person = {FIRST: people((390, 20, 402.5, 40))}
    reading = read(write_action_genome(tmp_path, objects, person, train=NO_ACTIONS))
    assert reading.facts.videos.select("width", "height").rows() == [(400, 300)]
    assert sorted(rows(reading.facts.objects, "x1", "y1", "x2", "y2")) == [
        (0, 0, 400, 300),
        (0, 20, 25, 300),
        pytest.approx((10.3, 20.7, 15.4, 26.6)),
        (410, 0, 415, 5),  # nowhere in the frame
    ]
    assert rows(reading.facts.persons, "x1", "y1", "x2", "y2") == [(390, 20, 400, 40)]
    assert reading.skipped == {CLIPPED: 2}


def test_frame_rates_come_from_the_table_before_the_option(tmp_path: Path) -> None:
    objects: dict[str, Any] = {FIRST: [], "BBBBB.mp4/000030.png": []}
    folder = write_action_genome(tmp_path, objects, train={**NO_ACTIONS, "BBBBB": ("", 9.0)})
    (folder / "frame_rates.csv").write_text("video,fps\nAAAAA.mp4,15\n")
    assert rows(read(folder, 60.0).facts.frames, "seconds") == [2.0, 0.5]
    assert faults(folder, None) == [
        "DIR: the frame rate of 1 video (first: BBBBB) is not known: add frame_rates.csv with the columns video,fps "
        "or give --fps; 24 to 30 frames per second are usual"
    ]
    assert faults(folder, 0.0) == ["--fps: must be a positive number, is 0.0"]
    (folder / "frame_rates.csv").write_text("video,fps\nAAAAA,fast\nBBBBB,-1\n")
    assert faults(folder) == [
        "DIR/frame_rates.csv, video AAAAA: fps must be a positive number, is 'fast'",
        "DIR/frame_rates.csv, video BBBBB: fps must be a positive number, is '-1'",
    ]


def test_missing_files_are_all_named(tmp_path: Path) -> None:
    assert faults(tmp_path) == [
        "DIR/object_bbox_and_relationship.pkl: no such file",
        "DIR/person_bbox.pkl: no such file",
        "DIR: no Charades annotations here; expected Charades_v1_train.csv and Charades_v1_test.csv",
    ]
    assert "no such folder" in faults(tmp_path / "absent")[0]


def test_unknown_classes_are_named_once_each_with_their_first_place(tmp_path: Path) -> None:
    objects = {
        FIRST: [mark("cup"), mark("tabel", contacting=["holding", "hugging"])],
        SECOND: [mark("tabel", spatial=["inside_of_it"]), mark("dragon")],
    }
    found = faults(write_action_genome(tmp_path, objects, train=NO_ACTIONS))
    place = "DIR/object_bbox_and_relationship.pkl, AAAAA.mp4"
    assert len(found) == 4
    assert found[0] == f"{place}/000030.png, object 2: unknown object 'tabel' (2 times); did you mean 'table'?"
    assert found[1].startswith(f"{place}/000060.png, object 2: unknown object 'dragon'; known: ")
    assert found[2].startswith(f"{place}/000060.png, object 1, spatial_relationship: unknown relation 'inside_of_it'")
    assert found[3].startswith(f"{place}/000030.png, object 2, contacting_relationship: unknown relation 'hugging'")


def test_records_of_another_form_are_all_named(tmp_path: Path) -> None:
    nameless = {key: value for key, value in mark("cup").items() if key != "class"}
    objects = {FIRST: [nameless, mark("cup"), mark("door", visible="yes")], SECOND: ["cup"]}  # type: ignore[arg-type]
    place = "DIR/object_bbox_and_relationship.pkl, AAAAA.mp4"
    assert faults(write_action_genome(tmp_path, objects, train=NO_ACTIONS)) == [
        f"{place}/000030.png, object 1: Object missing required field `class`",
        f"{place}/000030.png, object 3: Expected `bool`, got `str` - at `$.visible`",
        f"{place}/000060.png, object 1: Expected `object`, got `str`",
    ]


def test_boxes_of_another_form_are_all_named(tmp_path: Path) -> None:
    objects = {FIRST: [mark("cup", (1, 2, 3)), mark("door", (1, 2, 3, 4)), mark("bag", ("a", 1, 2, 3))]}  # type: ignore[arg-type]
    found = faults(write_action_genome(tmp_path, objects, train=NO_ACTIONS))
    place = "DIR/object_bbox_and_relationship.pkl, AAAAA.mp4/000030.png"
    assert found == [
        f"{place}, object 1: a box is (x, y, width, height) or None, is (1, 2, 3)",
        f"{place}, object 3: a box is (x, y, width, height) or None, is ('a', 1, 2, 3)",
    ]


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([], "expected a dictionary of frames, got list"),
        ({"AAAAA.mp4": []}, "frame 'AAAAA.mp4' is not written like '001YG.mp4/000089.png'"),
        ({FIRST: None}, "expected a list of objects, got None"),
    ],
)
def test_a_pickle_of_another_form_is_refused(tmp_path: Path, objects: Any, message: str) -> None:
    import pickle

    folder = write_action_genome(tmp_path, {}, train=NO_ACTIONS)
    (folder / "object_bbox_and_relationship.pkl").write_bytes(pickle.dumps(objects))
    assert [message in fault for fault in faults(folder)] == [True]


def test_persons_of_another_form_are_all_named(tmp_path: Path) -> None:
    persons = {FIRST: people((1, 2, 3, 4)) | {"bbox_mode": "centre"}, SECOND: people() | {"bbox": [1, 2, 3]}}
    found = faults(write_action_genome(tmp_path, {FIRST: [], SECOND: []}, persons, train=NO_ACTIONS))
    assert found == [
        "DIR/person_bbox.pkl, AAAAA.mp4/000030.png: bbox_mode must be xyxy or xywh, is 'centre'",
        "DIR/person_bbox.pkl, AAAAA.mp4/000060.png: bbox must be numbers of shape (persons, 4), is [1, 2, 3]",
    ]


def test_faults_of_a_charades_file_are_all_named(tmp_path: Path) -> None:
    folder = write_action_genome(tmp_path, {FIRST: []}, train={"AAAAA": ("c092 1 x;c999 1 2;c097", 5.0)})
    write_charades(folder / "Charades_v1_test.csv", {"AAAAA": ("", 5.0), "BBBBB": ("", -1.0)})
    place = "DIR/Charades_v1_"
    assert faults(folder) == [
        f"{place}train.csv, video AAAAA: an action is written `class start end`, is 'c092 1 x'",
        f"{place}train.csv, video AAAAA: action 'c999' is not in the vocabulary 'agqa'",
        f"{place}train.csv, video AAAAA: an action is written `class start end`, is 'c097'",
        f"{place}test.csv, video AAAAA: listed twice, also in Charades_v1_train.csv",
        f"{place}test.csv, video BBBBB: length must be seconds, is '-1.0'",
    ]


def test_a_charades_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    folder = write_action_genome(tmp_path, {FIRST: []})
    (folder / "Charades_v1_train.csv").write_text("id,script\nAAAAA,hm\n")
    assert faults(folder) == [
        "DIR/Charades_v1_train.csv: columns missing: actions, length; the first line has id, script"
    ]
    (folder / "Charades_v1_train.csv").write_bytes(b"\xff\xfe\x00")
    assert "not a CSV file in UTF-8" in faults(folder)[0]


def test_an_action_that_ends_before_it_starts_is_left_out_and_counted(tmp_path: Path) -> None:
    reading = read(write_action_genome(tmp_path, {FIRST: []}, train={"AAAAA": ("c097 2 1;c097 0 1", 5.0)}))
    assert actions(reading.facts) == [("c097", 1, 0.0, 1.0, 0, 0)]
    assert reading.skipped == {"action that ends before it starts, left out": 1}


def test_a_video_with_many_frames_has_tracks_of_several_words(tmp_path: Path) -> None:
    frames = {f"AAAAA.mp4/{number:06d}.png": [mark("cup", contacting=["holding"])] for number in range(1, 131)}
    facts = read(write_action_genome(tmp_path, frames, {}, train={"AAAAA": ("c107 2 4", 9.0)})).facts
    assert relations(facts) == {"holding cup": list(range(130))}
    assert facts.tracks["bits"].list.len().to_list() == [3, 3]
    assert actions(facts) == [("c107", 1, 2.0, 4.0, 59, 118)]


def test_an_empty_source_gives_empty_tables(tmp_path: Path) -> None:
    facts = read(write_action_genome(tmp_path, {}, {}, train={})).facts
    assert [len(table) for table in (facts.videos, facts.frames, facts.objects, facts.tracks, facts.actions)] == [0] * 5
