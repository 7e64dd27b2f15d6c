"""Related scenes: kinds one by one on scenes made by hand, the naive judge on random ones, the released vectors."""

import gzip
import json
import pickle
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from bench.covr import covr_index
from judges import naive_covr as naive
from questree.benchmarks.covr.forms import things
from questree.cli.app import app
from questree.domains.images import IMAGES, corpus
from questree.domains.images.batches import execute
from questree.domains.images.graph import Graph, from_json, to_json
from questree.faults import BadInput
from questree.notation.own import parse
from questree.search.distractors import (
    ATTRIBUTE,
    NAME,
    OTHER_OBJECT,
    DistractorKind,
    Edit,
    GraphForm,
    kinds_of_form,
    nodes,
)
from questree.search.index import Index, boxes_of
from questree.search.other_instances import OtherInstances, others_of
from questree.search.related import Related
from questree.search.subgraphs import subgraphs
from questree.search.verification import THRESHOLDS, scorer_of, simple_graphs, verified
from questree.search.word_tables import WordTables
from worlds.image_sets import images, naive_tables, random_scenes, scenes_file, thing, write_words

SHARED = Path(__file__).parents[2] / "shared"
VECTORS, TABLES = SHARED / "oracles" / "covr", SHARED / "data" / "covr"
needs_vectors = pytest.mark.skipif(not VECTORS.is_dir(), reason="the released vectors are not beside the checkout")
CUP = {"name": "cup"}
ON_TABLE = {"name": "cup", "relations": [{"name": "on", "target": {"name": "table"}}]}


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> WordTables:
    return WordTables.read(write_words(tmp_path_factory.mktemp("words")))


def red(graph: dict[str, Any]) -> dict[str, Any]:
    return {**graph, "attributes": ["red"]}


def kinds(folder: Path, words: WordTables, graph: dict[str, Any], **scenes: dict[str, Any]) -> dict[str, str]:
    """Kind -> ids of scenes, the positives among them."""
    index = Index.of(images(folder, scenes))
    related = Related(index, words)
    found = related.images(from_json(graph))
    found.setdefault("positive", np.zeros(0, np.int32))
    return {kind: " ".join(index.image_ids[int(row)] for row in rows) for kind, rows in found.items()}


def on(name: str, target: str, attributes: str = "", relation: str = "on") -> dict[str, Any]:
    return {"a": thing(name, attributes, [(relation, "b")]), "b": thing(target)}


def test_another_attribute_distracts_unless_the_scene_has_the_thing_too(tmp_path: Path, words: WordTables) -> None:
    blue, both = {"a": thing("cup", "blue")}, {"a": thing("cup", "blue"), "b": thing("cup", "red")}
    entailing = {"a": thing("cup", "blue"), "b": thing("mug", "dark red")}
    found = kinds(tmp_path, words, red(CUP), r={"a": thing("cup", "red")}, b=blue, both=both, d=entailing)
    assert found == {"positive": "both r", "0_attr": "b"}


def test_another_name_distracts_only_from_a_node_without_attribute(tmp_path: Path, words: WordTables) -> None:
    scenes = {
        "p": on("cup", "table"),
        "mug": on("mug", "table"),
        "man": on("man", "table"),
        "d": on("cup", "dog", "red"),
    }
    assert kinds(tmp_path, words, ON_TABLE, **scenes) == {"positive": "p", "0_name": "man", "2_name": "d"}
    assert kinds(tmp_path, words, red({**ON_TABLE}), **scenes) == {"positive": "", "2_name": "d"}


def test_a_single_name_has_all_other_scenes(tmp_path: Path, words: WordTables) -> None:
    scenes = {"p": {"a": thing("cup", side=2)}, "m": {"a": thing("mug")}, "d": {"a": thing("dog")}, "none": {}}
    assert kinds(tmp_path, words, CUP, **scenes) == {"positive": "p", "0_name": "d"}


def test_disjoint_relations_are_directed(tmp_path: Path, words: WordTables) -> None:
    near = {"name": "cup", "relations": [{"name": "near", "target": {"name": "table"}}]}
    scenes = {"on": on("cup", "table"), "near": on("cup", "table", relation="near")}
    assert kinds(tmp_path, words, ON_TABLE, **scenes)["1_relation"] == "near"
    assert kinds(tmp_path, words, near, **scenes) == {"positive": "near"}


