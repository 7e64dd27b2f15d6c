"""Small runs to serve: two videos a reader can check by eye, and models that are wrong where a test says so."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl

from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.hierarchies import shards
from questree.stages.decompose.spoken import Texts, spoken
from questree.tables.hierarchies import NOTHING
from questree.tables.image_questions import ANSWERED
from questree.tables.images import Gathering, SceneEdge, Thing
from questree.tables.predictions import write_shard, write_words
from questree.tables.questions import with_forms
from questree.tables.run import Run
from questree.vocabulary.load import default
from worlds.exported_worlds import run_of
from worlds.question_shards import write_questions
from worlds.small import facts

WORLD = """
video A test 20
frames 0 2 4 6 8 10 12 14 16 18
person 0-9 at 100 40 220 290
phone 5-9 at 210 120 250 150: holding, touching
blanket 0-3 at 180 150 230 200: holding, touching
bag 0-9 at 20 220 80 290: in front of
action c151 0 6
action c154 11 19

video B train 12
frames 0 2 4 6 8 10
person 0-5 at 10 10 90 190
phone 0-2 at 60 60 80 80: holding, touching
action c015 0 5
action c154 6 11
"""
SCRIPT = "<script>alert(1)</script>"
Answering = Callable[[str, str | None], str | None]  # text of a node, its answer -> what is said


def served_run(folder: Path) -> Run:
    """All questions of the two videos, decomposed."""
    run = run_of(facts(WORLD), folder, shard=1)
    decompose(run, DecomposeOptions(balanced=False, closed=True), pool=ThreadPoolExecutor(1))
    return run


def answers(run: Run, model: str, say: Answering) -> None:
    """A model's predictions for every node."""
    words: dict[str, int] = {}
    folder = run.predictions / model
    folder.mkdir(parents=True)
    texts = Texts(default())
    for shard in shards(run):
        nodes = spoken(shard, texts)
        said = [say(text, answer) for text, answer in nodes.select("text", "answer").iter_rows()]
        number = [NOTHING if word is None else words.setdefault(word, len(words)) for word in said]
        (folder / shard.name).mkdir()
        write_shard(folder / shard.name, np.array(number, np.int32))
    write_words(folder, list(words))


def true_but_for(wrong: Mapping[str, str]) -> Answering:
    """Says what is true, except to these questions."""
    return lambda text, answer: wrong.get(text, answer)


def image_run(folder: Path) -> Run:
    """Three images and two questions about them."""
    gathering = Gathering()
    gathering.add(
        "kitchen",
        "val",
        (200, 100),
        None,
        [
            Thing("1", "dog", (10, 40, 60, 90), ["black"], [SceneEdge("on", 1)]),
            Thing("2", "floor", (0, 80, 200, 100)),
        ],
    )
    gathering.add(
        "yard",
        "val",
        (200, 100),
        None,
        [
            Thing("3", "dog", (100, 40, 150, 90), ["white"]),
            Thing("4", "<b>cat</b>", None),
        ],
    )
    gathering.add("street", "val", (None, None), None, [Thing("5", "car", (20, 20, 120, 70), ["red"])])
    run = Run(folder)
    run.images.mkdir(parents=True)
    gathering.done().save(run.images)
    run.covr.mkdir()
    rows = [
        (
            "q/1",
            "train",
            "COUNT",
            "How many images with a dog are there?",
            "2",
            "count_images(unique_images(find(dog)))",
            [0, 1, 2],
            1,
            0,
            0,
            0,
        ),
        (
            "q/2",
            "test",
            "VERIFYCOUNT",
            "There is a black dog & more",
            "yes",
            "exists(filter(find(dog), black))",
            [0, 2],
            1,
            0,
            1,
            1,
        ),
    ]
    names = ("id", "split", "template", "question", "answer", "program", *list(ANSWERED.columns)[-5:])
    write_questions(with_forms(pl.DataFrame(rows, schema=names, orient="row")), run)
    return run
