"""The DAGs of sub-questions printed in the paper on decomposition, and the shape every DAG has (11.4, 13.5, 13.10)."""

import re
from collections import defaultdict
from random import Random

import pytest

from judges.facts import WORDS, noun
from judges.naive_scores import ASKED_YES_NO, IGNORED, TIMES
from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.readings.english import english
from questree.readings.parts import decompose, node_type, nodes
from questree.terms import Node, Slot, Word, fill, slots
from worlds.agqa_shapes import Shape, shapes
from worlds.random_worlds import ASKED

LABELS = {"Interaction", "First", "Last", "Equals", "And", "Xor", "Choose", "Longer Choose", "Shorter Choose", *TIMES}
TYPES = IGNORED | ASKED_YES_NO | {"Choose", "Longer Choose", "Shorter Choose", "Object Equals", "Action Equals"}
TYPES |= {"First Object", "Last Object", "Longest Action", "Shortest Action"}

PRINTED = {  # program -> nodes, edges
    "Figure 1": ("equals(phone, first(touching, after(to_action(taking, picture))))", 11, 12),
    "section 3": ("first(touching, whole())", 4, 3),
    "Figure 5": ("within(interaction(holding, doorway), before(grasping onto a doorknob))", 11, 17),
    "Figure 6": ("first(in front of, after(eating some food))", 9, 10),
    "Figure 7": ("equals(clothes, first(above, whole()))", 6, 5),
    "Figure 9": ("relation_order(putting down, to_action(sitting on, last(standing on, whole())))", 10, 12),
    "Figure 10": ("within(interacting(phone), before(shortest()))", 9, 14),
    "Figure 11": ("longer(sitting at a table, drinking from a cup)", 8, 8),
    "Figure 12": ("within(interaction(turning, light), after(to_action(sitting on, chair)))", 11, 17),
}
Dag = dict[str, dict[str, list[str]]]  # question -> composition -> sub-questions

FIGURE_1: Dag = {
    "Is a phone the first object that the person is touching after taking a picture?": {
        "Equals": [
            "Does a phone exist?",
            "What is the first object that the person is touching after taking a picture?",
        ]
    },
    "What is the first object that the person is touching after taking a picture?": {
        "First": ["What is the person touching after taking a picture?"]
    },
    "What is the person touching after taking a picture?": {
        "Interaction": [
            "Does a person exist after taking a picture?",
            "Is a person touching something after taking a picture?",
        ]
    },
    "Does a person exist after taking a picture?": {
        "After": ["Does a person exist?", "Is the person taking a picture?"]
    },
    "Is a person touching something after taking a picture?": {
        "After": ["Is the person touching something?", "Is the person taking a picture?"]
    },
    "Is the person taking a picture?": {
        "Interaction": ["Does a person exist?", "Is the person taking something?", "Does a picture exist?"]
    },
}
SECTION_3: Dag = {
    "What is the first object that the person is touching?": {"First": ["What is the person touching?"]},
    "What is the person touching?": {"Interaction": ["Does a person exist?", "Is the person touching something?"]},
}
BEFORE = "before grasping onto a doorknob?"
GRASPING = "Is the person grasping onto a doorknob?"
FIGURE_5: Dag = {
    f"Is the person holding a doorway {BEFORE}": {
        "Before": ["Is the person holding a doorway?", GRASPING],
        "Interaction": [
            f"Does a person exist {BEFORE}",
            f"Is the person holding something {BEFORE}",
            f"Does a doorway exist {BEFORE}",
        ],
    },
    "Is the person holding a doorway?": {
        "Interaction": ["Does a person exist?", "Is the person holding something?", "Does a doorway exist?"]
    },
    GRASPING: {"Interaction": ["Does a person exist?", "Is the person grasping something?", "Does a doorknob exist?"]},
    f"Does a person exist {BEFORE}": {"Before": ["Does a person exist?", GRASPING]},
    f"Is the person holding something {BEFORE}": {"Before": ["Is the person holding something?", GRASPING]},
    f"Does a doorway exist {BEFORE}": {"Before": ["Does a doorway exist?", GRASPING]},
}
FIGURE_7: Dag = {
    "Was some clothes the first object that they are above?": {
        "Equals": ["Does some clothes exist?", "Which is the first object that the person is above?"]
    },
    "Which is the first object that the person is above?": {"First": ["What is the person above?"]},
    "What is the person above?": {"Interaction": ["Does a person exist?", "Is a person above something?"]},
}
LONGER = "Was the person sitting at a table or drinking from a cup for a longer amount of time?"
FIGURE_11: Dag = {  # the choice as printed; the paper does not print what is below its two parts
    LONGER: {"Longer Choose": ["Is the person sitting at a table?", "Is the person drinking from a cup?"]},
    "Is the person sitting at a table?": {
        "Interaction": ["Does a person exist?", "Is the person sitting on something?", "Does a table exist?"]
    },
    "Is the person drinking from a cup?": {
        "Interaction": ["Does a person exist?", "Is the person drinking from something?", "Does a cup exist?"]
    },
}
WORD_BY_WORD = {
    "Figure 1": FIGURE_1,
    "section 3": SECTION_3,
    "Figure 5": FIGURE_5,
    "Figure 7": FIGURE_7,
    "Figure 11": FIGURE_11,
}