def test_root_attribute_and_another_change(tmp_path: Path, words: WordTables) -> None:
    """F has no root attribute: a scene with any cup on a table is out."""
    scenes = {
        "p": on("cup", "table", "red"),
        "blue dog": on("cup", "dog", "blue"),
        "and table": {**on("cup", "dog", "blue"), "c": thing("cup", "", [("on", "d")]), "d": thing("table")},
    }
    found = kinds(tmp_path, words, red(ON_TABLE), **scenes)
    assert found == {"positive": "p", "2_name_neg_attr_main_object": "blue dog"}


def test_another_leaf_and_another_name(tmp_path: Path, words: WordTables) -> None:
    """The leaf becomes what cups are on elsewhere; F is the root alone."""
    scenes = {"p": on("cup", "table"), "dog": on("cup", "dog"), "man": on("man", "dog"), "sky": on("man", "sky")}
    found = kinds(tmp_path, words, ON_TABLE, **scenes)
    assert found == {"positive": "p", "2_name": "dog", "0_name_neg_object_2": "man"}


def test_of_tells_no_leaf_from_another(tmp_path: Path, words: WordTables) -> None:
    graph = {"name": "cup", "relations": [{"name": "of", "target": {"name": "table"}}]}
    scenes = {
        name: on(a, b, relation="of")
        for name, a, b in (("p", "cup", "table"), ("d", "cup", "dog"), ("m", "man", "dog"))
    }
    assert kinds(tmp_path, words, graph, **scenes) == {"positive": "p", "2_name": "d"}


def test_another_relation_and_another_name(tmp_path: Path, words: WordTables) -> None:
    """Near is disjoint from on, and seen between a cup and a table."""
    scenes = {
        "p": on("cup", "table"),
        "n": on("cup", "table", relation="near"),
        "m": on("man", "table", relation="near"),
    }
    found = kinds(tmp_path, words, ON_TABLE, **scenes)
    assert found == {"positive": "p", "1_relation": "n", "0_name_neg_relation_1": "m"}


def test_several_nodes_may_be_one_thing(tmp_path: Path, words: WordTables) -> None:
    graph = {"name": "man", "relations": [{"name": r, "target": {"name": "dog"}} for r in ("on", "near")]}
    scenes = {"one": {"a": thing("man", "", [("on", "b"), ("near", "b")]), "b": thing("dog")}}
    assert kinds(tmp_path, words, graph, **scenes)["positive"] == "one"


def test_scenes_with_fewer_roots_distract_from_several(tmp_path: Path, words: WordTables) -> None:
    scenes = {str(count): {f"{count}{at}": thing("cup", "red") for at in range(count)} for count in range(5)}
    index = Index.of(images(tmp_path, scenes))
    related, graph = Related(index, words), from_json(red(CUP))
    found = {kind: images.tolist() for kind, images in related.images(graph, 3).items()}
    assert (found["positive"], found["0_no_mult"]) == ([3, 4], [1, 2])
    assert "0_no_mult" not in related.images(graph, 1)


def test_a_word_that_no_scene_has(tmp_path: Path, words: WordTables) -> None:
    """Nobody is called person, but a man entails it; an unheard-of word is found nowhere."""
    scenes = {"m": on("man", "table"), "c": on("cup", "table")}
    person = {"name": "person", "relations": ON_TABLE["relations"]}
    assert kinds(tmp_path, words, person, **scenes) == {"positive": "", "0_name": "c"}
    assert kinds(tmp_path, words, {"name": "unheard of", "attributes": ["unheard of"]}, **scenes) == {"positive": ""}


def test_no_scenes_at_all(tmp_path: Path, words: WordTables) -> None:
    assert kinds(tmp_path, words, ON_TABLE) == {"positive": ""}
    assert kinds(tmp_path, words, CUP, empty={}) == {"positive": ""}


def random_graphs(index: Index, words: WordTables, draw: Random, number: int) -> list[Graph]:
    """Subgraphs, some with a word exchanged, so that graphs that are nowhere are among them."""
    found = [graph for _, _, graph in subgraphs(index, words)]
    chosen = draw.sample(found, min(number, len(found)))
    text = [json.dumps(to_json(graph)) for graph in chosen]
    exchanged = [
        each.replace(*draw.choice((("cup", "mug"), ("on", "of"), ("red", "blue"), ("man", "person")))) for each in text
    ]
    return chosen + [from_json(json.loads(each)) for each in exchanged]


