"""Visual Genome's separate files become one image each: joined, mended, and everything left out is counted."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from questree.faults import BadInput
from questree.sources.catalogue import kind_of
from questree.sources.visual_genome import (
    LOOSE,
    NAMELESS,
    TAKEN_IN,
    TWICE,
    UNNAMED,
    predicate,
    read_visual_genome,
)
from questree.tables.images import Images

BOX = {"x": 1, "y": 2, "w": 30, "h": 40}
FILES: dict[str, Any] = {
    "objects": [
        {
            "image_id": 1,
            "objects": [
                {"object_id": 10, "names": ["Man"], "synsets": ["man.n.01"], **BOX, "merged_object_ids": [19]},
                {"object_id": 11, "names": ["shirt."], **BOX},
                {"object_id": 12, "names": [""], **BOX},
                {"object_id": 11, "names": ["coat"], **BOX},
            ],
        },
        {"image_id": 2, "objects": []},
    ],
    "relationships": [
        {
            "image_id": 1,
            "relationships": [
                {"predicate": "WEARS", "subject": {"object_id": 19}, "object": {"object_id": 11}, "synsets": []},
                {"predicate": "wears a", "subject": {"object_id": 10}, "object": {"object_id": 11}},
                {"predicate": "is on a", "subject_id": 10, "object": {"object_id": 13, "name": "Street", **BOX}},
                {"predicate": "near", "subject": {"object_id": 10}, "object": {"object_id": 99}},
                {"predicate": " ", "subject": {"object_id": 10}, "object": {"object_id": 11}},
            ],
        },
        {"image_id": 3, "relationships": []},
    ],
    "attributes": [
        {
            "image_id": 1,
            "attributes": [
                {"object_id": 11, "names": ["shirt"], "attributes": ["Red", "red", "striped "]},
                {"object_id": 98, "attributes": ["tall", "old"]},
            ],
        }
    ],
    "image_data": [{"image_id": 1, "width": 30, "height": 50, "url": "", "split": "dev"}],
}


def written(folder: Path, files: dict[str, Any] = FILES) -> Path:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def edges(images: Images) -> Iterator[tuple[str, str, str]]:
    word, names = images.words["word"], images.words["word"].gather(images.things["name"])
    for subject, relation, target in images.relations.iter_rows():
        yield names[subject], word[relation], names[target]


def test_three_files_are_joined_by_their_ids(tmp_path: Path) -> None:
    images, odd = read_visual_genome(written(tmp_path))
    assert images.images.rows() == [
        ("1", "val", 30, 50, None),
        ("2", "", None, None, None),
        ("3", "", None, None, None),
    ]
    assert images.words["word"].gather(images.things["name"]).to_list() == ["man", "shirt", "street"]
    assert list(edges(images)) == [("man", "wears", "shirt"), ("man", "on", "street")]
    said = images.words["word"].gather(images.attributes["attribute"]).to_list()
    assert list(zip(images.attributes["thing"], said, strict=True)) == [(1, "red"), (1, "striped")]
    assert images.things.select("x1", "x2").rows() == [(1.0, 30.0)] * 3
    assert odd == {
        UNNAMED: 1,
        TWICE: 1,
        TAKEN_IN: 1,
        NAMELESS: 1,
        LOOSE: 3,  # a relation and two attributes
        "boxes that stuck out of their image, clipped": 3,
    }


def test_files_may_be_gzipped_and_all_but_the_objects_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "objects.json.gz").write_bytes(gzip.compress(json.dumps(FILES["objects"]).encode()))
    images, _ = read_visual_genome(tmp_path)
    assert images.images["id"].to_list() == ["1", "2"]
    assert images.relations.is_empty()


def test_build_knows_such_a_folder(tmp_path: Path) -> None:
    assert kind_of(written(tmp_path)) == "visual-genome"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ON", "on"),
        ("is on a", "on"),
        ("are", "are"),
        ("has a", "has"),
        ("a", "a"),
        ("is in the ", "in"),
        ("by.", "by"),
    ],
)
def test_a_predicate_says_nothing_twice(words: str, said: str) -> None:
    assert predicate(words) == said


def test_what_is_no_visual_genome_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"expected objects.json, relationships.json, attributes.json, got nothing"):
        read_visual_genome(tmp_path)
    with pytest.raises(BadInput, match=r"expected a folder with objects.json, got none of this name"):
        read_visual_genome(tmp_path / "nowhere")
    written(tmp_path, {"objects": []})
    with pytest.raises(BadInput, match=r"objects\.json: expected images with their objects, .*, got an empty list"):
        read_visual_genome(tmp_path)
    written(tmp_path, {"objects": [{"image_id": 1, "objects": [{"names": ["cup"]}]}]})
    with pytest.raises(BadInput, match=r"objects.json: .*object_id"):
        read_visual_genome(tmp_path)