def normal(text: str) -> str:
    """The figures mix words (13.10): a person, the person and they; which and what; is and was; plurals are ours."""
    text = text.lower().replace("they are", "the person is").replace("a person", "the person")
    text = re.sub(r"^do\b", "does", re.sub(r"\bwhich\b", "what", text))
    return re.sub(r"^(was|are)\b", "is", text)


def dag(node: Node) -> Dag:
    found: Dag = defaultdict(lambda: defaultdict(list))
    for parent, label, part in decompose(node, WORDS):
        found[normal(english(parent, WORDS))][label].append(normal(english(part, WORDS)))
    return {parent: dict(edges) for parent, edges in found.items()}


def normalised(printed: Dag) -> Dag:
    return {
        normal(parent): {label: [normal(part) for part in parts] for label, parts in edges.items()}
        for parent, edges in printed.items()
    }


@pytest.mark.parametrize("figure", PRINTED)
def test_a_printed_dag_has_as_many_nodes_and_edges(figure: str) -> None:
    program, count, edges = PRINTED[figure]
    node = parse(program, VIDEO)
    assert len(nodes(node, WORDS)) == count
    assert len(decompose(node, WORDS)) == edges
    assert len({english(part, WORDS) for part in nodes(node, WORDS)}) == count, "one node per text"


@pytest.mark.parametrize("figure", WORD_BY_WORD)
def test_a_printed_dag_agrees_node_by_node_and_edge_by_edge(figure: str) -> None:
    assert dag(parse(PRINTED[figure][0], VIDEO)) == normalised(WORD_BY_WORD[figure])


def test_between_asks_after_the_one_and_before_the_other() -> None:
    node = parse("within(doing(holding), between(opening a door, closing a door))", VIDEO)
    assert [(label, english(part, WORDS)) for parent, label, part in decompose(node, WORDS) if parent == node] == [
        ("Between", "Is the person holding something after opening a door?"),
        ("Between", "Is the person holding something before closing a door?"),
    ]


def test_an_action_without_object_only_needs_a_person() -> None:
    node = parse("happening(standing up)", VIDEO)
    assert node_type(node, WORDS) == "Relation Exists"
    assert dag(node) == {"is the person standing up?": {"Interaction": ["does the person exist?"]}}


def test_an_actions_third_sub_question_names_the_noun_of_its_phrase() -> None:
    found = dag(parse("happening(holding a book)", VIDEO))["is the person holding a book?"]
    assert found == {
        "Interaction": [
            normal(t) for t in ("Does a person exist?", "Is the person holding something?", "Does a book exist?")
        ]
    }


def test_the_longest_action_before_or_after_another_has_no_parts_of_its_own() -> None:
    found = dag(parse("action_order(longest(), opening a door)", VIDEO))
    longest = "what does the person do for the longest amount of time?"
    assert found["is the person doing the longest action before opening a door?"] == {
        "Before": [longest, "is the person opening a door?"]
    }
    assert longest not in found


@pytest.mark.parametrize("program", ["longest()", "shortest()", "doing(holding)", "action_after(whole())"])
def test_questions_without_a_dag_stand_alone(program: str) -> None:
    assert decompose(parse(program, VIDEO), WORDS) == []


def sample(count: int) -> list[Shape]:
    return Random(3).sample(list(shapes()), count)


def test_every_dag_has_the_shape_the_published_tables_show() -> None:
    for shape in sample(600):
        children: dict[Node, list[str]] = defaultdict(list)
        for parent, label, _ in decompose(shape.node, WORDS):
            children[parent].append(label)
        for node in nodes(shape.node, WORDS):
            kind, labels = node_type(node, WORDS), children[node]
            assert kind in TYPES
            assert LABELS.issuperset(labels)
            subject, _, time = kind.partition(" ")
            if time in TIMES and subject in ("Exists", "Interaction"):
                paired = labels.count("Interaction")
                assert labels.count(time) == 2 and len(labels) == 2 + paired
                assert paired == 0 if subject == "Exists" else paired in (2, 3)
            if kind in ("Object Exists", "Longest Action", "Shortest Action") or node.op.name == "doing":
                assert labels == []


def test_a_dag_with_its_slots_filled_is_the_dag_of_the_filled_question() -> None:
    random = Random(5)
    for shape in sample(300):
        words = {name: some_word(random, slot) for name, slot in slots(shape.node).items()}
        filled = fill(shape.node, words)
        assert isinstance(filled, Node)
        first = [(label, english(as_node(fill(part, words)), WORDS)) for _, label, part in decompose(shape.node, WORDS)]
        second = [(label, english(part, WORDS)) for _, label, part in decompose(filled, WORDS)]
        assert sorted(set(first)) == sorted(set(second))


def some_word(random: Random, slot: Slot) -> Word:
    pool = list(ASKED[slot.kind.name])
    if slot.kind.name == "action":
        pool = [deed for deed in pool if bool(noun(deed)) != slot.alone]
    return Word(random.choice(pool), slot.kind)


def as_node(term: object) -> Node:
    assert isinstance(term, Node)
    return term
