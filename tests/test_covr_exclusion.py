"""Word tables: read and refused, and built from annotated pairs, an ontology, images or somebody's scores."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from questree.cli.app import app
from questree.faults import BadInput
from questree.search.exclusion import (
    attributes_together,
    nouns_together,
    scorer_of,
    word_pairs,
    write_tables,
)
from questree.search.word_tables import WordTables, annotations
from worlds.image_sets import images, thing, write_words

ONTOLOGY = {
    "attributes": {"color": ["red", "blue", "white", "light blue"], "material": ["wood"]},
    "objects": {"person": ["man", "woman"], "dishes": ["cup"]},
}
ANNOTATED = {
    "contradicting_attributes": ["open,closed"],
    "disjoint_relations": ["behind,near"],
    "entailing_nouns": ["cup,mug"],
    "not_disjoint_relations": ["near,on"],
}


@pytest.fixture
def words(tmp_path: Path) -> Path:
    folder = tmp_path / "known"
    folder.mkdir()
    given = {"ignore": {"relations": ["of"]}, "ontology": ONTOLOGY, "adversarial_groups": ANNOTATED}
    for name, content in given.items():
        (folder / f"{name}.yaml").write_text(json.dumps(content))
    return folder


def corpus() -> dict[str, dict[str, Any]]:
    """Six red and white cups on tables, six blue ones near tables, six men by and near tables."""
    scenes: dict[str, dict[str, Any]] = {}
    for at in range(6):
        scenes[f"r{at}"] = {"a": thing("cup", "red, white, wood", [("on", "t")]), "t": thing("table")}
        scenes[f"b{at}"] = {"a": thing("cup", "blue", [("near", "t"), ("of", "t")]), "t": thing("table")}
        scenes[f"p{at}"] = {"a": thing("man", "", [("by", "t"), ("near", "t")]), "t": thing("table")}
    scenes["same box"] = {"a": thing("man"), "b": thing("person"), "c": thing("woman", side=90)}
    return scenes


def test_attributes_of_a_group_contradict_if_things_hardly_have_both(tmp_path: Path, words: Path) -> None:
    seen = attributes_together(images(tmp_path, corpus()), ONTOLOGY_GROUPS)
    rows = {(a, b): (n, round(chances, 3)) for a, b, n, chances in seen.iter_rows()}
    assert rows == {("blue", "red"): (0, 3.0), ("blue", "white"): (0, 3.0), ("red", "white"): (6, 3.0)}
    found = word_pairs(images(tmp_path, corpus()), WordTables.read(words), annotations(words))
    assert found["contradicting_predicted_attributes"] == {("blue", "red"), ("blue", "white"), ("open", "closed")}
    assert found["entailing_attributes"] == {("light blue", "blue")}


ONTOLOGY_GROUPS = {"red": "color", "blue": "color", "white": "color", "wood": "material"}


def test_relations_exclude_each_other_in_one_direction(tmp_path: Path, words: Path) -> None:
    """Cups: on and near never together, but near is annotated as possible where on is. Men: near whenever by."""
    found = word_pairs(images(tmp_path, corpus()), WordTables.read(words), annotations(words))
    assert found["disjoint_predicted_relations"] == {("on", "near"), ("behind", "near")}
    assert found["not_disjoint_relations"] == {("near", "on"), ("near", "by"), ("by", "near")}


def test_names_of_one_box_and_a_class_and_its_members_entail(tmp_path: Path, words: Path) -> None:
    seen = nouns_together(images(tmp_path, corpus()))
    assert {(a, b): (n, chances) for a, b, n, chances in seen.iter_rows() if "person" in (a, b)} == {
        ("man", "person"): (1, 1.0)
    }
    found = word_pairs(images(tmp_path, corpus()), WordTables.read(words), annotations(words))
    assert found["entailing_predicted_nouns"] >= {("person", "man"), ("person", "woman"), ("cup", "mug")}
    assert not any("dishes" in pair for pair in found["entailing_predicted_nouns"])  # no image has such a thing


def test_a_scorer_judges_instead_of_the_images(tmp_path: Path, words: Path) -> None:
    asked: dict[str, list[tuple[str, str]]] = {}

    def score(kind: str, pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked[kind] = list(pairs)
        return [
            0.9 if pair in {("red", "wood"), ("near", "on"), ("by", "near"), ("man", "woman")} else 0.5
            for pair in pairs
        ]

    found = word_pairs(images(tmp_path, corpus()), WordTables.read(words), annotations(words), score)
    assert found["contradicting_predicted_attributes"] == {("red", "wood"), ("open", "closed")}
    assert found["disjoint_predicted_relations"] == {("behind", "near")}  # the others are annotated or seen as possible
    assert ("man", "woman") not in found["entailing_predicted_nouns"]
    assert ("man", "woman") in asked["noun"]
    assert ("red", "white") in asked["attribute"]
    assert {pair for pair in asked["relation"] if "of" in pair} == set()


def test_scores_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps([{"kind": "attribute", "a": "red", "b": "blue", "score": 0.8}]))
    assert scorer_of(str(path))("attribute", [("red", "blue"), ("blue", "red")]) == [0.8, 0.0]
    path.write_text(json.dumps([{"kind": "colour", "a": "red", "b": "blue", "score": 0.8}, {"a": "red"}]))
    with pytest.raises(BadInput) as error:
        scorer_of(str(path))
    assert len(error.value.faults) == 2
    assert "record 0: expected {kind, a, b, score}; Invalid enum value 'colour'" in str(error.value)


def test_built_tables_are_read_again(tmp_path: Path, words: Path) -> None:
    counts = write_tables(images(tmp_path, corpus()), words, tmp_path / "out")
    again = WordTables.read(tmp_path / "out")
    assert counts["contradicting_predicted_attributes"] == 3
    assert again.contradicting["red"] == {"blue"}
    assert again.ignored_relations == {"of"}
    assert write_tables(images(tmp_path, corpus()), tmp_path / "out", tmp_path / "again") == counts


def test_the_command_says_how_many_pairs_there_are(
    tmp_path: Path, words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images(tmp_path, corpus())
    given = ["--scenes", str(tmp_path / "scenes.json"), "--words", str(words), "--out", str(tmp_path / "out")]
    app(["covr", "exclusion", *given], result_action="return_value")
    assert "contradicting_predicted_attributes      3" in capsys.readouterr().out
    with pytest.raises(BadInput, match="either a run folder or --scenes"):
        app(["covr", "exclusion", "--out", str(tmp_path / "x")], result_action="return_value")


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_pairs_hold_both_ways_or_one(tmp_path: Path) -> None:
    words = WordTables.read(write_words(tmp_path))
    assert words.contradicting["blue"] == {"red", "wood"}
    assert words.entailing_nouns["mug"] == {"cup"}
    assert words.disjoint["on"] == {"near", "under"}
    assert words.disjoint["under"] == frozenset()
    assert words.not_disjoint["near"] == {"on"}
    assert words.contradicting["unheard of word"] == frozenset()


def test_words_that_yaml_takes_for_truth_values_stay_words(tmp_path: Path) -> None:
    write_words(tmp_path)
    (tmp_path / "ontology.yaml").write_text("attributes:\n  state: [on, off, no]\n")
    assert WordTables.read(tmp_path).attribute_group == {"on": "state", "off": "state", "no": "state"}


def test_everything_wrong_with_tables_is_told_at_once(tmp_path: Path) -> None:
    write_words(tmp_path)
    (tmp_path / "ignore.yaml").write_text("nouns: sky\nverbs: []\n")
    (tmp_path / "ontology.yaml").unlink()
    (tmp_path / "adversarial_groups.yaml").write_text("entailing_attributes: ['a,b,c', 'a']\n")
    with pytest.raises(BadInput) as error:
        WordTables.read(tmp_path)
    assert [str(fault).removeprefix(str(tmp_path)) for fault in error.value.faults] == [
        "/ignore.yaml: unknown heading 'verbs'; known are nouns, relations, pairs",
        "/ignore.yaml, nouns: expected a list of words",
        ": no ontology.yaml (or ontology.yaml.gz) in this folder of word tables",
        "/adversarial_groups.yaml, entailing_attributes: expected two words with one comma between, got 'a,b,c'",
        "/adversarial_groups.yaml, entailing_attributes: expected two words with one comma between, got 'a'",
    ]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder; expected one with ignore"):
        WordTables.read(tmp_path / "nowhere")
    write_words(tmp_path)
    (tmp_path / "ignore.yaml").write_text("nouns: [sky\n")
    with pytest.raises(BadInput, match="cannot be read as YAML"):
        WordTables.read(tmp_path)