@pytest.mark.parametrize("seed", range(8))
def test_the_naive_judge_finds_the_same(seed: int, tmp_path: Path, words: WordTables) -> None:
    scenes = random_scenes(seed, 25)
    index = Index.of(images(tmp_path, scenes))
    graphs = random_graphs(index, words, Random(seed), 60)
    found = Related(index, words).find(graphs, instances=True)
    read = {scene: naive.objects({"objects": objects}) for scene, objects in scenes.items()}
    ids = index.image_ids.to_list()
    for at, graph in enumerate(graphs):
        positive, negative = naive.related(to_json(graph), read, naive_tables(words))
        ours = {kind: {ids[found.image[hit]] for hit in hits} for kind, hits in found.of(at).items()}
        assert ours.pop("positive", set()) == positive, graph
        assert ours == negative, graph


@pytest.mark.parametrize("seed", range(3))
def test_positives_are_what_the_operators_find(seed: int, tmp_path: Path, words: WordTables) -> None:
    """But for prepositions: to an operator they are relations like others, here they belong to one."""
    made = images(tmp_path, random_scenes(seed, 25))
    index = Index.of(made)
    graphs = random_graphs(index, words, Random(seed), 60)
    graphs = [graph for graph in graphs if not any(":_" in word for word in graph.words)]
    found, every = Related(index, words).find(graphs), range(len(index.image_ids))
    programs = [parse(f"exists({things(graph).text})", IMAGES) for graph in graphs for _ in every]
    answers = execute(programs, [[image] for _ in graphs for image in every], corpus(made, {}))
    shown = np.reshape(answers.value, (len(graphs), len(every)))
    for at in range(len(graphs)):
        assert [found.image[hit] for hit in found.of(at).get("positive", ())] == np.flatnonzero(shown[at]).tolist()
    assert shown.any(1).sum() > 20


def test_the_random_graphs_have_every_kind(tmp_path: Path, words: WordTables) -> None:
    """Otherwise agreement would say little."""
    index = Index.of(images(tmp_path, random_scenes(5, 60)))
    graphs = [graph for _, _, graph in subgraphs(index, words)][::6]
    found = Related(index, words).find(graphs)
    seen = {found.kinds[kind] for kind in set(found.kind.tolist())}
    wanted = {"0_attr", "2_name", "1_relation", "2_name_neg_attr_main_object", "1_relation_neg_attr_main_object"}
    wanted |= {"0_name_neg_object_2", "2_name_neg_object_4", "0_attr_neg_relation_1", "0_name_neg_relation_3"}
    assert wanted <= seen


def test_an_instance_is_what_the_image_has_instead(tmp_path: Path, words: WordTables) -> None:
    index = Index.of(images(tmp_path, random_scenes(3, 40)))
    graphs = [graph for _, _, graph in subgraphs(index, words)][::11]
    related = Related(index, words)
    found = related.find(graphs, instances=True)
    assert len(found.image) > 300
    for hit in range(0, len(found.image), 17):
        instance, graph = found.instance(hit), graphs[found.graph[hit]]
        assert found.image[hit] in related.images(instance)["positive"]
        assert (instance == graph) == (found.kinds[found.kind[hit]] == "positive")


def test_a_limit_draws_some_of_the_images_of_every_kind(tmp_path: Path, words: WordTables) -> None:
    index = Index.of(images(tmp_path, random_scenes(4, 200)))
    graphs = [graph for _, _, graph in subgraphs(index, words)][::401]
    related = Related(index, words)
    whole, some = related.find(graphs), related.find(graphs, limit=3, seed=1, positives=2)
    for at in range(len(graphs)):
        full = {kind: {*whole.image[hits.start : hits.stop].tolist()} for kind, hits in whole.of(at).items()}
        drawn = {kind: some.image[hits.start : hits.stop].tolist() for kind, hits in some.of(at).items()}
        assert {kind: len(rows) for kind, rows in drawn.items()} == {
            kind: min(2 if kind == "positive" else 3, len(rows)) for kind, rows in full.items()
        }
        assert all(len({*rows} & full[kind]) == len(rows) for kind, rows in drawn.items())
    again, other = (
        related.find(graphs, limit=3, seed=1, positives=2),
        related.find(graphs, limit=3, seed=2, positives=2),
    )
    assert np.array_equal(some.image, again.image)
    assert not np.array_equal(some.image, other.image)


