"""English: every question can be asked, filled patterns read like rendered questions, and one text means one thing."""

from pathlib import Path
from random import Random

import pytest

from judges.contradictions import Blank
from judges.facts import ACTIONS, OBJECTS, RELATIONS, WORDS, counted, folded, merged, noun, pair
from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.readings.english import english, wordings
from questree.readings.parts import nodes
from questree.terms import ACTION, OBJECT, RELATION, Node, Slot, Word, fill, slots
from questree.vocabulary import load
from worlds.agqa_rows import USED
from worlds.agqa_shapes import TEMPLATES, shapes
from worlds.random_worlds import ASKED, POSITIONS

SPOKEN_OF = {"noun_of", "to_action"}  # they stand for a word, the question behind them is another


def text(program: str) -> str:
    return english(parse(program, VIDEO), WORDS)


def test_every_operator_that_can_be_asked_has_a_question_and_the_others_a_phrase() -> None:
    for op in VIDEO.ops.values():
        if op.result.askable and op.name not in SPOKEN_OF:
            assert op.ask, op.name
        else:
            assert op.phrase, op.name


@pytest.mark.parametrize(
    ("program", "question"),
    [
        ("exists(person)", "Does a person exist?"),
        ("exists(food)", "Does some food exist?"),
        ("exists(floor)", "Does the floor exist?"),
        ("exists(hair)", "Does some hair exist?"),
        ("exists(clothes)", "Does some clothes exist?"),
        ("equals(clothes, first(holding, whole()))", "Is some clothes the first object that the person is holding?"),
        (
            "among(bag, objects(in, between(c008, c006)))",
            "Is a bag an object that the person is in, between opening a door and closing a door?",
        ),
        (
            "among(clothes, objects(holding, after(opening a door)))",
            "Is some clothes an object that the person is holding after opening a door?",
        ),
        ("happening(c051)", "Is the person watching something on a laptop?"),
        ("doing(holding)", "Is the person holding something?"),
        ("doing(laughing at)", "Is the person laughing at some object?"),
        ("doing(interacting with)", "Is the person interacting with something?"),
        ("interaction(lying on, floor)", "Is the person lying on the floor?"),
        (
            "interaction(holding, first(touching, whole()))",
            "Is the person holding the object they were touching first?",
        ),
        ("interaction(having it on the back, bag)", "Is the person carrying a bag on their back?"),
        ("doing(having it on the back)", "Is the person carrying something on their back?"),
        ("interacting(clothes)", "Is the person interacting with some clothes?"),
        ("happening(turning on a light)", "Is the person turning on a light?"),
        ("within(exists(dish), before(opening a door))", "Does a dish exist before opening a door?"),
        ("within(doing(in), while(longest()))", "Is the person in something while doing the longest action?"),
        (
            "within(doing(in), between(opening a door, standing up))",
            "Is the person in something between opening a door and standing up?",
        ),
        ("only(objects(behind, whole()))", "What is the person behind?"),
        ("only(annotated(after(standing up)))", "What is the person interacting with after standing up?"),
        (
            "first(in front of, after(standing up))",
            "Which is the first object that the person is in front of after standing up?",
        ),
        ("equals(medicine, last(holding, whole()))", "Is some medicine the last object that the person is holding?"),
        (
            "choose_first(holding, whole(), dish, food)",
            "Is a dish or some food the first object that the person is holding?",
        ),
        (
            "both(interaction(holding, dish), interaction(holding, bag))",
            "Is the person holding a dish and holding a bag?",
        ),
        (
            "but_not(interaction(holding, dish), interaction(holding, bag))",
            "Is the person holding a dish but not holding a bag?",
        ),
        (  # Table 2 of AGQA-Decomp
            "both(within(interaction(putting down, clothes), before(c097)), "
            "within(interaction(behind, book), before(c097)))",
            "Is the person putting down some clothes and behind a book before walking through a doorway?",
        ),
        (  # Table 1
            "both(within(interaction(in front of, mirror), while(c096)), "
            "within(interaction(behind, table), while(c096)))",
            "Is the person in front of a mirror and behind a table while watching something in a mirror?",
        ),
        (
            "but_not(within(interaction(holding, dish), before(c097)), within(interaction(holding, bag), after(c097)))",
            "Is the person holding a dish before walking through a doorway "
            "but not holding a bag after walking through a doorway?",
        ),
        ("longest()", "What does the person do for the longest amount of time?"),
        (
            "longer(standing up, opening a door)",
            "Was the person standing up or opening a door for a longer amount of time?",
        ),
        (
            "same_action(standing up, shorter(standing up, opening a door))",
            "Was the person standing up for a shorter amount of time than opening a door?",
        ),
        ("action_order(standing up, opening a door)", "Is the person standing up before or after opening a door?"),
        (
            "object_order(last(behind, whole()), longest())",
            "Is the person interacting with the object they were behind last before or after doing the longest action?",
        ),
    ],
)
def test_questions_by_hand(program: str, question: str) -> None:
    assert text(program) == question


