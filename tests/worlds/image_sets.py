"""Small scenes for COVR: written by hand, or random with few words, so that patterns meet often."""

import json
from pathlib import Path
from random import Random
from typing import Any

from questree.search.word_tables import WordTables
from questree.sources.covr import read_scenes
from questree.tables.images import Images

NOUNS = ("cup", "table", "man", "dog", "sky", "mug")
ATTRIBUTES = ("red", "blue", "dark red", "wood")
RELATIONS = ("on", "near", "holding", "of", "with", "to the left of")
PREPOSITIONS = ("putting:_into", "putting:_with")

IGNORE = {"nouns": ["sky"], "relations": ["with"], "pairs": ["holding,cup"]}
ONTOLOGY = {
    "attributes": {"color": ["red", "blue", "dark red"], "material": ["wood"]},
    "objects": {"animal": ["dog"], "dishes": ["cup", "mug"]},
}
GROUPS = {
    "contradicting_predicted_attributes": ["red,blue", "wood,blue", "wood,unheard of"],
    "entailing_attributes": ["dark red,red"],
    "entailing_predicted_nouns": ["cup,mug", "person,man", "person,dog"],
    "disjoint_predicted_relations": [
        "on,near",
        "holding,near",
        "near,of",
        "putting,on",
        "near,to the left of",
        "on,under",
    ],
    "not_disjoint_relations": ["near,on", "holding,on", "putting:_into,putting:_with"],
}


def write_words(folder: Path) -> Path:
    """A folder of word tables; JSON is YAML too."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("ignore", IGNORE), ("ontology", ONTOLOGY), ("adversarial_groups", GROUPS)):
        (folder / f"{name}.yaml").write_text(json.dumps(content), "utf-8")
    return folder


def naive_tables(words: WordTables) -> dict[str, Any]:
    """What the naive judge wants to know."""
    return {
        "nouns": words.ignored_nouns,
        "relations": words.ignored_relations,
        "pairs": words.ignored_pairs,
        "contradicting": words.contradicting,
        "entailing_attributes": words.entailing_attributes,
        "entailing_nouns": words.entailing_nouns,
        "disjoint": words.disjoint,
        "not_disjoint": words.not_disjoint,
    }


def thing(
    name: str, attributes: str = "", relations: list[tuple[Any, ...]] | None = None, side: int | None = 30
) -> dict[str, Any]:
    """A square thing: ("on", "b") is an edge to b, ("putting", "b", ("putting:_into", "c")) one with a preposition."""
    made: dict[str, Any] = {"name": name, "attributes": attributes.split(", ") if attributes else []}
    made["relations"] = [
        {
            "name": relation,
            "object": target,
            **({"prepositions": [{"name": p, "object": end} for p, end in hanging]} if hanging else {}),
        }
        for relation, target, *hanging in relations or []
    ]
    return made if side is None else {**made, "x": 5, "y": 7, "w": side, "h": side}


def scenes_file(folder: Path, scenes: dict[str, dict[str, Any]], imsitu: dict[str, Any] | None = None) -> Path:
    path = folder / "scenes.json"
    given = {
        name: {scene: {"objects": objects} for scene, objects in each.items()}
        for name, each in (("gqa", scenes), ("imsitu", imsitu or {}))
    }
    path.write_text(json.dumps(given), "utf-8")
    return path


def images(folder: Path, scenes: dict[str, dict[str, Any]]) -> Images:
    return read_scenes(scenes_file(folder, scenes)).images


def random_scenes(seed: int, number: int = 30) -> dict[str, dict[str, Any]]:
    """Scenes of up to seven things with few words; some boxes are small or missing, some edges have prepositions."""
    draw = Random(seed)
    found = {}
    for scene in range(number):
        keys = [f"{scene}-{at}" for at in range(draw.randint(0, 7))]
        found[f"s{scene}"] = {key: _random_thing(draw, keys) for key in keys}
    return found


def _random_thing(draw: Random, keys: list[str]) -> dict[str, Any]:
    edges: list[tuple[Any, ...]] = []
    for _ in range(draw.randint(0, 4)):
        if draw.random() < 0.2:
            hanging = [(draw.choice(PREPOSITIONS), draw.choice(keys)) for _ in range(draw.randint(1, 2))]
            edges.append(("putting", draw.choice(keys), *hanging))
        else:
            edges.append((draw.choice(RELATIONS), draw.choice(keys)))
    attributes = ", ".join(draw.sample(ATTRIBUTES, draw.randint(0, 2)))
    return thing(draw.choice(NOUNS), attributes, edges, draw.choice((30, 30, 30, 20, None)))
