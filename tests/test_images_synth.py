"""The made-up images are what they say: boxes inside, relations true, the same bytes for the same seed."""

from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from questree.faults import BadInput
from questree.sources import gqa
from questree.sources.scenes import CLIPPED
from questree.synth.images import EVERYWHERE, FILES, HANGING, STANDING, make_image, near, world, write_images
from worlds import whole_sources

SCENES = [make_image(at, seed=3) for at in range(200)]
Box = tuple[int, int, int, int]


def box(thing: dict[str, Any]) -> Box:
    return thing["x"], thing["y"], thing["x"] + thing["w"], thing["y"] + thing["h"]


def edges(scene: dict[str, Any]) -> list[tuple[dict[str, Any], str, dict[str, Any]]]:
    objects = scene["objects"]
    return [(a, r["name"], objects[r["object"]]) for a in objects.values() for r in a["relations"]]


def inside(a: Box, b: Box) -> bool:
    return b[0] <= a[0] and b[1] <= a[1] and a[2] <= b[2] and a[3] <= b[3]


def touches(a: Box, b: Box) -> bool:
    return max(a[0], b[0]) <= min(a[2], b[2]) and max(a[1], b[1]) <= min(a[3], b[3])


def test_boxes_lie_inside_the_image_and_are_not_empty() -> None:
    for scene in SCENES:
        whole = (0, 0, scene["width"], scene["height"])
        for thing in scene["objects"].values():
            assert inside(box(thing), whole)
            assert thing["w"] > 0
            assert thing["h"] > 0


def test_geometric_relations_are_true_of_the_boxes() -> None:
    for scene in SCENES:
        for a, name, b in edges(scene):
            test = (EVERYWHERE | HANGING | STANDING).get(name)
            assert test is None or test(box(a), box(b), scene["width"]), (a, name, b)


def test_what_lies_on_a_surface_is_over_it_and_what_is_worn_or_a_part_is_inside() -> None:
    for scene in SCENES:
        for a, name, b in edges(scene):
            if name == "on":
                assert b["x"] <= a["x"]
                assert a["x"] + a["w"] <= b["x"] + b["w"]
                assert b["y"] <= a["y"] + a["h"] <= b["y"] + b["h"]
            elif name in ("wearing", "of"):
                assert inside(box(b if name == "wearing" else a), box(a if name == "wearing" else b))
            elif name in ("holding", "riding", "sitting on", "standing on", "hanging on", "in"):
                assert touches(box(a), box(b)), (a, name, b)


def test_left_and_right_mirror_each_other() -> None:
    for scene in SCENES:
        pairs = {(id(a), name, id(b)) for a, name, b in edges(scene)}
        for a, name, b in pairs:
            if name == "to the left of":
                assert (b, "to the right of", a) in pairs


def test_a_geometric_relation_that_holds_is_said() -> None:
    """Between two whole things without another relation: nothing that is not said is true."""
    for scene in SCENES[:50]:
        said = {(id(a), name, id(b)) for a, name, b in edges(scene)}
        linked = {frozenset((a, b)) for a, name, b in said if name not in EVERYWHERE | HANGING | STANDING}
        bodies = [t for t in scene["objects"].values() if t["name"] in world().things and "of" not in names(t)]
        worn = {id(b) for _, name, b in edges(scene) if name == "wearing"}
        for a, b in permutations([body for body in bodies if id(body) not in worn], 2):
            if frozenset((id(a), id(b))) not in linked and near(box(a), box(b), scene["width"]):
                assert (id(a), "near", id(b)) in said


def names(thing: dict[str, Any]) -> set[str]:
    return {relation["name"] for relation in thing["relations"]}


def test_the_world_has_something_to_count_to_choose_and_to_be_wrong_about() -> None:
    repeated = sum(max(Counter(t["name"] for t in s["objects"].values()).values()) >= 2 for s in SCENES)
    assert repeated > 100
    kinds = {name for scene in SCENES for _, name, _ in edges(scene)}
    assert kinds >= {"on", "near", "holding", "wearing", "riding", "sitting on", "behind", "above", "to the left of"}
    colors = {"red", "white", "black", "brown", "blue", "green", "gray", "silver", "yellow"}
    said = Counter(len(colors & set(t["attributes"])) for scene in SCENES for t in scene["objects"].values())
    assert set(said) == {0, 1, 2}  # two colors are rare, but there
    assert said[2] < said[0] < said[1]
    assert {scene["location"] for scene in SCENES} == {"indoors", "outdoors"}


def test_every_name_of_the_data_file_is_described() -> None:
    data = world()
    for place in data.places:
        assert {place.back, place.ground} <= set(data.ground)
        assert {*place.stands, *place.hangs, *place.lies} <= set(data.things)
    assert set(data.hold["things"]) <= set(data.things)
    assert set(data.worn) == set(data.worn_values)
    assert {part for kind in data.things.values() for part in kind.parts} == set(data.parts) == set(data.part_values)


def test_the_same_seed_gives_the_same_bytes_and_more_images_keep_the_first(tmp_path: Path) -> None:
    for folder, images, seed in (("a", 30, 1), ("b", 30, 1), ("c", 60, 1), ("d", 30, 2)):
        write_images(tmp_path / folder, images, seed)
    a, b, c, d = [(tmp_path / folder / "train_sceneGraphs.json").read_bytes() for folder in "abcd"]
    assert a == b != d
    assert c.startswith(a.removesuffix(b"\n}\n"))


def test_every_fifth_image_is_for_validation_and_all_are_readable(tmp_path: Path) -> None:
    counts = write_images(tmp_path / "made", 25, seed=4)
    read = whole_sources.ingest(tmp_path / "made", tmp_path / "run")
    assert {name: read[name] for name in counts} == counts
    assert CLIPPED not in read
    images = whole_sources.read_files(gqa.scene_graph_files(tmp_path / "made"))
    assert images.images["split"].value_counts(sort=True).rows() == [("train", 20), ("val", 5)]
    assert images.things["id"].is_unique().all()


def test_a_folder_with_other_files_is_not_written_into(tmp_path: Path) -> None:
    write_images(tmp_path, 1, seed=1)
    write_images(tmp_path, 2, seed=1)  # an earlier world is replaced
    (tmp_path / "train_sceneGraphs.json").write_text('{"2407890": {}}')  # GQA's own
    with pytest.raises(BadInput, match="not empty and not made-up images"):
        write_images(tmp_path, 1, seed=1)
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BadInput) as bad:
        write_images(tmp_path, 0, seed=-1)
    assert [fault.place for fault in bad.value.faults] == [str(tmp_path), "--images", "--seed"]
    assert (tmp_path / "train_sceneGraphs.json").read_text() == '{"2407890": {}}'


def test_a_folder_that_a_killed_command_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".val_sceneGraphs.json.x1.part").write_text("half")
    write_images(tmp_path, 6, seed=1)
    whole = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert whole.keys() == {*FILES.values()}
    for file in FILES.values():  # killed between the two names
        (tmp_path / file).unlink()
        write_images(tmp_path, 6, seed=1)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == whole


def test_no_images_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="must be at least 1, is 0"):
        write_images(tmp_path / "made", 0, seed=1)
    assert not (tmp_path / "made").exists()
