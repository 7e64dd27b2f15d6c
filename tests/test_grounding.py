"""Every question is grounded in vertices of the scene graph, with spans that are phrases of the question."""

import json
import pickle
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from judges.facts import read
from judges.naive_grounding import Grounded
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.stages.questions import Bank
from questree.tables.run import Run
from worlds import exported_worlds as made
from worlds.small import facts

JUDGED = 60  # questions per template the judge looks at
KITCHEN = """
video A test
frames 0 1 2 3 4 5 6
phone 0-1: holding
dish 3: holding
paper 5: holding
table 0-6: in front of
phone 6: touching
action c104 2 3
action c154 4 5
"""
FRAMES = [f"{30 * at:06d}" for at in range(7)]
HOLDING, LIGHT = "Filter(frame, [relations, holding, objects])", "turning on a light"
FIRST = f"IterateUntil(forward, video, Exists(holding, Filter(frame, [relations])), {HOLDING})"


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, made.Record]:
    """The questions of one video, by program; frame k has the number 30 k."""
    folder = tmp_path_factory.mktemp("kitchen")
    out = made.exported(made.run_of(facts(KITCHEN), folder / "run"), folder / "out", unbalanced=True)
    return {record["program"]: record for record in made.records(out, "unbalanced", "test").values()}


def phrases(record: made.Record) -> dict[str, list[str]]:
    """Phrase, in lower case -> vertices; "" is the time of the whole video where it is not said."""
    spans = {tuple(map(int, span.split("-"))): nodes for span, nodes in record["sg_grounding"].items()}
    found = {record["question"][lo:hi].lower(): nodes for (lo, hi), nodes in spans.items()}
    return {"hold" if phrase in ("held", "holding") else phrase: nodes for phrase, nodes in found.items()}


@pytest.mark.parametrize(
    ("program", "answer", "wanted"),
    [
        (
            "Exists(phone, Iterate(video, Filter(frame, [objects])))",
            "yes",
            {"a phone": ["o24/000000", "o24/000030", "o24/000180"]},
        ),
        ("Exists(bag, Iterate(video, Filter(frame, [objects])))", "no", {"a bag": []}),
        (
            f"Exists(phone, Iterate(Localize(after, {LIGHT}), Filter(frame, [objects])))",
            "yes",
            {"a phone": ["o24/000180"], LIGHT: ["c104/1"], f"after {LIGHT}": FRAMES[4:]},
        ),
        (
            f"Exists(dish, Iterate(Localize(before, {LIGHT}), {HOLDING}))",
            "no",
            {"a dish": [], "hold": [], LIGHT: ["c104/1"], f"before {LIGHT}": FRAMES[:3]},
        ),
        (f"Query(class, OnlyItem({FIRST}))", "phone", {"hold": ["r15/000000"]}),
        (f"Equals(phone, OnlyItem({FIRST}))", "yes", {"a phone": ["o24/000000"], "hold": ["r15/000000"]}),
        (f"Equals(dish, OnlyItem({FIRST}))", "no", {"a dish": [], "hold": []}),
    ],
)
def test_the_phrases_of_a_small_kitchen_point_at_its_frames(
    kitchen: dict[str, made.Record], program: str, answer: str, wanted: dict[str, list[str]]
) -> None:
    record = kitchen[program]
    found = phrases(record)
    whole = {"", "in the video"} & found.keys()  # said or not, according to the frame of the question
    assert record["answer"] == answer
    assert [found.pop(phrase) for phrase in whole] == ([FRAMES] if "video" in program else [])
    assert found == wanted


def test_the_choice_of_an_object_grounds_the_chosen_one_only(kitchen: dict[str, made.Record]) -> None:
    chosen = [record for program, record in kitchen.items() if program.startswith("Choose(") and "video" in program]
    assert chosen
    for record in chosen:
        options = {phrase: nodes for phrase, nodes in phrases(record).items() if phrase.startswith("a ")}
        filled = {phrase for phrase, nodes in options.items() if nodes}
        assert filled <= {f"a {record['answer']}"}
        assert all(len(nodes) <= 1 for nodes in options.values())


def everything(release: Path) -> dict[str, made.Record]:
    return made.records(release, "unbalanced", "train") | made.records(release, "unbalanced", "test")


def test_spans_are_phrases_of_the_question(release: Path) -> None:
    for record in everything(release).values():
        text = record["question"]
        for span in record["sg_grounding"]:
            begin, end = map(int, span.split("-"))  # a negative offset would give three parts
            assert 0 <= begin <= end <= len(text), f"{span} of {text}"
            assert begin == end or text[begin:end].strip() == text[begin:end] != ""


def test_every_vertex_is_in_the_scene_graphs(release: Path) -> None:
    for split in ("train", "test"):
        graphs = pickle.loads((release / "AGQA_scene_graphs" / f"AGQA_{split}_stsgs.pkl").read_bytes())
        for record in made.records(release, "unbalanced", split).values():
            known = graphs[record["video_id"]]
            for nodes in record["sg_grounding"].values():
                assert len(set(nodes)) == len(nodes)
                assert all(node in known for node in nodes), record


def test_the_judge_grounds_questions_of_every_template_alike(random_run: Run, release: Path) -> None:
    bank, known = Bank(random_run), random_run.load("facts")
    judged, exported = read(known), everything(release)
    numbers = [table["number"].to_list() for table in known.frames.partition_by("video", maintain_order=True)]
    names = dict(zip(known.frames["video"].unique(maintain_order=True), numbers, strict=True))
    seen: Counter[str] = Counter()
    for folder in bank.folders():
        shard = bank.shard(folder)
        order = list(range(len(shard.questions)))
        Random(folder.name).shuffle(order)
        left = Counter[int]()
        for at in order:
            code = shard.questions["template"][at]
            left[code] += 1
            if left[code] > JUDGED // 4:
                continue
            question = shard.question(at)
            frames = [f"{number:06d}" for number in names[question.video]]
            wanted = Grounded(question, judged[question.video], frames).expected()
            assert exported[question.id]["sg_grounding"] == wanted, question
            seen[question.template.name] += 1
    assert set(seen) == {template.name for template in TEMPLATES}


def test_a_reference_inside_an_action_has_its_own_span(release: Path) -> None:
    """As in the release: the reference, the action around it, the time phrase around both."""
    inside = [record for record in everything(release).values() if "Localize(while, ToAction(" in record["program"]]
    assert inside
    for record in inside:
        spans = [tuple(map(int, span.split("-"))) for span in record["sg_grounding"]]
        reference, action, time = spans[-3:]
        assert time[0] < action[0] <= reference[0] < reference[1] <= action[1] == time[1]
        nodes = [record["sg_grounding"][f"{lo}-{hi}"] for lo, hi in (reference, action, time)]
        assert nodes[0] and nodes[0][0].startswith("o")
        assert [node.endswith("/1") for node in nodes[1]] == [True]
        assert nodes[2] == sorted(nodes[2])


def test_questions_about_the_longest_action_have_no_spans(release: Path) -> None:
    found = [record for record in everything(release).values() if record["local"] in ("longest", "shortest")]
    assert found and {json.dumps(record["sg_grounding"]) for record in found} == {"{}"}
