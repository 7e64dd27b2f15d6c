"""GQA, Visual Genome and labelled boxes become the same tables; bad files are refused whole, every fault at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from questree.domains.images.english import plural
from questree.faults import BadInput
from questree.sources.scenes import CLIPPED, RESPELLED, SHORTENED
from questree.tables.images import Images
from worlds import whole_sources

SHARED = Path(__file__).parents[2] / "shared"


def cup(**changes: Any) -> dict[str, Any]:
    return {"name": "cup", "x": 10, "y": 20, "w": 5, "h": 6, "attributes": [], "relations": []} | changes


def scene(**objects: dict[str, Any]) -> dict[str, Any]:
    return {"width": 100, "height": 80, "objects": objects}


def ingest(folder: Path, **files: Any) -> Images:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text)
    whole_sources.ingest(folder, folder / "run")
    return Images.load(folder / "run" / "images")


def faults(folder: Path, **files: Any) -> list[str]:
    with pytest.raises(BadInput) as caught:
        ingest(folder, **files)
    assert not (folder / "run" / "images").exists()
    return [str(fault) for fault in caught.value.faults]


def words(images: Images, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of a table with its word columns spelled."""
    word = images.words["word"].to_list()
    spelled = ("name", "attribute", "relation", "preposition")
    rows = getattr(images, table).select(columns).iter_rows(named=True)
    return [tuple(word[v] if c in spelled else v for c, v in row.items()) for row in rows]


def test_gqa_scene_graphs_become_tables(tmp_path: Path) -> None:
    table = cup(name="table", x=0, y=26, w=100, h=50, attributes=["wood", "wood"])
    near = [{"name": "on", "object": "t"}]
    images = ingest(tmp_path, val_sceneGraphs={"7": scene(c=cup(relations=near), t=table)})
    assert images.images.rows() == [("7", "val", 100, 80, None)]
    assert words(images, "things", "image", "id", "name", "x1", "y1", "x2", "y2") == [
        (0, "c", "cup", 10.0, 20.0, 15.0, 26.0),
        (0, "t", "table", 0.0, 26.0, 100.0, 76.0),
    ]
    assert words(images, "attributes", "thing", "attribute") == [(1, "wood")]
    assert words(images, "relations", "subject", "relation", "object") == [(0, "on", 1)]


def test_a_preposition_hangs_on_its_relation_and_a_thing_may_have_no_box(tmp_path: Path) -> None:
    pouring = {"name": "pouring", "object": "b", "prepositions": [{"name": "pouring:_into", "object": "c"}]}
    people = {"a": {"name": "man", "relations": [pouring]}, "b": {"name": "tea"}, "c": {"name": "cup"}}
    images = ingest(tmp_path, sceneGraphs={"pouring_1": {"objects": people}})
    assert words(images, "prepositions", "edge", "preposition", "object") == [(0, "pouring:_into", 2)]
    assert images.things["x1"].to_list() == [None, None, None]


def test_the_split_is_the_beginning_of_the_file_name(tmp_path: Path) -> None:
    one = {
        "train_sceneGraphs": {"1": scene()},
        "testdev_scene_graphs": {"2": scene()},
        "my_scenegraphs": {"3": scene()},
    }
    images = ingest(tmp_path, **one)
    assert dict(images.images.select("id", "split").rows()) == {"1": "train", "2": "testdev", "3": ""}


def test_visual_genome_lists_are_read(tmp_path: Path) -> None:
    box = {"x": 1, "y": 2, "w": 3, "h": 4}
    record = {
        "image_id": 5,
        "objects": [
            {"object_id": 50, "names": ["Man"], **box, "attributes": ["Tall "]},
            {"object_id": 51, "names": ["horse"], **box},
        ],
        "relationships": [{"predicate": "RIDING", "subject_id": 50, "object_id": 51, "relationship_id": 9}],
    }
    images = ingest(tmp_path, scene_graphs=[record])
    assert images.images.rows() == [("5", "", None, None, None)]
    assert words(images, "things", "id", "name") == [("50", "man"), ("51", "horse")]
    assert words(images, "attributes", "thing", "attribute") == [(0, "tall")]
    assert words(images, "relations", "subject", "relation", "object") == [(0, "riding", 1)]


def test_labelled_boxes_are_read(tmp_path: Path) -> None:
    annotation = {
        "bboxes": [[1, 2, 11, 22], [30, 2, 40, 22]],
        "labels": ["cup", "man"],
        "attributes": [["red"], []],
        "relations": [[1, "to the right of", 0]],
        "width": 50,
        "height": 40,
    }
    images = ingest(tmp_path, scene_graphs=[{"data_path": "some/23.jpg", "annotation": annotation}])
    assert images.images.rows() == [("23", "", 50, 40, None)]
    assert words(images, "things", "id", "name", "x1", "x2") == [
        ("23_0", "cup", 1.0, 11.0),
        ("23_1", "man", 30.0, 40.0),
    ]
    assert words(images, "relations", "subject", "relation", "object") == [(1, "to the right of", 0)]


