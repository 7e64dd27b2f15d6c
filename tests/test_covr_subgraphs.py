"""Subgraphs: rules one by one on scenes made by hand, the naive judge on random ones, the released vectors."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judges import naive_covr as naive
from questree.cli.app import app
from questree.domains.images.graph import to_json
from questree.search.drawn import sampled
from questree.search.index import Index
from questree.search.subgraphs import subgraphs
from questree.search.word_tables import WordTables, default_words
from worlds.image_sets import images, naive_tables, random_scenes, scenes_file, thing, write_words

SHARED = Path(__file__).parents[2] / "shared"
VECTORS, TABLES = SHARED / "oracles" / "covr", SHARED / "data" / "covr"
needs_vectors = pytest.mark.skipif(not VECTORS.is_dir(), reason="the released vectors are not beside the checkout")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> WordTables:
    return WordTables.read(write_words(tmp_path_factory.mktemp("words")))


def said(graph: Any) -> str:
    """red cup -on-> (table)"""
    name = " ".join([*(graph.get("attributes") or []), graph["name"]])
    legs = []
    for relation in graph.get("relations") or []:
        hanging = "".join(f" {p['name']} ({said(p['target'])})" for p in relation.get("prepositions") or [])
        legs.append(f"{relation['name']} ({said(relation['target'])}){hanging}")
    return f"{name}: {' & '.join(sorted(legs))}" if legs else name


def found(folder: Path, scene: dict[str, Any], words: WordTables, root: str = "a") -> list[str]:
    """The subgraphs of one object, sorted."""
    index = Index.of(images(folder, {"s": scene}))
    rows = subgraphs(index, words)
    return sorted(said(to_json(graph)) for _, start, graph in rows if index.thing_ids[start] == root)


def test_a_node_has_no_attribute_or_one_of_its_own(tmp_path: Path, words: WordTables) -> None:
    assert found(tmp_path, {"a": thing("cup", "red, wood")}, words) == ["cup", "red cup", "wood cup"]


def test_an_attribute_said_twice_is_one(tmp_path: Path, words: WordTables) -> None:
    assert found(tmp_path, {"a": thing("cup", "red, red")}, words) == ["cup", "red cup"]


def test_ignored_nouns_and_small_boxes_are_no_roots(tmp_path: Path, words: WordTables) -> None:
    assert found(tmp_path, {"a": thing("sky")}, words) == []
    assert found(tmp_path, {"a": thing("cup", side=20)}, words) == []  # 400 square pixels are too few
    assert found(tmp_path, {"a": thing("cup", side=21)}, words) == ["cup"]
    assert found(tmp_path, {"a": thing("cup", side=None)}, words) == ["cup"]
    assert found(tmp_path, {"a": thing("sky", side=None)}, words) == []


def test_ignored_relations_and_targets_that_do_not_fit_are_left_out(tmp_path: Path, words: WordTables) -> None:
    edges = [("with", "b"), ("to the left of", "b"), ("on", "c"), ("on", "d"), ("near", "b")]
    scene = {"a": thing("cup", "", edges), "b": thing("man"), "c": thing("table", side=9), "d": thing("sky")}
    assert found(tmp_path, scene, words) == ["cup", "cup: near (man)"]


def test_a_name_does_not_come_back_on_its_path(tmp_path: Path, words: WordTables) -> None:
    scene = {
        "a": thing("cup", "", [("near", "b"), ("on", "c")]),
        "b": thing("cup"),
        "c": thing("table", "", [("near", "b"), ("near", "d")]),
        "d": thing("man", "", [("holding", "b")]),
    }
    assert found(tmp_path, scene, words) == ["cup", "cup: on (table)", "cup: on (table: near (man))"]


def test_of_equal_edges_the_first_that_qualifies_is_used(tmp_path: Path, words: WordTables) -> None:
    scene = {
        "a": thing("cup", "", [("on", "b"), ("on", "c"), ("on", "d")]),
        "b": thing("table", "wood", side=9),
        "c": thing("table", "red"),
        "d": thing("table", "blue"),
    }
    assert found(tmp_path, scene, words) == ["cup", "cup: on (red table)", "cup: on (table)"]


def test_two_relations_lead_to_different_names_and_end_there(tmp_path: Path, words: WordTables) -> None:
    scene = {
        "a": thing("man", "", [("near", "b"), ("near", "c"), ("on", "b")]),
        "b": thing("table", "", [("near", "c")]),
        "c": thing("dog"),
    }
    assert found(tmp_path, scene, words) == [
        "man",
        "man: near (dog)",
        "man: near (dog) & near (table)",
        "man: near (dog) & on (table)",
        "man: near (table)",
        "man: near (table: near (dog))",
        "man: on (table)",
        "man: on (table: near (dog))",
    ]


def test_two_relations_may_hang_below_the_only_relation_of_the_root(tmp_path: Path, words: WordTables) -> None:
    scene = {
        "a": thing("man", "", [("near", "b")]),
        "b": thing("table", "", [("near", "c"), ("on", "d")]),
        "c": thing("dog", "red"),
        "d": thing("mug", "", [("near", "c")]),
    }
    assert "man: near (table: near (red dog) & on (mug))" in found(tmp_path, scene, words)
    assert max(len(text) for text in found(tmp_path, scene, words)) == len(
        "man: near (table: near (red dog) & on (mug))"
    )


def test_prepositions_are_always_attached_without_attributes_or_tests(tmp_path: Path, words: WordTables) -> None:
    scene = {
        "a": thing("man", "", [("putting", "b", ("putting:_into", "c"), ("putting:_with", "a")), ("near", "d")]),
        "b": thing("mug", "red", side=None),
        "c": thing("sky", "blue", side=2),
        "d": thing("dog"),
    }
    hanging = "putting:_into (sky) putting:_with (man)"
    assert found(tmp_path, scene, words) == [
        "man",
        "man: near (dog)",
        f"man: putting (mug) {hanging}",
        f"man: putting (red mug) {hanging}",
    ]


def test_an_ignored_pair_needs_an_attribute_at_any_level(tmp_path: Path, words: WordTables) -> None:
    scene = {
        "a": thing("dog", "", [("near", "b")]),
        "b": thing("man", "", [("holding", "c"), ("near", "d")]),
        "c": thing("cup", "red", [("on", "d")]),
        "d": thing("table"),
    }
    assert found(tmp_path, scene, words, "b") == [
        "man",
        "man: holding (red cup)",
        "man: holding (red cup) & near (table)",
        "man: holding (red cup: on (table))",
        "man: near (table)",
    ]
    assert [text for text in found(tmp_path, scene, words) if "holding (cup" in text] == []


@pytest.mark.parametrize("seed", range(6))
def test_the_naive_judge_finds_the_same(seed: int, tmp_path: Path, words: WordTables) -> None:
    scenes = random_scenes(seed)
    index = Index.of(images(tmp_path, scenes))
    ids, things = index.image_ids.to_list(), index.thing_ids.to_list()
    rows = [(ids[image], things[start], to_json(graph), graph) for image, start, graph in subgraphs(index, words)]
    ours = Counter((scene, start, naive.canonical(graph)) for scene, start, graph, _ in rows)
    judged = {
        (scene, start, naive.canonical(graph))
        for scene, objects in scenes.items()
        for start, graphs in naive.subgraphs({"objects": objects}, naive_tables(words)).items()
        for graph in graphs
    }
    assert set(ours) == judged
    assert max(ours.values()) == 1
    assert all((graph.length, graph.depth) == (naive.length(form), naive.depth(form)) for _, _, form, graph in rows)


def test_drawn_subgraphs_are_subgraphs_each_once_with_their_number_of_roots(tmp_path: Path, words: WordTables) -> None:
    index = Index.of(images(tmp_path, random_scenes(11)))
    every: dict[int, Counter[Any]] = {}
    for image, _, graph in subgraphs(index, words):
        every.setdefault(image, Counter())[graph] += 1
    rows = list(sampled(index, words, per_image=15, seed=3))
    assert len({(image, graph) for image, _, graph, _ in rows}) == len(rows) > 100
    assert all(every[image][graph] == times for image, _, graph, times in rows)
    assert {graph.length for _, _, graph, _ in rows} >= {1, 3, 5, 7}


def test_what_is_drawn_depends_on_the_seed_and_not_on_the_other_images(tmp_path: Path, words: WordTables) -> None:
    scenes = random_scenes(12)
    whole, alone = Index.of(images(tmp_path, scenes)), Index.of(images(tmp_path, {"s7": scenes["s7"]}))
    row = whole.image_ids.to_list().index("s7")
    graphs = [graph for _, _, graph, _ in sampled(whole, words, [row], 10, 1)]
    assert graphs == [graph for _, _, graph, _ in sampled(alone, words, None, 10, 1)]
    assert graphs != [graph for _, _, graph, _ in sampled(whole, words, [row], 10, 2)]


def test_the_command_writes_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenes = scenes_file(tmp_path, {"s": {"a": thing("cup", "", [("on", "b")]), "b": thing("table")}})
    tables = write_words(tmp_path / "words")
    out = tmp_path / "out.json"
    app(
        ["covr", "subgraphs", "--scenes", str(scenes), "--words", str(tables), "--json", str(out)],
        result_action="return_value",
    )
    on = {"name": "cup", "attributes": [], "relations": [{"name": "on", "target": {"name": "table", "attributes": []}}]}
    assert json.loads(out.read_text()) == [
        {"scene": "s", "start": "a", "graph": {"name": "cup", "attributes": []}, "len": 1, "depth": 1},
        {"scene": "s", "start": "a", "graph": on, "len": 3, "depth": 3},
        {"scene": "s", "start": "b", "graph": {"name": "table", "attributes": []}, "len": 1, "depth": 1},
    ]
    assert "3 subgraphs of 1 scenes" in capsys.readouterr().out


def test_the_shipped_tables_know_the_made_up_world() -> None:
    words = default_words()
    assert words.attribute_group["red"] == "color"
    assert "blue" in words.contradicting["red"] and "red" in words.contradicting["blue"]
    assert "metal" not in words.contradicting["iron"]
    assert "in front of" in words.disjoint["behind"]
    assert "near" in words.disjoint["riding"] and "riding" not in words.disjoint["near"]
    assert "table" in words.entailing_nouns["desk"]


@needs_vectors
def test_the_released_subgraphs_are_all_there() -> None:
    from questree.sources.covr import read_scenes

    index = Index.of(read_scenes(VECTORS / "generator_scenes.json.gz").images)
    expected = json.loads(gzip.decompress((VECTORS / "subgraphs_expected.json.gz").read_bytes()))["subgraphs"]
    ids, things = index.image_ids.to_list(), index.thing_ids.to_list()
    ours: dict[Any, tuple[int, int]] = {}
    rows = sorted({ids.index(row["scene"]) for row in expected})
    for image, start, graph in subgraphs(index, WordTables.read(TABLES), rows):
        ours[ids[image], things[start], naive.canonical(to_json(graph))] = graph.length, graph.depth
    theirs = {
        (row["scene"], row["start"], naive.canonical(row["graph"])): (row["len"], row["depth"]) for row in expected
    }
    assert len(theirs) == 1346
    assert {key: ours.get(key) for key in theirs} == theirs
    more = Counter(shape for key, shape in ours.items() if key not in theirs)
    assert set(more) == {(5, 3), (7, 5), (5, 5)} and more[5, 5] == 30  # singles, edges and prepositions are equal
