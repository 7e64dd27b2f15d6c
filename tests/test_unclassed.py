"""An action class for everything annotators had no class for: whatever such an action is, no answer is wrong."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from questree.domains.video import VIDEO, videos
from questree.notation.own import parse
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


def annotated(folder: Path, deed: str, more: dict[str, str]) -> Run:
    """A video in which `deed` was done, too."""
    words = msgspec.toml.decode((COOKING / "vocabulary.toml").read_bytes()) | more
    words["actions"].append(OTHER | {"verb": "yawn"})
    found = [video for video in json.loads((COOKING / "videos.json").read_text())["videos"] if video["id"] == NAME]
    found[0]["actions"].append({"class": deed, "start": SINCE, "end": UNTIL})
    folder.mkdir()
    write(folder, words, found)
    run("questree ingest json videos.json --vocabulary words.toml --out run --quiet", folder)
    run("questree augment run --quiet", folder)
    return Run(folder / "run")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The worlds there may have been: in each it was another action."""
    folder = tmp_path_factory.mktemp("known")
    runs = [annotated(folder / deed, deed, {}) for deed in MAYBE]
    return [videos(each.load("facts"), each.vocabulary()) for each in runs]


@pytest.mark.parametrize("edition", ["1.0", "2.0"])
def test_whatever_an_action_without_a_class_is_no_answer_is_wrong(
    edition: str, known: list[Any], tmp_path: Path
) -> None:
    unsure = annotated(tmp_path / "other", "else", {"other_action": "else"})
    run(f"questree generate run --rare-below 0 --workers 1 --edition {edition} --quiet", tmp_path / "other")
    asked = [question for folder in Bank(unsure).folders() for question in Bank(unsure).shard(folder)]
    assert len({question.template.name for question in asked}) > 15
    assert not any("something else" in question.text + question.answer for question in asked)
    wrong = Counter(question.template.name for question in asked[::7] for world in known if differs(question, world))
    assert not wrong


def differs(question: Question, world: Any) -> bool:
    found = answer(question.program, world.ask(np.zeros(1, np.int64)), {})
    return spell(question.program.kind, int(found[0]), world.vocabulary) != question.answer


def test_and_no_sub_question_either(known: list[Any], tmp_path: Path) -> None:
    unsure = annotated(tmp_path / "other", "else", {"other_action": "else"})
    for line in ("generate run --rare-below 0 --workers 1", "decompose run --all --workers 1"):
        run(f"questree {line} --quiet", tmp_path / "other")
    folder = next(unsure.decomposed.glob("*/nodes.parquet")).parent
    forms = FORMS.read(folder)["program"].to_list()
    nodes = NODES.read(folder).filter(known=KNOWN.index("executed"))
    assert len(nodes) > 500
    for (form,), own in nodes.group_by("form"):
        program = parse(forms[int(str(form))], VIDEO)
        assert isinstance(program, Node)
        words = {name: own[name].to_numpy().astype(np.int64) for name in slots(program)}
        for world in known:
            found = answer(program, world.ask(np.zeros(len(own), np.int64)), words)
            assert (found == own["answer"].to_numpy()).all(), forms[int(str(form))]