def test_every_fault_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    nameless = {"x": 1, "y": 1, "w": 1, "h": 1}
    found = faults(
        tmp_path,
        train_sceneGraphs={
            "1": scene(a=cup(relations=[{"name": "on", "object": "z"}]), b=cup(w=-5)),
            "2": scene(a=nameless, b=cup(name=" ")),
            "3": scene(a=cup(), b=nameless | {"name": 3}),
        },
        val_sceneGraphs={"1": scene(a={"name": "cup", "x": 3}), "4": {"objects": [], "width": 3}},
    )
    assert found == [
        "train_sceneGraphs.json, image 1, object a: relation 'on' to object z, which is not in this image",
        "train_sceneGraphs.json, image 1, object b: a box of negative size: w is -5",
        "train_sceneGraphs.json, image 2, object a: missing `name`",
        "train_sceneGraphs.json, image 2, object b: the name is empty",
        "train_sceneGraphs.json, image 3, object b: Expected `str`, got `int` at `.name`",
        "val_sceneGraphs.json, image 1: image id 1 is used twice; it is also in train_sceneGraphs.json",
        "val_sceneGraphs.json, image 1, object a: the box has no y, w, h; give all of x, y, w, h or none",
        "val_sceneGraphs.json, image 4: Expected `object`, got `array` at `.objects`",
    ]


@pytest.mark.parametrize("text", ["", "{", '{"1": ', "\x00", "nonsense"])
def test_a_file_that_is_not_json_is_refused(tmp_path: Path, text: str) -> None:
    (only,) = faults(tmp_path, train_sceneGraphs=text)
    assert only.startswith("train_sceneGraphs.json: not JSON (")


@pytest.mark.parametrize("text", ["3", '"a"', "null"])
def test_json_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    (only,) = faults(tmp_path, train_sceneGraphs=text)
    assert only.startswith("train_sceneGraphs.json: not of a known shape (")


def test_ids_used_twice_are_found_though_a_decoder_would_drop_them(tmp_path: Path) -> None:
    one = json.dumps(cup())
    text = f'{{"1": {{"objects": {{"a": {one}, "b": {one}, "a": {one}}}}}, "2": {{"objects": {{}}}}}}'
    assert faults(tmp_path, sceneGraphs=text) == ["sceneGraphs.json, image 1: object id a is used twice"]
    text = f'{{"1": {{"objects": {{"a": {one}}}}}, "1": {{"objects": {{"b": {one}}}}}}}'
    assert faults(tmp_path, sceneGraphs=text) == ["sceneGraphs.json: image id 1 is used twice"]


def test_a_thing_called_name_is_no_reason_to_complain(tmp_path: Path) -> None:
    images = ingest(tmp_path, sceneGraphs={"1": scene(a=cup(name="name", attributes=["name"]))})
    assert images.words["word"].to_list() == ["name"]


def test_faults_of_lists_name_the_record(tmp_path: Path) -> None:
    box = [0, 0, 1, 1]
    records = [
        {"data_path": "1.jpg", "annotation": {"bboxes": [box], "labels": ["cup", "man"]}},
        {
            "data_path": "2.jpg",
            "annotation": {"bboxes": [box], "labels": ["cup"], "relations": [[3, "on", 0], [0, "on", 8]]},
        },
        {"data_path": "3.jpg", "annotation": {"bboxes": [[5, 0, 1, 1]], "labels": ["cup"]}},
        {"image_id": 4, "objects": [{"object_id": 1, "names": []}, {"object_id": 1, "names": ["cup"]}]},
        {"objects": []},
    ]
    assert faults(tmp_path, scene_graphs=records) == [
        "scene_graphs.json, record 0: bboxes, labels and attributes differ in length: [1, 2]",
        "scene_graphs.json, record 1: relation 'on' of box 3, but there are 1 boxes",
        "scene_graphs.json, image 2, object 2_0: relation 'on' to object 2_8, which is not in this image",
        "scene_graphs.json, image 3, object 3_0: a box of negative size: w is -4",
        "scene_graphs.json, record 3, image 4: object id 1 is used twice",
        "scene_graphs.json, record 4: missing `image_id`",
    ]


def test_hostile_text_is_a_fault_and_no_crash(tmp_path: Path) -> None:
    deep = '{"objects": ' + "[" * 100_000 + "]" * 100_000 + "}"
    big = '{"width": 1' + "0" * 30 + ', "objects": {}}'
    half = '{"objects": {"a": {"name": "\\ud800"}}}'  # half of a pair of code units
    for scene_text, place in ((deep, "sceneGraphs"), (big, "sceneGraphs.json, image 1"), (half, "sceneGraphs")):
        (only,) = faults(tmp_path, sceneGraphs=f'{{"1": {scene_text}}}')
        assert only.startswith(place)
    (tmp_path / "sceneGraphs.json").write_bytes(b'{"1": {"objects": {"a": {"name": "\xff\xfe"}}}}')
    with pytest.raises(BadInput):
        whole_sources.ingest(tmp_path, tmp_path / "run")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    text = "\ufeff" + json.dumps({"1": scene(a=cup())})
    assert ingest(tmp_path, sceneGraphs=text).images["id"].to_list() == ["1"]


