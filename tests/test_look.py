"""What is drawn of a DAG: each shard's DAGs by themselves, errors pink, contradictions blue."""

from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from questree.show.cards import Branch, Cards, markup, notebook, script
from questree.show.colours import CONTRADICTION, ERROR, sheet
from questree.show.dag import Dag, Opened
from questree.show.judged import Judged, judged, quoted, reason
from questree.show.outline import outlined
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
    picture = ElementTree.fromstring(outlined(one[1], found))
    lines = [line.get("stroke") for line in picture.iter(f"{SVG}line")]
    assert lines.count(ERROR) == 2 * len(found.error_path) == 2  # down, and right
    assert lines.count(CONTRADICTION) == 2 * len(found.contradiction) > 0
    assert [box.get("stroke") for box in picture.iter(f"{SVG}rect")].count(ERROR) == 2
    assert "model: <b> ✗" in [text.text for text in picture.iter(f"{SVG}text")]
    assert ERROR not in outlined(one[1])


def branches(of: Branch) -> list[Branch]:
    return [of, *(each for part in of.parts for each in branches(part))]


def test_where_no_script_runs_every_sub_question_is_in_an_indented_list(one: tuple[Opened, Dag]) -> None:
    found = judge(one, {BEFORE: "<b>", EXISTS_BEFORE: "no"})
    listed = branches(Cards.of(one[1], found).tree)
    assert [each.node for each in listed if not each.again].count(0) == 1
    assert sorted(each.node for each in listed if not each.again) == list(range(len(one[1].rows)))
    pairs = {(parent.node, part.node, part.error) for parent in listed for part in parent.parts}
    assert {(a, b) for a, b, _ in pairs} == set(found.edges)
    assert {(a, b) for a, b, error in pairs if error} == found.error_path
    html = markup(one[1], found, {})
    assert html.count('class="node"') == len(one[1].rows) and html.count("<ul>") == html.count("</ul>") > 1
    assert "&lt;b&gt; ✗" in html and "<b>" not in html and "<script" not in html


def test_a_cell_of_a_notebook_needs_nothing_else(one: tuple[Opened, Dag]) -> None:
    cell = notebook(one[1], None, {})
    assert (cell.count("<script>"), cell.count("</script>"), cell.count("<style>")) == (1, 1, 1)
    assert "Copyright (c) 2012-2014 Chris Pettitt" in cell
    assert not [line for line in script().splitlines() if line.startswith(("import ", "export ", "//# source"))]


@pytest.mark.parametrize("seed", range(40))
def test_the_sentence_names_every_origin_that_the_picture_shows(one: tuple[Opened, Dag], seed: int) -> None:
    chance = Random(seed)
    said = {row["text"]: chance.choice([row["answer"], row["answer"], "no", "strange", None]) for row in one[1].rows}
    found = judge(one, said)
    told = reason(one[1], found)
    for node in found.origins:
        assert quoted(one[1], found, node) in told or (node == 0 and "last step" in told)


def test_of_parts_that_cannot_be_judged_nothing_is_said(one: tuple[Opened, Dag]) -> None:
    parts = {part for _, part in one[1].edges[0]}
    said: dict[str, str | None] = {one[1].rows[part]["text"]: None for part in parts}
    found = judge(one, said | {BEFORE: "no"})
    assert reason(one[1], found).startswith("The question is answered wrong, and no part of it can be judged (")


def test_colours_are_variables_for_light_and_dark() -> None:
    assert sheet().count(f"--error: {ERROR};") == 1
    assert sheet().count("--error: ") == 2