def test_graphs_are_found_alone_as_in_company(
    tmp_path: Path, words: WordTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a trip to another process, and if few are searched together."""
    index = Index.of(images(tmp_path, random_scenes(6)))
    graphs = [graph for _, _, graph in subgraphs(index, words)][::13]
    together = Related(index, words).find(graphs, limit=2, seed=5)
    monkeypatch.setattr("questree.search.related.MEMORY", 1)
    related = Related(pickle.loads(pickle.dumps(index)), words)
    apart = related.find(graphs, limit=2, seed=5)
    assert all(together.of(at) == apart.of(at) for at in range(len(graphs)))
    assert np.array_equal(together.image, apart.image)


def kinds_of(graph: Graph) -> list[DistractorKind]:
    """The kinds that fit the graph's attributes; whether they have scenes depends on the words and the images."""
    parents, prepositions, _, attributes, _ = zip(*nodes(graph), strict=True)

    def fits(edit: Edit) -> bool:
        if edit.what in (ATTRIBUTE, NAME):
            return (attributes[edit.node] is None) == (edit.what == NAME)
        return not any(attributes[1:]) or edit.what != OTHER_OBJECT

    return [kind for kind in kinds_of_form(GraphForm(parents, prepositions)) if all(map(fits, kind.edits))]


def test_the_kinds_of_a_graph_say_what_is_changed() -> None:
    chain = from_json({"name": "man", "relations": [{"name": "near", "target": ON_TABLE}]})
    names = [kind.name for kind in kinds_of(chain)]
    assert names == [
        "0_name",
        "0_name_neg_object_4",
        "0_name_neg_relation_3",
        "1_relation",
        "2_name",
        "2_name_neg_object_4",
        "3_relation",
        "4_name",
    ]
    double = kinds_of(chain)[1]
    assert [(edit.element, edit.what) for edit in double.edits] == [(0, "name"), (4, "neg_object")]
    assert double.kept == {0, 1}


# ---- verification ----------------------------------------------------------------------------------------------------


def test_simple_graphs_have_two_nodes_one_relation_one_attribute() -> None:
    graph = from_json(
        {
            "name": "man",
            "attributes": ["old"],
            "relations": [
                {"name": "on", "target": {"name": "dog", "attributes": ["red"], "relations": ON_TABLE["relations"]}}
            ],
        }
    )
    parts = [(to_json(part.graph), sorted(part.names), sorted(part.attributes)) for part in simple_graphs(graph)]
    first = {
        "name": "man",
        "attributes": ["old"],
        "relations": [{"name": "on", "target": {"name": "dog", "attributes": []}}],
    }
    second = {
        "name": "dog",
        "attributes": ["red"],
        "relations": [{"name": "on", "target": {"name": "table", "attributes": []}}],
    }
    assert parts == [(first, [0, 2], [0]), (second, [2, 4], [2])]


def test_a_distractor_goes_if_every_changed_part_scores_above_its_threshold() -> None:
    graph = from_json(red(ON_TABLE))
    kind = {each.name: each for each in kinds_of(graph)}
    assert (THRESHOLDS["name"], THRESHOLDS["relation"], THRESHOLDS["attr"]) == (0.05, 0.1, 0.5)
    for name, score, stays in (
        ("0_attr", 0.5, True),
        ("0_attr", 0.51, False),
        ("1_relation", 0.1, True),
        ("1_relation", 0.11, False),
        ("2_name", 0.05, True),
        ("2_name", 0.06, False),
        ("2_name_neg_attr_main_object", 0.4, True),  # two kinds of change: the higher threshold counts
    ):
        assert verified([("s", graph, kind[name])], partial(constant, score)).tolist() == [stays]


def constant(score: float, checks: Sequence[Any]) -> list[float]:
    return [score for _ in checks]


def test_verified_distractors_leave_the_positives_alone(tmp_path: Path, words: WordTables) -> None:
    scenes = {"p": {"a": thing("cup", "red")}, "b": {"a": thing("cup", "blue")}, "c": {"a": thing("cup", "blue")}}
    index = Index.of(images(tmp_path, scenes))
    graph = from_json(red(CUP))
    path = tmp_path / "scores.json"
    path.write_text(json.dumps([{"image": "b", "graph": to_json(graph), "score": 0.9}]))
    found = Related(index, words, scorer_of(str(path))).find([graph])
    assert {kind: found.image[hits.start : hits.stop].tolist() for kind, hits in found.of(0).items()} == {
        "positive": [2],
        "0_attr": [1],
    }


def test_images_with_instances_that_nobody_annotated_go(tmp_path: Path, words: WordTables) -> None:
    """The scorer sees an image without the boxes of all annotated instances of a part; above 0.5 there is another."""
    box, other = {"x": 0, "y": 0, "w": 10, "h": 10}, {"x": 50, "y": 0, "w": 10, "h": 10}
    scenes = {
        "two": {
            "a": thing("cup", "red", [("on", "c")]) | box,
            "b": thing("cup", "red") | other,
            "c": thing("table", side=None),
        },
        "one": {"d": thing("cup", "red", [("on", "e")]) | box, "e": thing("table") | other},
        "no": {"f": thing("cup", "blue", [("on", "g")]), "g": thing("table")},
    }
    read = images(tmp_path, scenes)
    index, asked = Index.of(read), list[Any]()

    def seen(checks: Any) -> list[float]:
        asked.extend((image, to_json(graph), boxes) for image, graph, boxes in checks)
        return [0.51 if image == "two" else 0.5 for image, _, _ in checks]

    graph = from_json(red(ON_TABLE))
    related = Related(index, words, others=OtherInstances(boxes_of(read), index, seen))
    assert related.find([from_json(red(CUP)), graph]).image.tolist() == [1, 0, 1, 0]  # positive and 0_attr of each
    left, right = (0.0, 0.0, 10.0, 10.0), (50.0, 0.0, 60.0, 10.0)
    single, on_table = to_json(from_json(red(CUP))), to_json(graph)
    assert asked == [
        ("one", single, [left]),
        ("two", single, [left, right]),
        ("one", on_table, [left, right]),
        ("two", on_table, [left]),  # of the cup on the table; the table has no box
    ]
    path = tmp_path / "scores.json"
    path.write_text(json.dumps([{"image": "one", "graph": to_json(graph), "score": 0.9}]))
    from_file = OtherInstances(boxes_of(read), index, others_of(str(path)))
    assert from_file.annotated([(2, graph), (1, graph), (1, from_json(red(CUP)))]).tolist() == [True, False, True]


def test_a_graph_of_two_parts_goes_if_there_are_others_of_both(tmp_path: Path) -> None:
    chain = {"a": thing("man", "", [("near", "b")]), "b": thing("cup", "", [("on", "c")]), "c": thing("table")}
    read = images(tmp_path, {"s": chain})
    graph = from_json({"name": "man", "relations": [{"name": "near", "target": ON_TABLE}]})

    def told(*names: str) -> bool:
        others = OtherInstances(
            boxes_of(read), Index.of(read), lambda checks: [float(g.name in names) for _, g, _ in checks]
        )
        return bool(others.annotated([(0, graph)])[0])

    assert [told(), told("man"), told("cup"), told("man", "cup")] == [True, True, True, False]


def test_a_scorer_that_gives_too_few_scores_is_refused() -> None:
    graph = from_json(red(CUP))
    with pytest.raises(BadInput, match="expected a score for each of 1 graphs, got 0"):
        verified([("s", graph, kinds_of(graph)[0])], lambda checks: [])


def test_a_scorer_that_is_not_there_is_told() -> None:
    with pytest.raises(BadInput, match="no_such_module:score: neither a file nor a function"):
        scorer_of("no_such_module:score")


# ---- the command -----------------------------------------------------------------------------------------------------


def run(folder: Path, graphs: Any, scenes: dict[str, Any]) -> Any:
    (folder / "graphs.json").write_text(json.dumps(graphs))
    arguments = {"scenes": scenes_file(folder, scenes), "graphs": folder / "graphs.json"}
    arguments |= {"words": write_words(folder / "words"), "json": folder / "out.json"}
    words = [word for name, path in arguments.items() for word in (f"--{name}", str(path))]
    app(["covr", "related", *words], result_action="return_value")
    return json.loads((folder / "out.json").read_text())


def test_the_command_writes_rows_in_the_order_of_the_graphs(tmp_path: Path) -> None:
    scenes = {"p": on("cup", "table"), "n": on("cup", "table", relation="near"), "d": on("dog", "table")}
    single = {"name": "cup", "attributes": []}
    rows = run(tmp_path, [{"scene": "n", "graph": single}, {"scene": "p", "graph": ON_TABLE}], scenes)
    assert rows == [
        {"scene": "n", "graph": single, "positive": ["n", "p"], "negative": {"0_name": ["d"]}},
        {"scene": "p", "graph": ON_TABLE, "positive": ["p"], "negative": {"0_name": ["d"], "1_relation": ["n"]}},
    ]


def test_elements_are_numbered_in_the_order_of_the_given_graph(tmp_path: Path) -> None:
    legs = [{"name": "near", "target": {"name": "dog"}}, {"name": "on", "target": {"name": "table"}}]
    scene = {"a": thing("man", "", [("near", "b"), ("on", "c")]), "b": thing("dog"), "c": thing("table")}
    other = {**scene, "c": thing("mug")}
    graphs = [{"scene": "s", "graph": {"name": "man", "relations": order}} for order in (legs, legs[::-1])]
    rows = run(tmp_path, graphs, {"s": scene, "o": other})
    assert [list(row["negative"]) for row in rows] == [["4_name"], ["2_name"]]


def test_a_multi_count_is_asked_for_beside_the_graph(tmp_path: Path) -> None:
    scenes = {"1": {"a": thing("cup")}, "2": {"b": thing("cup"), "c": thing("cup")}}
    rows = run(tmp_path, [{"scene": "2", "graph": CUP, "multi_count": 2}], scenes)
    assert (rows[0]["positive"], rows[0]["negative"]) == (["2"], {"0_no_mult": ["1"]})


def test_everything_wrong_with_the_graphs_is_told_at_once(tmp_path: Path) -> None:
    bad = [
        {"scene": "s", "graph": {"attributes": []}},
        {"scene": "s", "graph": {"name": "cup", "attributes": ["red", "blue"]}},
        {"scene": "s", "graph": {"name": "cup", "relations": [{"name": "", "target": {"name": " "}}]}},
        {"scene": "s", "graph": {"name": "cup", "relations": [{"name": "on"}]}},
        {"scene": "s", "graph": CUP},
    ]
    with pytest.raises(BadInput) as error:
        run(tmp_path, bad, {"s": {}})
    messages = [str(fault).split("graphs.json, ")[1] for fault in error.value.faults]
    assert messages == [
        "record 0, graph: Object missing required field `name`",
        "record 1, graph: 'cup' has 2 attributes; a node has none or one",
        "record 2, graph: the name of a relation of 'cup' is empty",
        "record 2, graph: the name of a node is empty",
        "record 3, graph: Object missing required field `target` - at `$.relations[0]`",
    ]
    assert not (tmp_path / "out.json").exists()


@needs_vectors
def test_the_released_rows_are_equal() -> None:
    from questree.sources.covr import read_scenes

    index = Index.of(read_scenes(VECTORS / "generator_scenes.json.gz").images)
    rows = json.loads(gzip.decompress((VECTORS / "related_expected.json.gz").read_bytes()))
    found = Related(index, WordTables.read(TABLES)).find([from_json(row["graph"]) for row in rows])
    ids = index.image_ids.to_list()
    assert len(rows) == 684
    for at, row in enumerate(rows):
        ours = {kind: {ids[found.image[hit]] for hit in hits} for kind, hits in found.of(at).items()}
        assert ours.pop("positive") == set(row["positive"])
        assert ours == {kind: set(scenes) for kind, scenes in row["negative"].items()}


def test_the_page_shows_what_the_commands_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[1] / "docs" / "covr-index.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    for name, block in zip(("scenes.json", "graphs.json"), re.findall(r"```json\n(.*?)```", page, re.S), strict=True):
        Path(name).write_text(block)
    for line in re.findall(r"^questree (covr .*)", page, re.M):
        app(line.split(), result_action="return_value")
    shown = [json.loads(line) for line in page.splitlines() if line.startswith('{"scene": "kitchen"')]
    written = json.loads(Path("related.json").read_text())
    assert [{key: row[key] for key in ("scene", "positive", "negative")} for row in written] == shown
    assert len(json.loads(Path("subgraphs.json").read_text())) == 24
    assert WordTables.read(Path("tables")).contradicting["red"] >= {"white"}


def test_the_benchmark_measures_the_index(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    covr_index(images=40, graphs=50, json=out, quiet=True)
    measured = {each["name"]: each["rows"] for each in json.loads(out.read_text())}
    assert measured["index (rows are images)"] == 40
    assert measured["graphs with all their kinds"] == 50
