"""Answers by rules alone: what follows is true, what contradicts is told, and nothing unsound is used (13.9)."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import copy
from judges.facts import WORDS
from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.rules import VIDEO_DAGS
from questree.rules.entail import allowed, coded, conclusions
from questree.stages.decompose.columns import form_table, node_table
from questree.stages.decompose.dag_shards import Decomposed, DecomposeOptions, decompose
from questree.stages.decompose.expand import Batch, Block, expand
from questree.stages.decompose.propagate import GIVEN, NOT_KNOWN, Propagation, Teller
from questree.stages.decompose.spoken import Texts, say
from questree.tables.nodes import KNOWN
from questree.tables.run import Run
from questree.terms import UNKNOWN, Array
from worlds.decomposed import FORMS, in_memory, shards

NO, YES, OPEN = 0, 1, UNKNOWN


@pytest.fixture(scope="module")
def dags(asked_run: Run) -> list[Decomposed]:
    return in_memory(asked_run)


def executed(found: Decomposed) -> Array:
    return np.asarray(found.tables["nodes"]["answer"].cast(pl.Int16).fill_null(UNKNOWN).to_numpy())


def given(found: Decomposed, every: int = 1) -> Propagation:
    """What follows from the answers of the questions, or of some of them."""
    tops = found.tables["tops"]["node"].to_numpy().astype(np.int64)[::every]
    return Propagation.of(FORMS, found.blocks, tops, executed(found)[tops]).run()


@pytest.mark.parametrize("every", [1, 10, 100])
def test_what_rules_say_is_what_execution_says(dags: list[Decomposed], every: int) -> None:
    entailed = 0
    for found in dags:
        made, truth = given(found, every), executed(found)
        known = made.answers != UNKNOWN
        assert (made.answers[known] == truth[known]).all()
        assert made.contradictions == []
        entailed += int((known & (made.by != GIVEN)).sum())
    assert entailed > 300


def test_every_derived_answer_rests_on_questions(dags: list[Decomposed]) -> None:
    made = given(dags[0], every=10)
    derived = np.flatnonzero((made.by != GIVEN) & (made.by != NOT_KNOWN))
    for node in derived[:: max(len(derived) // 200, 1)].tolist():
        steps = made.derivation(node)
        assert steps[0][0] == node and steps[0][1] == made.answers[node]
        assert made.premises(node), "something was known before"
        assert all(made.when[at] < made.when[node] for at, *_ in steps[1:])
        assert any(by == GIVEN for *_, by in steps)


def concluded(label: str, *states: int) -> list[int]:
    """What the members of a composition must be, the parent first."""
    table, clash = conclusions(VIDEO_DAGS.rules[label], len(states))
    code = int(coded(np.array([states]))[0])
    assert not clash[code]
    return [int(answer) for answer in table[code]]


def test_contrapositives_follow_from_the_rule_as_it_is_written_once() -> None:
    assert concluded("Interaction", YES, OPEN, OPEN, OPEN) == [YES, YES, YES, YES]
    assert concluded("Interaction", OPEN, YES, NO, OPEN) == [NO, YES, NO, OPEN]
    assert concluded("Interaction", NO, YES, YES, OPEN) == [NO, YES, YES, OPEN], "no says nothing about parts"
    assert concluded("Interaction", OPEN, YES, YES, YES) == [OPEN, YES, YES, YES], "only one way"
    assert concluded("And", NO, YES, OPEN) == [NO, YES, NO]
    assert concluded("And", OPEN, YES, YES) == [YES, YES, YES]
    assert concluded("Xor", YES, OPEN, OPEN) == [YES, YES, NO]
    assert concluded("Xor", NO, YES, OPEN) == [NO, YES, YES]
    assert concluded("Xor", NO, OPEN, NO) == [NO, NO, NO]
    assert concluded("Xor", OPEN, OPEN, YES) == [NO, OPEN, YES]
    assert concluded("Equals", YES, OPEN, OPEN) == [YES, YES, YES]
    assert concluded("Equals", OPEN, NO, OPEN) == [NO, NO, NO]
    assert concluded("Equals", NO, OPEN, OPEN) == [NO, OPEN, NO]
    assert concluded("Choose", YES, OPEN, OPEN) == [YES, YES, NO]
    assert concluded("Choose", OPEN, NO, OPEN) == [NO, NO, YES]


def test_between_is_never_yes_because_both_sides_are(dags: list[Decomposed]) -> None:
    assert concluded("Between", OPEN, YES, YES) == [OPEN, YES, YES]
    assert concluded("Between", NO, YES, OPEN) == [NO, YES, OPEN], "and a no says nothing about a side"
    assert concluded("Between", OPEN, NO, OPEN) == [NO, NO, OPEN]
    between, both = (allowed(VIDEO_DAGS.rules[label], 3) for label in ("Between", "And"))
    assert between[NO, YES, YES] and not both[NO, YES, YES]


def one(text: str) -> tuple[list[Block], dict[str, int]]:
    """A program's DAG in one video: its blocks, and its nodes by their text."""
    form, origins = FORMS.canonical(parse(text, VIDEO))
    zero = np.zeros(1, np.int64)
    blocks, _ = expand(FORMS, [Batch(form, zero, tuple(FORMS.column(o, {}, 1) for o in origins), zero)], 1)
    return blocks, {text: at for at, text in enumerate(words(blocks)["text"])}


def words(blocks: list[Block], answers: Array | None = None) -> pl.DataFrame:
    total = sum(map(len, blocks))
    answers = np.full(total, UNKNOWN) if answers is None else answers
    nodes = node_table(blocks, answers, np.zeros(total, np.uint8), 0)
    return say(form_table(blocks), nodes, Texts(WORDS))


