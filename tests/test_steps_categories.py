"""Steps and labels of all 27 templates with every time phrase and reference, as the description tabulates them."""

import pytest

from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.readings.categories import answer_type, categories, steps
from questree.terms import Categories
from worlds.agqa_shapes import TEMPLATES, shapes


def test_all_27_templates_are_here() -> None:
    assert len(TEMPLATES) == 27


@pytest.mark.parametrize("name", TEMPLATES)
def test_steps_are_those_of_the_template_its_time_phrase_and_its_references(name: str) -> None:
    for shape in shapes(name):
        assert steps(shape.node) == shape.steps


@pytest.mark.parametrize("name", TEMPLATES)
def test_labels_are_those_of_the_template_whatever_it_refers_to(name: str) -> None:
    template = TEMPLATES[name]
    wanted = Categories(template.reasoning, template.structural, template.semantic)
    for shape in shapes(name):
        assert categories(shape.node) == wanted
        assert answer_type(shape.node) == ("open" if template.structural == "query" else "binary")


@pytest.mark.parametrize(
    ("program", "count"),
    [
        ("interacting(phone)", 1),
        ("within(interacting(phone), before(opening a door))", 3),
        ("within(interacting(phone), before(longest()))", 4),
        ("within(interacting(phone), between(opening a door, closing a door))", 4),
        ("within(interacting(phone), between(longest(), shortest()))", 6),
        ("interaction(holding, first(touching, whole()))", 2),
        ("interaction(holding, only(objects(touching, whole())))", 2),
        ("within(doing(holding), while(to_action(opening, last(touching, whole()))))", 4),
        # one time phrase, though the program names it twice
        (
            "both(within(interaction(holding, phone), after(opening a door)),"
            " within(interaction(holding, dish), after(opening a door)))",
            5,
        ),
        (
            "but_not(within(interaction(holding, first(touching, whole())), between(opening a door, longest())),"
            " within(interaction(holding, last(touching, whole())), between(opening a door, longest())))",
            9,
        ),
        ("only(annotated(whole()))", 1),
        ("only(objects(holding, whole()))", 2),
        ("equals(phone, first(holding, after(opening a door)))", 5),
        ("choose_first(holding, while(shortest()), phone, last(touching, whole()))", 7),
        ("same_action(opening a door, longer(opening a door, standing up))", 5),
        ("longest()", 2),
        ("action_order(longest(), to_action(opening, first(touching, whole())))", 7),
        ("relation_order(holding, standing up)", 5),
    ],
)
def test_steps_by_hand(program: str, count: int) -> None:
    assert steps(parse(program, VIDEO)) == count
