"""Classes for every action or relation annotators had no class for: whatever such a one is, no answer is wrong."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from questree.domains.video import VIDEO, videos
from questree.notation.own import parse, show
from questree.readings.answer import answer, spell
from questree.stages.questions import Bank, Question
from questree.tables.nodes import FORMS, KNOWN, NODES
from questree.tables.run import Run
from questree.terms import Node, slots
from worlds.commands import run
from worlds.other_vocabularies import write

COOKING = Path(__file__).parents[1] / "examples/cooking"
NAME, SINCE, UNTIL = "kitchen-11", 21, 25  # while a carrot is chopped
OTHER = {"id": "else", "phrase": "doing something else", "present": "do something else", "past": "did something else"}
MAYBE = ("peel onion", "fry egg", "wash plate", "taste soup", "chop onion")  # that the video does not have


SOMEHOW = {"id": "somehow", "name": "other relationship", "group": "contact"}
NEVER = ("never_asked_relations", "vague_relations", "not_touching_contacts")
ANYHOW = ("holding", "leaning on", "next to", "peeling", "washing", "chopping")  # that the things do not have


def cooking(folder: Path, words: dict[str, Any], video: dict[str, Any]) -> Run:
    folder.mkdir()
    write(folder, words, [video])
    run("questree ingest json videos.json --vocabulary words.toml --out run --quiet", folder)
    run("questree augment run --quiet", folder)
    return Run(folder / "run")


def kitchen() -> tuple[dict[str, Any], dict[str, Any]]:
    """The words, and the video."""
    videos = json.loads((COOKING / "videos.json").read_text())["videos"]
    words = msgspec.toml.decode((COOKING / "vocabulary.toml").read_bytes())
    return words, next(video for video in videos if video["id"] == NAME)


def annotated(folder: Path, deed: str, more: dict[str, str]) -> Run:
    """A video in which `deed` was done, too."""
    words, video = kitchen()
    words["actions"].append(OTHER | {"verb": "yawn"})
    video["actions"].append({"class": deed, "start": SINCE, "end": UNTIL})
    return cooking(folder, words | more, video)


def seen(folder: Path, relation: str, more: dict[str, str]) -> Run:
    """A video in which some things have one more relation."""
    words, video = kitchen()
    words["relations"].append(SOMEHOW)
    for name in NEVER:
        words["lists"].setdefault(name, []).append(SOMEHOW["name"])
    for frame in video["frames"]:
        if SINCE < frame["seconds"] < UNTIL:
            next(thing for thing in frame["objects"] if thing["class"] == "cutting board")["relations"].append(relation)
        elif not frame["objects"]:
            frame["objects"].append({"class": "plate", "box": [220, 180, 290, 270], "relations": [relation]})
    return cooking(folder, words | more, video)


def worlds(runs: Iterable[Run]) -> list[Any]:
    return [videos(each.load("facts"), each.vocabulary()) for each in runs]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The worlds there may have been: in each it was another action, or another relation."""
    folder = tmp_path_factory.mktemp("known")
    return {
        "other_action": worlds(annotated(folder / deed, deed, {}) for deed in MAYBE),
        "other_relation": worlds(seen(folder / relation, relation, {}) for relation in ANYHOW),
    }


def unsure(folder: Path, declared: str) -> Run:
    if declared == "other_action":
        return annotated(folder, "else", {declared: "else"})
    return seen(folder, SOMEHOW["name"], {declared: "somehow"})


@pytest.mark.parametrize("edition", ["1.0", "2.0"])
@pytest.mark.parametrize("declared", ["other_action", "other_relation"])
def test_whatever_has_no_class_no_answer_is_wrong(
    declared: str, edition: str, known: dict[str, list[Any]], tmp_path: Path
) -> None:
    other = unsure(tmp_path / "other", declared)
    run(f"questree generate {other.folder} --rare-below 0 --workers 1 --edition {edition} --quiet", tmp_path)
    asked = [question for folder in Bank(other).folders() for question in Bank(other).shard(folder)]
    assert len({question.template.name for question in asked}) > 15
    assert not any(
        said in question.text + question.answer for question in asked for said in ("something else", "other")
    )
    wrong = Counter(q.template.name for q in asked[::7] for world in known[declared] if differs(q, world))
    assert not wrong


def differs(question: Question, world: Any) -> bool:
    found = answer(question.program, world.ask(np.zeros(1, np.int64)), {})
    return spell(question.program.kind, int(found[0]), world.vocabulary) != question.answer


@pytest.mark.parametrize("declared", ["other_action", "other_relation"])
def test_and_no_sub_question_either(declared: str, known: dict[str, list[Any]], tmp_path: Path) -> None:
    other = unsure(tmp_path / "other", declared)
    run(f"questree generate {other.folder} --rare-below 0 --workers 1 --quiet", tmp_path)
    run(f"questree decompose {other.folder} --all --workers 1 --quiet", tmp_path)
    folder = next(other.decomposed.glob("*/nodes.parquet")).parent
    forms = FORMS.read(folder)["program"].to_list()
    nodes = NODES.read(folder).filter(known=KNOWN.index("executed"))
    assert len(nodes) > 500
    for (form,), own in nodes.group_by("form"):
        program = parse(forms[int(str(form))], VIDEO)
        assert isinstance(program, Node)
        words = {name: own[name].to_numpy().astype(np.int64) for name in slots(program)}
        for world in known[declared]:
            found = answer(program, world.ask(np.zeros(len(own), np.int64)), words)
            assert (found == own["answer"].to_numpy()).all(), forms[int(str(form))]


def test_what_it_cannot_change_is_asked(tmp_path: Path) -> None:
    other = unsure(tmp_path / "other", "other_relation")
    run(f"questree generate {other.folder} --rare-below 0 --workers 1 --quiet", tmp_path)
    asked = [question for folder in Bank(other).folders() for question in Bank(other).shard(folder)]
    said = {(show(question.program), question.answer) for question in asked}
    assert {("interaction(touching, cutting board)", "yes"), ("interaction(holding, fridge)", "no")} <= said
    assert not any("(holding, cutting board)" in program for program, _ in said)
    assert not any(op in program for program, _ in said for op in ("first(", "last(", "relation_order("))