def follows(text: str, known: dict[str, int]) -> dict[str, str]:
    """Everything that follows from some answers, in words."""
    blocks, at = one(text)
    nodes = np.array([at[question] for question in known])
    made = Propagation.of(FORMS, blocks, nodes, np.array(list(known.values()), np.int16)).run()
    said = words(blocks, made.answers)
    found = dict(zip(said["text"], said["answer"], strict=True))
    return {text: answer for text, answer in found.items() if answer is not None and text not in known}


FIRST = "Which is the first object that the person is touching?"
IS_FIRST = "Is a phone the first object that the person is touching?"


def test_equals_yes_tells_the_open_question_and_that_the_object_is_there() -> None:
    program = "equals(phone, first(touching, whole()))"
    assert follows(program, {IS_FIRST: YES}) == {FIRST: "phone", "Does a phone exist?": "yes"}
    assert follows(program, {IS_FIRST: NO}) == {}, "which object it is instead, nobody knows"
    assert follows(program, {FIRST: WORDS.object_at["phone"]}) == {IS_FIRST: "yes", "Does a phone exist?": "yes"}
    assert follows(program, {FIRST: WORDS.object_at["dish"]}) == {IS_FIRST: "no"}
    assert follows(program, {"Does a phone exist?": NO}) == {IS_FIRST: "no"}


def test_equals_over_all_objects_says_nothing_about_the_open_question() -> None:
    question = "Is a phone an object that the person is touching?"
    assert follows("among(phone, objects(touching, whole()))", {question: YES}) == {}


def test_a_choice_answers_both_its_sides() -> None:
    program = "choose_first(touching, whole(), phone, dish)"
    question = "Is a phone or a dish the first object that the person is touching?"
    found = follows(program, {question: WORDS.object_at["dish"]})
    assert found == {
        IS_FIRST: "no",
        "Is a dish the first object that the person is touching?": "yes",
        FIRST: "dish",
        "Does a dish exist?": "yes",
    }


def test_a_question_in_a_time_tells_what_happens_at_all() -> None:
    found = follows(
        "within(interaction(holding, dish), before(standing up))",
        {"Is the person holding a dish before standing up?": YES},
    )
    assert set(found.values()) == {"yes"}
    assert len(found) == 8  # all nodes but the question itself
    assert (
        follows(
            "within(interaction(holding, dish), before(standing up))",
            {"Is the person holding a dish before standing up?": NO},
        )
        == {}
    ), "a no in a time says nothing about the whole video"


def test_a_contradiction_is_told_with_both_derivations() -> None:
    top, part = "Is the person holding a dish before standing up?", "Does a dish exist?"
    blocks, at = one("within(interaction(holding, dish), before(standing up))")
    made = Propagation.of(FORMS, blocks, np.array([at[top], at[part]]), np.array([YES, NO], np.int16)).run()
    assert made.answers[at[top]] == YES and made.answers[at[part]] == NO, "nothing that was given is overwritten"
    assert made.contradictions
    nodes = node_table(blocks, made.answers, np.zeros(len(at), np.uint8), 0)
    lines = Teller(form_table(blocks), nodes, Texts(WORDS), ["V"]).derived(made)
    assert len(lines) == len(made.contradictions)
    assert all(line.startswith("video V: ") for line in lines)
    assert any(f"{top} yes (asked)" in line and f"{part} no (asked)" in line for line in lines)


def test_two_given_answers_that_differ_are_a_contradiction() -> None:
    blocks, at = one("within(doing(holding), before(standing up))")
    node = at["Is the person holding something?"]
    made = Propagation.of(FORMS, blocks, np.array([node, node]), np.array([YES, NO], np.int16)).run()
    assert [(clash.node, clash.answer, clash.other) for clash in made.contradictions] == [(node, YES, NO)]


def test_without_execution_a_run_knows_what_was_asked_and_what_follows(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    questions = pl.concat([pl.read_parquet(path) for path in sorted(run.questions.glob("*/questions.parquet"))])
    run.balanced.mkdir()
    questions.select("video", "number").gather_every(31).write_parquet(run.balanced / "balanced.parquet")
    pool = ThreadPoolExecutor(1)
    summary = decompose(run, DecomposeOptions(balanced=True, rules_only=True), pool=pool)
    found = {name: sum(counts[name] for counts in summary.types.values()) for name in KNOWN}
    assert summary.contradictions == [] and found["executed"] == found["undefined"] == found["not said"] == 0
    assert found["asked"] > summary.questions, "questions that were not selected answer sub-questions"
    assert found["entailed"] > 0 and found["unknown"] > 0
    nodes = pl.concat([pl.read_parquet(folder / "nodes.parquet") for folder in shards(run)])
    assert (nodes["answer"].is_null() == (nodes["known"] == KNOWN.index("unknown"))).all()
    for folder in shards(run):
        own, edges = (pl.read_parquet(folder / f"{name}.parquet") for name in ("nodes", "edges"))
        below = set(pl.read_parquet(folder / "tops.parquet")["node"])
        while more := set(edges.filter(pl.col("parent").is_in(below))["child"]) - below:
            below |= more
        assert below == set(range(len(own))) and set(edges["parent"]) <= below, "only what a DAG has is stored"
    assert len(nodes) == summary.nodes
    decompose(run, DecomposeOptions(rules_only=True), pool=ThreadPoolExecutor(1))
    every = pl.concat([pl.read_parquet(folder / "nodes.parquet") for folder in shards(run)])
    assert len(nodes) < len(every)
    assert len(nodes.join(every, on=nodes.columns, how="semi", nulls_equal=True)) == len(nodes)
