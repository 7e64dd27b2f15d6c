"""What is drawn of a DAG: each shard's DAGs by themselves, errors pink, contradictions blue."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from questree.show.colours import CONTRADICTION, ERROR, sheet
from questree.show.dag import Dag, Opened
from questree.show.drawing import drawn
from questree.show.judged import Judged, judged
from questree.show.video_view import VideoView
from questree.stages.decompose.hierarchies import shards
from worlds.decomposed import Stored
from worlds.served import served_run

SVG = "{http://www.w3.org/2000/svg}"
BEFORE = "Is the person interacting with a blanket before standing up?"
EXISTS_BEFORE, EXISTS = "Does a blanket exist before standing up?", "Does a blanket exist?"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> VideoView:
    return VideoView(served_run(tmp_path_factory.mktemp("looked") / "run"))


@pytest.fixture(scope="module")
def folders(view: VideoView) -> list[Path]:
    return shards(view.run)


@pytest.fixture(scope="module")
def one(view: VideoView, folders: list[Path]) -> tuple[Opened, Dag]:
    """The DAG about the blanket."""
    at = Stored.read(folders[0]).nodes["text"].to_list().index(BEFORE)
    alone = view.opened(folders[0].name).only(at)
    return alone, view.dag(alone)


def judge(one: tuple[Opened, Dag], wrong: dict[str, str | None]) -> Judged:
    shard, dag = one
    said = [wrong.get(row["text"], row["answer"]) for row in dag.rows]
    return judged(dag, shard, "model", said)


def named(dag: Dag, edges: set[tuple[int, int]]) -> set[tuple[str, str]]:
    return {(dag.rows[a]["text"], dag.rows[b]["text"]) for a, b in edges}


def test_every_question_alone_has_the_dag_it_has_among_all(view: VideoView, folders: list[Path]) -> None:
    for folder in folders:
        stored, whole = Stored.read(folder), view.opened(folder.name)
        for node in stored.tops["node"][::13]:
            dag = view.dag(whole.only(node))
            text = [row["text"] for row in dag.rows]
            assert text[0] == stored.nodes["text"][node]
            edges = {(text[a], label, text[b]) for a, parts in dag.edges.items() for label, b in parts}
            assert edges == stored.dag(node)
            assert sorted(row["answer"] or "" for row in dag.rows) == sorted(
                stored.nodes["answer"][below] or "" for below in stored.below(node)
            )


def test_an_error_is_followed_down_to_where_it_begins(one: tuple[Opened, Dag]) -> None:
    found = judge(one, {BEFORE: "no", EXISTS_BEFORE: "no", EXISTS: "no"})
    assert named(one[1], found.error_path) == {(BEFORE, EXISTS_BEFORE), (EXISTS_BEFORE, EXISTS)}
    assert [one[1].rows[node]["text"] for node in found.origins] == [EXISTS]


def test_a_contradiction_needs_no_truth(one: tuple[Opened, Dag]) -> None:
    found = judge(one, {EXISTS_BEFORE: "no"})
    assert named(one[1], found.contradiction) == {(BEFORE, EXISTS_BEFORE)}
    assert [broken.rule for broken in found.broken] == ["Interaction Yes", "Interaction No"]
    assert found.broken[0].meaning == "a yes needs every sub-question to be yes"


def test_no_answer_is_neither_right_nor_wrong_and_contradicts_nothing(one: tuple[Opened, Dag]) -> None:
    found = judge(one, {row["text"]: None for row in one[1].rows})
    assert set(found.right) == {None}
    assert (found.error_path, found.broken, found.origins) == (set(), [], [])


def test_the_picture_of_a_model_is_pink_where_it_errs_and_blue_where_it_clashes(one: tuple[Opened, Dag]) -> None:
    found = judge(one, {BEFORE: "<b>", EXISTS_BEFORE: "no"})
    picture = ElementTree.fromstring(drawn(one[1], found))
    lines = [line.get("stroke") for line in picture.iter(f"{SVG}line")]
    assert lines.count(ERROR) == len(found.error_path) == 1
    assert lines.count(CONTRADICTION) == len(found.contradiction) > 0
    assert [box.get("stroke") for box in picture.iter(f"{SVG}rect")].count(ERROR) == 2
    assert "model: <b> ✗" in [text.text for text in picture.iter(f"{SVG}text")]
    assert ERROR not in drawn(one[1])


def test_colours_are_variables_for_light_and_dark() -> None:
    assert sheet().count(f"--error: {ERROR};") == 1
    assert sheet().count("--error: ") == 2
