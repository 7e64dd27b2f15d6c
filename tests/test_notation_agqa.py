"""AGQA release strings are read into programs and written back, whatever the template, the time and the references."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from questree.domains.video import VIDEO
from questree.notation.agqa import read, write
from questree.notation.own import parse
from questree.readings.categories import answer_type, categories, steps
from questree.terms import OBJECT, ProgramError, Slot, Word
from questree.vocabulary.load import parse as parse_vocabulary
from worlds.agqa_strings import WORDS, Case, cases, did_it_happen, random_cases

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT.parent / "shared" / "data" / "formats" / "agqa2_questions.json"
CASES = [*cases(), *did_it_happen()]


def test_all_templates_are_tried() -> None:
    assert len({template for template, _, _ in CASES}) == 28  # 27 of edition 2.0 and one of 1.0


@pytest.mark.parametrize("template", sorted({case[0] for case in CASES}))
def test_strings_mean_what_they_say_and_are_written_back(template: str) -> None:
    for _, text, program in {case for case in CASES if case[0] == template}:
        node = parse(program, VIDEO)
        assert read(text, WORDS) == node
        assert write(node, WORDS) == text


@given(random_cases)
@settings(max_examples=150, deadline=None)
def test_random_programs_survive_both_ways(case: Case) -> None:
    _, text, program = case
    assert write(read(text, WORDS), WORDS) == text
    assert read(write(parse(program, VIDEO), WORDS), WORDS) == parse(program, VIDEO)


@pytest.mark.skipif(not SAMPLES.exists(), reason="the released sample questions are not here")
def test_the_released_samples_are_written_as_they_were_and_have_their_steps_and_categories() -> None:
    for question in json.loads(SAMPLES.read_text()).values():
        node = read(question["program"], WORDS)
        assert write(node, WORDS) == question["program"]
        assert steps(node) == question["steps"]
        labels = categories(node)
        assert list(labels.reasoning) == question["global"]
        assert (labels.structural, labels.semantic) == (question["structural"], question["semantic"])
        assert answer_type(node) == question["ans_type"]


def test_every_word_of_the_vocabulary_is_read_and_written() -> None:
    objects, relations = [o.name for o in WORDS.objects], [r.name for r in WORDS.relations]
    texts = [f"Exists({name}, Iterate(video, Filter(frame, [objects])))" for name in objects]
    texts += [f"Exists({name}, Iterate(video, Filter(frame, [relations])))" for name in relations]
    texts += [f"Exists({a.phrase}, Iterate(video, Filter(frame, [actions])))" for a in WORDS.actions]
    assert [write(read(text, WORDS), WORDS) for text in texts] == texts


def test_other_spellings_become_the_name_in_the_vocabulary() -> None:
    text = "Exists(cabinet, Iterate(Localize(before, sitting down), Filter(frame, [relations, laughing, objects])))"
    node = parse("within(interaction(laughing at, closet), before(going from standing to sitting))", VIDEO)
    assert read(text, WORDS) == node
    assert write(node, WORDS) == (
        "Exists(closet, Iterate(Localize(before, going from standing to sitting), "
        "Filter(frame, [relations, laughing at, objects])))"
    )


def test_spaces_and_lines_do_not_matter() -> None:
    assert read(" Exists( bag ,\n Iterate(video,Filter( frame,[ objects ])) ) ", WORDS) == parse(
        "interacting(bag)", VIDEO
    )


def test_a_template_keeps_its_slots() -> None:
    text = "Exists($o, Iterate(Localize(after, $a), Filter(frame, [relations, $r, objects])))"
    node = read(text, WORDS)
    assert node == parse("within(interaction($r, $o), after($a))", VIDEO)
    assert write(node, WORDS) == text


def test_another_vocabulary_brings_its_own_words() -> None:
    example = (ROOT / "docs" / "vocabulary.md").read_text("utf-8").split("```toml\n")[1].split("```")[0]
    kitchen = parse_vocabulary(example, "kitchen")
    text = "Exists(apple, Iterate(Localize(while, peeling an orange), Filter(frame, [relations, peeling, objects])))"
    assert write(read(text, kitchen), kitchen) == text
    with pytest.raises(ProgramError, match="at 7: no object 'blanket' in the vocabulary"):
        read("Exists(blanket, Iterate(video, Filter(frame, [objects])))", kitchen)


HEADS = "Exists(..), Query(..), Superlative(..), AND(..), XOR(..), Choose(..), Equals(..) or Compare(..)"
QUERY = "Query(class, OnlyItem(IterateUntil(forward, video, Exists({}, Filter(frame, [relations])), {})))"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "at 0: expected a word or a call, got the end"),
        ("blanket", f"at 0: expected {HEADS}, got 'blanket'"),
        ("Exist(blanket)", f"at 0: expected {HEADS}, got 'Exist(blanket)'"),
        ("Exists(blanket", "at 14: expected ',' or ')', got the end"),
        ("Exists(blanket, Iterate(video, Filter(frame, [objects]))", "at 56: expected ',' or ')', got the end"),
        ("Exists(blanket, Iterate(video, Filter(frame, [objects]))))", "at 57: expected the end, got ')'"),
        (
            "Exists(blankett, Iterate(video, Filter(frame, [objects])))",
            "at 7: no object 'blankett' in the vocabulary; near: blanket",
        ),
        (
            "Exists(holding a bag, Iterate(video, Filter(frame, [objects])))",
            "at 7: no object 'holding a bag' in the vocabulary; `questree vocabulary show --json FILE` lists them",
        ),
        (
            "Exists(holdin, Iterate(video, Filter(frame, [relations])))",
            "at 7: no relation 'holdin' in the vocabulary; near: holding",
        ),
        (
            "Exists(bag, Iterate(Localize(while, holding a pilow), Filter(frame, [objects])))",
            "at 36: no action 'holding a pilow' in the vocabulary; "
            "near: holding a pillow, holding a towel, holding a phone",
        ),
        (
            "Exists(bag, Iterate(vidio, Filter(frame, [objects])))",
            "at 20: expected 'video' or Localize(..), got 'vidio'",
        ),
        (
            "Exists(bag, Iterate(Localize(during, standing up), Filter(frame, [objects])))",
            "at 29: expected 'before', 'after', 'while' or 'between', got 'during'",
        ),
        (
            "Exists(bag, Iterate(Localize(between, standing up), Filter(frame, [objects])))",
            "at 38: expected [<action>, <action>], got 'standing up'",
        ),
        (
            "Exists(bag, Iterate(video, Filter(frame, [object])))",
            "at 42: expected 'objects', 'relations' or 'actions', got 'object'",
        ),
        (
            "Exists(bag, Iterate(video, Filter(frame, [relations, holding])))",
            "at 41: expected [objects], [relations, <relation>, objects], [relations] or [actions], "
            "got '[relations, holding]'",
        ),
        (
            "AND(Exists(bag, Iterate(video, Filter(frame, [relations, holding, objects]))), bed)",
            "at 46: expected 'relation', got 'relations'",
        ),
        (
            QUERY.format("holding", "Filter(frame, [relations, touching, objects])"),
            "at 122: expected 'holding' again (as at 58), got 'touching'",
        ),
        (
            "Exists(Foo(bag), Iterate(video, Filter(frame, [relations, holding, objects])))",
            "at 7: expected <object> or Query(..), got 'Foo(bag)'",
        ),
        ("Query(" * 5000, "at 606: calls inside each other more than 100 deep"),
    ],
)
def test_what_is_malformed_is_told_with_its_place(text: str, fault: str) -> None:
    with pytest.raises(ProgramError) as error:
        read(text, WORDS)
    assert str(error.value) == fault
    assert error.value.position == int(fault.split()[1].rstrip(":"))


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        ("exists(bag)", "AGQA has no form for exists(bag)"),
        ("within(exists(bag), before(standing up))", "AGQA has no form for within(exists(bag), before(standing up))"),
        ("both(interacting(bag), doing(holding))", "AGQA has no form for interacting(bag)"),
        ("interaction(verb_of(standing up), bag)", "AGQA has no form for interaction(verb_of(standing up), bag)"),
        (
            "within(interacting(bag), whole())",
            "AGQA would read within(interacting(bag), whole()) as something else: "
            "Exists(bag, Iterate(video, Filter(frame, [objects])))",
        ),
        (
            "action_after(before(standing up))",
            "AGQA would read action_after(before(standing up)) as something else: "
            "Query(class, OnlyItem(Iterate(Localize(before, standing up), Filter(frame, [actions]))))",
        ),
    ],
)
def test_a_program_the_strings_cannot_say_is_refused(program: str, fault: str) -> None:
    with pytest.raises(ProgramError) as error:
        write(parse(program, VIDEO), WORDS)
    assert str(error.value) == fault


def test_a_word_that_is_not_in_the_vocabulary_is_not_written() -> None:
    node = VIDEO.ops["interacting"](Word("spaceship", OBJECT))
    with pytest.raises(ProgramError, match="no object 'spaceship' in the vocabulary"):
        write(node, WORDS)
    assert write(VIDEO.ops["interacting"](Slot("o", OBJECT)), WORDS).startswith("Exists($o, ")