def test_files_without_an_image_are_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, train_sceneGraphs={}) == [f"{tmp_path}: no image found in these files"]


def test_a_folder_without_scene_graphs_says_what_it_found(tmp_path: Path) -> None:
    assert faults(tmp_path, train_questions={}) == [
        f"{tmp_path}: no scene graphs here: expected files like train_sceneGraphs.json, val_sceneGraphs.json, "
        "scene_graphs.json, got train_questions.json"
    ]


def test_a_refused_folder_leaves_the_tables_of_before(tmp_path: Path) -> None:
    ingest(tmp_path, train_sceneGraphs={"1": scene(a=cup())})
    (tmp_path / "train_sceneGraphs.json").write_text("{")
    with pytest.raises(BadInput):
        whole_sources.ingest(tmp_path, tmp_path / "run")
    assert Images.load(tmp_path / "run" / "images").images["id"].to_list() == ["1"]


def test_the_released_samples_are_read(tmp_path: Path) -> None:
    samples = SHARED / "data" / "formats"
    if not samples.is_dir():
        pytest.skip("the samples of released files are not beside this checkout")
    counts = whole_sources.ingest(samples, tmp_path)
    assert (counts["images"], counts["things"], counts[CLIPPED]) == (24, 411, 2)


def test_boxes_that_stick_out_a_little_are_clipped_and_counted(tmp_path: Path) -> None:
    boxes = {"a": cup(x=-3, y=-2), "b": cup(x=90, w=20, h=60), "c": cup(x=0, y=0, w=100, h=80), "d": cup(x=0.5, w=109)}
    (tmp_path / "sceneGraphs.json").write_text(json.dumps({"1": scene(**boxes)}))
    images, odd = whole_sources.read_gqa(tmp_path)
    assert images.things.select("x1", "y1", "x2", "y2").rows() == [
        (0.0, 0.0, 2.0, 4.0),
        (90.0, 20.0, 100.0, 80.0),
        (0.0, 0.0, 100.0, 80.0),
        (0.5, 20.0, 100.0, 26.0),
    ]
    assert odd == {CLIPPED: 3}


def test_boxes_far_outside_are_faults(tmp_path: Path) -> None:
    boxes = {"a": cup(x=-11), "b": cup(x=90, w=21), "c": cup(y=200), "d": cup(y=81, h=1), "e": cup(w=-1)}
    wanted = "expected a box in its image of 100 x 80 pixels, got"
    assert faults(tmp_path, sceneGraphs={"1": scene(**boxes)}) == [
        f"sceneGraphs.json, image 1, object a: {wanted} [-11, 20, -6, 26]",
        f"sceneGraphs.json, image 1, object b: {wanted} [90, 20, 111, 26]",
        f"sceneGraphs.json, image 1, object c: {wanted} [10, 200, 15, 206]",
        f"sceneGraphs.json, image 1, object d: {wanted} [10, 81, 15, 82]",
        "sceneGraphs.json, image 1, object e: a box of negative size: w is -1",
    ]


def test_words_lose_punctuation_at_their_end(tmp_path: Path) -> None:
    things = {
        "a": cup(name="cup.", attributes=["red,", "st. louis"], relations=[{"name": "on ;", "object": "b"}]),
        "b": cup(name="mr. table  top"),
    }
    (tmp_path / "sceneGraphs.json").write_text(json.dumps({"1": scene(**things)}))
    images, odd = whole_sources.read_gqa(tmp_path)
    assert images.words["word"].to_list() == ["cup", "red", "st. louis", "on", "mr. table top"]
    assert odd == {SHORTENED: 3}
    (tmp_path / "sceneGraphs.json").write_text(json.dumps({"1": scene(a=cup(name="?!"))}))
    with pytest.raises(BadInput, match="object a: the name is empty"):
        whole_sources.read_gqa(tmp_path)


def test_words_are_written_as_they_are_said(tmp_path: Path) -> None:
    into = {"name": "pouring:_into", "object": "c"}
    things = {
        "a": cup(name="drips, saline", attributes=["black, white", "1,000"], relations=[LOOKS]),
        "b": cup(name="wheel(s)"),
        "c": cup(name="cup(red)"),
        "e": cup(name="table [wooden]"),
        "f": cup(name="old t.v."),
        "d": cup(name="man", relations=[{"name": "pouring", "object": "b", "prepositions": [into]}]),
    }
    (tmp_path / "sceneGraphs.json").write_text(json.dumps({"1": scene(**things)}))
    images, odd = whole_sources.read_gqa(tmp_path)
    words = ["saline drips", "black", "white", "1,000", "looks at", "wheel", "red cup", "wooden table", "old t.v."]
    assert images.words["word"].to_list() == [*words, "man", "pouring", "pouring:_into"]
    assert odd == {RESPELLED: 6}
    assert [plural(word) for word in ("wheel", "cup (red)", "saline drips")] == ["wheels", "cups (red)", "saline drips"]


LOOKS = {"name": "looks_at", "object": "b"}
