"""Every operator of either domain declares all its readings on itself."""

import pytest

from questree.domains.images import IMAGES
from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.readings.categories import categories, steps
from questree.readings.english import english, wordings
from questree.terms import Op

STANDS_FOR_A_WORD = {"noun_of", "to_action", "any_link"}  # the question behind it is another
BY_SECONDS = {"longest", "shortest", "longer", "shorter"}  # compared by their seconds, on no particular frame
OPERATORS = {f"{language.name} {op.name}": op for language in (VIDEO, IMAGES) for op in language.ops.values()}
ASKED = {name: op for name, op in OPERATORS.items() if op.result.askable and op.name not in STANDS_FOR_A_WORD}


@pytest.mark.parametrize("op", ASKED.values(), ids=ASKED)
def test_an_operator_that_can_be_asked_has_english_a_type_and_evidence(op: Op) -> None:
    assert op.ask and op.type
    own, inner = op.rests or op.result.evidence, any(not kind.words or kind.askable for kind in op.params.values())
    assert own or (inner and op.params) or op.name in BY_SECONDS


@pytest.mark.parametrize("op", [op for name, op in OPERATORS.items() if name not in ASKED])
def test_every_other_operator_has_a_phrase(op: Op) -> None:
    assert op.phrase


@pytest.mark.parametrize(
    ("program", "question"),
    [
        ("logic_and(exists(find(cup)), exists(find(man)))", "Is there a cup and a man?"),
        ("logic_or(exists(find(cup)), exists(filter(find(water), cold)))", "Is there a cup or cold water?"),
        ("geq(count(find(cup)), 3)", "Is the number of cups at least 3?"),
        (
            "gt(count_images(unique_images(find(cup))), count(find(man)))",
            "Is the number of images that show a cup greater than the number of men?",
        ),
        ("all(find(cup), filter(scene(), wood))", "Are all of the cups made of wood?"),
        ("none(find(man), with_relation(scene(), find(horse), riding))", "Are none of the men riding a horse?"),
        ("all_same(find(cup), color)", "Do all of the cups share the same color?"),
        ("choose_attr(unique(find(cup)), red, wood)", "Is the cup red or made of wood?"),
        ("query_attr(unique(find(cup)), size)", "What is the size of the cup?"),
        (
            "query_name(unique(with_relation_object(assert_unique(find(man)), scene(), riding)))",
            "What is the man riding?",
        ),
        (
            "choose_name(unique(with_relation_object(assert_unique(find(man)), scene(), riding)), horse, elk)",
            "Is the man riding a horse or an elk?",
        ),
        (
            "choose_relation(query_link(unique_link(relation_between_nouns(unique(find(man)), find(cup)))), near, on)",
            "Is the man near or on a cup?",
        ),
        (
            "same_attr(query_attr(unique(find(cup)), color), query_attr(unique(find(hat)), color))",
            "Is the color of the cup the same as the color of the hat?",
        ),
        (
            "count_images(keys(keep_if_values_count_leq(group_by_images(find(cup)), 2)))",
            "How many images show 1 or 2 cups?",
        ),
    ],
)
def test_questions_about_image_sets_read_so(program: str, question: str) -> None:
    node = parse(program, IMAGES)
    assert english(node) == question
    assert categories(node).structural and steps(node) > 1


def test_things_that_no_reference_describes_have_no_english() -> None:
    with pytest.raises(TypeError, match="no English for the things of scene"):
        wordings(parse("exists(scene())", IMAGES))