@pytest.mark.parametrize(
    ("program", "question"),
    [
        ("exists(person)", "Is the person there?"),
        ("within(exists(person), while(yawning))", "Is the person there while yawning?"),
        ("exists(soup)", "Does any soup exist?"),  # what the evaluation of AGQA-Decomp looks for
        ("within(exists(soup), after(yawning))", "Is there any soup after yawning?"),
        ("within(exists(fridge), before(yawning))", "Is the fridge there before yawning?"),
        ("within(exists(fingers), before(yawning))", "Are their fingers there before yawning?"),
        (
            "within(exists(last(holding, whole())), after(yawning))",
            "Is the object they were holding last there after yawning?",
        ),
    ],
)
def test_other_vocabularies_ask_whether_something_is_there(program: str, question: str) -> None:
    words = load(Path(__file__).parents[1] / "examples/cooking/vocabulary.toml")
    assert english(parse(program, VIDEO), words) == question
    assert words.existence == "there" and WORDS.existence == "exist"


def test_relations_without_a_verb_are_told_with_were() -> None:
    assert wordings(parse("relation_order(behind, opening a door)", VIDEO), WORDS) == [
        "Is the person behind something before or after opening a door?",
        "Were they behind something before or after opening a door?",
    ]
    assert "Does the first thing they were behind exist?" in wordings(
        parse("exists(first(behind, whole()))", VIDEO), WORDS
    )


def test_there_are_several_ways_to_ask() -> None:
    ways = wordings(parse("relation_order(holding, opening a door)", VIDEO), WORDS)
    assert ways == [
        "Is the person holding something before or after opening a door?",
        "Did they hold something before or after opening a door?",
    ]
    ways = wordings(parse("within(doing(holding), between(standing up, opening a door))", VIDEO), WORDS)
    assert ways == [
        "Is the person holding something between standing up and opening a door?",
        "Is the person holding something before opening a door but after standing up?",
    ]
    assert "Is the person above the first thing they held?" in wordings(
        parse("interaction(above, first(holding, whole()))", VIDEO), WORDS
    )


def test_the_frame_number_picks_a_wording_and_wraps_around() -> None:
    node = parse("interacting(phone)", VIDEO)
    ways = wordings(node, WORDS)
    assert len(ways) == 2
    assert [english(node, WORDS, frame) for frame in range(4)] == ways * 2


def words(random: Random, node: Node) -> dict[str, Word]:
    return {name: Word(random.choice(pool(slot)), slot.kind) for name, slot in slots(node).items()}


def pool(slot: Slot) -> list[str]:
    found = list(ASKED[slot.kind.name])
    if slot.kind == RELATION:
        return [word for word in found if word in USED]
    return [word for word in found if bool(noun(word)) != slot.alone] if slot.kind == ACTION else found


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_pattern_with_its_slots_filled_is_the_rendered_question(template: str) -> None:
    random = Random(template)
    for shape in random.sample(found := list(shapes(template)), min(12, len(found))):
        chosen = words(random, shape.node)
        blanks = {name: Blank(word.kind, POSITIONS[word.kind.name][word.name]) for name, word in chosen.items()}
        for part in nodes(shape.node, WORDS):
            filled = fill(part, chosen)
            assert isinstance(filled, Node)
            rendered = wordings(filled, WORDS)
            assert list(dict.fromkeys(way.format(**blanks) for way in wordings(part, WORDS))) == rendered
            assert all(
                way[0].isupper() and way.endswith("?") and "{" not in way and "  " not in way for way in rendered
            )


KEPT = [Word(name, ACTION) for name in ACTIONS if counted(name) == name]
RELATED = [Word(name, RELATION) for name, word in RELATIONS.items() if word.group != "derived" and folded(name) == name]


def happenings() -> dict[str, str]:
    return {english(VIDEO.ops["happening"](word), WORDS): word.name for word in KEPT}


def test_actions_have_different_questions() -> None:
    assert len(happenings()) == len(KEPT) == 141


def test_no_question_about_a_relation_reads_like_one_about_an_action() -> None:
    asked = {english(VIDEO.ops["doing"](word), WORDS) for word in RELATED}
    assert len(asked) == len(RELATED)
    assert not asked & happenings().keys()
    assert text("doing(laughing at)") != text("happening(c149)") == "Is the person laughing at something?"
    assert text("doing(smiling at)") != text("happening(c152)") == "Is the person smiling at something?"


def test_an_interaction_that_reads_like_an_action_is_about_its_pair() -> None:
    """Then the two are one sub-question, answered from the pair (13.2)."""
    alike, texts = 0, happenings()
    for relation in RELATED:
        for name in OBJECTS:
            action = texts.get(english(VIDEO.ops["interaction"](relation, Word(name, OBJECT)), WORDS))
            assert action is None or pair(action) == (relation.name, merged(name))
            alike += action is not None
    assert alike > 50


def test_object_questions_end_in_the_bare_name_that_is_also_the_answer() -> None:
    for name, word in OBJECTS.items():
        assert english(VIDEO.ops["exists"](Word(name, OBJECT)), WORDS).endswith(f" {word.name} exist?")
