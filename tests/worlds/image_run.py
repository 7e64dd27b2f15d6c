"""A small run with questions about images: rooms to check by eye, programs of all templates, true answers."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from questree.domains.images import IMAGES as LANGUAGE
from questree.domains.images.batches import execute
from questree.domains.images.corpus import corpus
from questree.notation.own import parse
from questree.readings.answer import WELL
from questree.sources.covr import answer_text
from questree.stages.decompose.set_hierarchies import read_sets, set_corpus, set_shards
from questree.stages.decompose.spoken import say
from questree.tables.image_questions import BALANCED, MADE
from questree.tables.images import Images
from questree.tables.questions import with_forms
from questree.tables.run import Run
from worlds import whole_sources
from worlds.question_shards import write_questions

GROUPS = {"red": "color", "blue": "color", "wooden": "material"}
# a room: things "name [attribute]", and "i relation j"; every thing has a box of its own, 10 pixels apart
ROOMS = {
    "train": ["red cup, table, 0 on 1", "blue cup, chair, 0 near 1", "red cup, blue cup, table, 0 on 2, 1 on 2"],
    "dev": ["red cup, wooden table, 0 on 1", "blue dog, cup, 0 near 1"],
    "test": ["red cup, table, dog, 0 on 1, 2 near 0", "blue cup, table, 0 near 1", "red cup, red cup, chair, 0 on 2"],
}
CUP, TABLE, DOG = "find(cup)", "find(table)", "find(dog)"
ON = f"with_relation({CUP}, {TABLE}, on)"
LINK = f"query_link(unique_link(relation_between_nouns(unique(filter({CUP}, red)), {TABLE})))"
ASKED = {
    "VERIFYATTR": [f"verify_attr(unique({ON}), red)", "verify_attr(unique(find(dog)), blue)"],
    "CHOOSEATTR": [f"choose_attr(unique({ON}), red, blue)"],
    "QUERYATTR": [f"query_attr(unique({ON}), color)"],
    "COMPARECOUNT": [f"gt(count({CUP}), count({TABLE}))", f"eq(count(filter({CUP}, red)), count({DOG}))"],
    "COUNT": [f"count({CUP})", f"count_images(unique_images({ON}))", f"count(filter({CUP}, red))"],
    "VERIFYCOUNT": [f"geq(count({CUP}), 3)", f"eq(count_images(unique_images({CUP})), 2)"],
    "COUNTGROUPBY": [f"count_images(keys(keep_if_values_count_geq(group_by_images({CUP}), 2)))"],
    "VERIFYCOUNTGROUPBY": [f"eq(count_images(keys(keep_if_values_count_eq(group_by_images({CUP}), 1))), 2)"],
    "VERIFYLOGIC": [f"logic_and(exists({ON}), exists({DOG}))", f"logic_or(exists({ON}), exists({DOG}))"],
    "VERIFYQUANT": [
        f"all({CUP}, with_relation(scene(), {TABLE}, on))",
        f"some({ON}, filter(scene(), red))",
        f"none({CUP}, with_relation(scene(), {TABLE}, near))",
    ],
    "VERIFYQUANTATTR": [f"all_same({CUP}, color)", f"all_same({ON}, material)"],
    "VERIFYSAMEATTR": [f"same_attr(query_attr(unique({ON}), color), query_attr(unique({DOG}), color))"],
    "QUERYOBJECT": [f"query_name(unique(with_relation_object(assert_unique(filter({CUP}, red)), scene(), on)))"],
    "CHOOSEOBJECT": [f"choose_name(unique(with_relation_object(assert_unique({ON}), scene(), on)), table, chair)"],
    "CHOOSEREL": [f"choose_relation({LINK}, on, near)"],
}


def scene(text: str, image: str) -> dict[str, Any]:
    parts = [part.split() for part in text.split(", ")]
    things = [part for part in parts if not part[0].isdigit()]
    objects = {
        f"{image}-{at}": {
            "name": words[-1],
            "attributes": words[:-1],
            "relations": [
                {"name": " ".join(edge[1:-1]), "object": f"{image}-{edge[-1]}"} for edge in parts if edge[0] == str(at)
            ],
            "x": 10 * at,
            "y": 0,
            "w": 8,
            "h": 8,
        }
        for at, words in enumerate(things)
    }
    return {"width": 100, "height": 10, "objects": objects}


def write_images(run: Run, rooms: dict[str, list[str]] = ROOMS) -> Images:
    run.images.mkdir(parents=True)
    scenes = {f"{side}{at}": scene(text, f"{side}{at}") for side, own in rooms.items() for at, text in enumerate(own)}
    path = run.folder / "sceneGraphs.json"
    path.write_text(json.dumps(scenes))
    images = whole_sources.read_files([path])
    images.save(run.images)
    path.unlink()
    return images


def questions(images: Images, asked: dict[str, list[str]] = ASKED) -> pl.DataFrame:
    """Every program about every room and every two or three rooms of a side, where it has an answer."""
    ids, rows = images.images["id"].to_list(), []
    sides = {side: [at for at, name in enumerate(ids) if name.startswith(side)] for side in ROOMS}
    for side, own in sides.items():
        sets = [list(some) for size in (1, 2, 3) for some in combinations(own, size)]
        rows += [(side, name, text, some) for name, texts in asked.items() for text in texts for some in sets]
    programs = [parse(text, LANGUAGE) for _, _, text, _ in rows]
    found = execute(programs, [some for *_, some in rows], corpus(images, GROUPS))
    table = [
        {"id": f"q{at}", "split": side, "template": name, "question": f"{text}?", "answer": answer_text(value)}
        | {"program": text, "images": some, "length": 3, "depth": 3, "attributes": 0, "pair": at // 2}
        for at, ((side, name, text, some), value, reason) in enumerate(
            zip(rows, found.value, found.reason.tolist(), strict=True)
        )
        if reason == WELL and value is not None
    ]
    return MADE.frame(with_forms(pl.DataFrame(table)))


def image_run(folder: Path, balanced: int = 0) -> Run:
    """balanced: every so many questions are selected; 0: there is no selection."""
    run = Run(folder)
    table = questions(write_images(run))
    run.covr.mkdir()
    write_questions(table, run)
    if balanced:
        BALANCED.write(table.select("id").gather_every(balanced), run.covr)
    return run


def spoken_nodes(run: Run) -> pl.DataFrame:
    """[node of all shards] key, images, program, type, answer, word."""
    corpus, parts = set_corpus(run.folder), list[pl.DataFrame]()
    for folder in set_shards(run):
        tables = read_sets(folder)
        said = say(tables["forms"], tables["nodes"], corpus.texts, columns=("program", "type", "answer", "word"))
        images = tables["sets"]["images"].gather(tables["nodes"]["set"])
        parts.append(said.drop("set").with_columns(tables["nodes"]["key"], images))
    return pl.concat(parts)


def words_folder(folder: Path) -> Path:
    """Word tables that say what these rooms' attributes are about, and nothing else."""
    words = folder / "words"
    words.mkdir(exist_ok=True)
    (words / "ontology.yaml").write_text("attributes: {color: [red, blue], material: [wooden]}\nobjects: {}\n")
    (words / "ignore.yaml").write_text("nouns: []\nrelations: []\npairs: []\n")
    (words / "adversarial_groups.yaml").write_text("{}\n")
    return words
