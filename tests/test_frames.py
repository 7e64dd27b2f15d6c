"""The English of AGQA's templates: enough frames, well-formed in every form, exact spans, and one text per meaning."""

import json
import re
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path

import msgspec
import pytest

from questree.benchmarks.agqa import phrases
from questree.benchmarks.agqa.arguments import Argument, ArgumentMaker
from questree.benchmarks.agqa.editions import EDITIONS, SECOND
from questree.benchmarks.agqa.examples import Pool, examples
from questree.benchmarks.agqa.frames import (
    Frame,
    FramePiece,
    parse,
    render,
    render_spans,
    split,
)
from questree.benchmarks.agqa.templates import TEMPLATES, Template
from questree.cli.wordings import wordings
from questree.faults import BadInput
from questree.notation.own import show
from questree.readings.english import wordings as sub_question_wordings
from questree.terms import Node, fill
from questree.vocabulary import default
from questree.vocabulary.check import check

WORDS = default()
MAKE = ArgumentMaker(WORDS)
WORDED = {template.name: template for template in SECOND.by_code}
FRAMES = {name: template.frames for name, template in WORDED.items()}
# how many frames AGQA 2.0 has per template, and edition 1.0 for actExists
WANTED = {
    "objExists": 5,
    "objRelExists": 3,
    "relExists": 10,
    "andObjRelExists": 4,
    "xorObjRelExists": 4,
    "objWhatGeneral": 8,
    "objWhat": 8,
    "objWhatChoose": 8,
    "actWhatAfterAll": 10,
    "actWhatBefore": 10,
    "objFirst": 8,
    "objFirstChoose": 10,
    "objFirstVerify": 8,
    "actFirst": 10,
    "objLast": 8,
    "objLastChoose": 10,
    "objLastVerify": 8,
    "actLast": 10,
    "actLengthLongerChoose": 13,
    "actLengthShorterChoose": 13,
    "actLengthLongerVerify": 10,
    "actLengthShorterVerify": 10,
    "actLongest": 8,
    "actShortest": 8,
    "actTime": 4,
    "relTime": 4,
    "objTime": 5,
    "actExists": 16,
}


def relation(name: str) -> Argument:
    return MAKE.relation(WORDS.relation_at[name])


def action(name: str) -> Argument:
    return MAKE.action(WORDS.action_at[name])


def thing(name: str) -> Argument:
    return MAKE.object(WORDS.object_at[name])


def reference(kind: str, name: str, wording: int = 0) -> Argument:
    return MAKE.object_reference(kind, WORDS.relation_at[name], wording)


def indirect(name: str, inside: Argument) -> Argument:
    found = MAKE.indirect_action(WORDS.action_at[name], inside)
    assert found
    return found


def said(text: str, **words: Argument) -> str:
    return render(Frame(text, split(text)), {slot: word.forms for slot, word in words.items()})


# the data


def test_every_template_has_as_many_frames_as_agqa() -> None:
    assert WANTED.keys() == FRAMES.keys()
    assert [name for name, count in WANTED.items() if len(FRAMES[name]) < count] == []
    assert sum(len(FRAMES[template.name]) for template in TEMPLATES) >= 217


@pytest.mark.parametrize("name", WANTED)
def test_placeholders_are_the_slots_of_the_program_and_time_stands_on_both_sides(name: str) -> None:
    slots = WORDED[name].kinds.keys()
    for frame in FRAMES[name]:
        assert {piece.slot for piece in frame.pieces if isinstance(piece, FramePiece)} == slots
    if "time" in slots:
        assert {frame.leading for frame in FRAMES[name]} == {True, False}


def test_first_and_last_never_follow_a_noun_or_a_time() -> None:
    """A reference may end there ("the object they were holding"); "last longer" is a verb."""
    wrong = re.compile(r"\{(object|first|second|a|b|time)(:\w+)?\} (first|last)\b(?! longer| for)")
    assert [frame.text for known in FRAMES.values() for frame in known if wrong.search(frame.text)] == []


def test_the_missing_object_is_the_one_the_vocabulary_says() -> None:
    for name in ("relExists", "relTime"):
        assert [
            frame.text
            for frame in FRAMES[name]
            if re.search(r"\bsome(thing| object)\b", frame.text.replace("{relation:something}", ""))
        ] == []
    assert said(FRAMES["relExists"][0].text, relation=relation("laughing at"), time=MAKE.time("all", 0)) == (
        "Were they laughing at some object?"
    )


def test_a_broken_file_is_refused_with_all_its_faults() -> None:
    raw = {name: [frame.text for frame in known] for name, known in FRAMES.items()}
    raw["objWhat"] = ["What were  they {relation}{time}", "{Time} did {relation:dry}?", "What {object}?"]
    raw["objFirst"] *= 2
    del raw["actTime"]
    text = "".join(f"{name} = {json.dumps(texts)}\n" for name, texts in {**raw, "objNever": ["?"]}.items())
    with pytest.raises(BadInput) as bad:
        parse(text, "my.toml", {name: template.kinds for name, template in WORDED.items()})
    lines = str(bad.value).splitlines()
    for wanted in (
        "my.toml, actTime: template has no frames",
        'my.toml, objWhat frame 1: a space too many: "What were  they {relation}{time}"',
        'my.toml, objWhat frame 1: does not end in a question mark: "What were  they {relation}{time}"',
        "my.toml, objWhat frame 2: a slot of kind relation has no form dry; choose from {relation}, "
        '{relation:present}, {relation:past}, {relation:something}, {relation:rest}: "{Time} did {relation:dry}?"',
        'my.toml, objWhat frame 2: {Time} must open the question, followed by a comma: "{Time} did {relation:dry}?"',
        'my.toml, objWhat frame 3: objWhat has no slot object, only relation, time: "What {object}?"',
        'my.toml, objWhat frame 3: expected slot time once, got it 0 times: "What {object}?"',
        'my.toml, objFirst: frame given 2 times: "What were they {relation} first{time}?"',
    ):
        assert wanted in lines
    assert any(line.startswith("my.toml, objNever: no such template; choose from objExists") for line in lines)


def test_edition_1_says_contact() -> None:
    known = EDITIONS["1.0"].by_code
    assert known[0].frames[1].text == "Did they contact {object}{time}?"
    assert not any("interact" in frame.text for template in known for frame in template.frames)


# phrases


@pytest.mark.parametrize(
    ("kind", "wordings"),
    [
        ("first", ["the object they were behind first", "the first thing they were behind"]),
        ("last", ["the object they were behind last", "the last thing they were behind"]),
        ("whole", ["the object they were behind", "the thing they were behind"]),
    ],
)
def test_an_object_is_referred_to_in_two_ways(kind: str, wordings: list[str]) -> None:
    assert [reference(kind, "behind", number).forms[""].text for number in (0, 1, 2)] == [*wordings, wordings[0]]


@pytest.mark.parametrize(
    ("name", "progressive", "past"),
    [
        ("c002", "taking X", "took X"),
        ("c051", "watching something on X", "watched something on X"),
        ("c054", "putting down X", "put down X"),
        ("c057", "taking off X", "took off X"),
        ("c107", "holding X", "held X"),
        ("c116", "putting down X", "put down X"),
        ("c127", "tidying something on X", "tidied something on X"),
        ("c132", "watching X", "watched X"),
        ("c133", "awakening in X", "awakened in X"),
        ("c145", "working on X", "worked on X"),
    ],
)
def test_the_noun_of_an_action_gives_way_to_a_reference(name: str, progressive: str, past: str) -> None:
    inside = reference("first", "on the side of")
    found = indirect(name, inside).forms
    text = inside.forms[""].text
    assert [found[form].text.replace(text, "X") for form in ("", "past")] == [progressive, past]
    for form in ("", "present", "past"):
        begin, end = found[form].spans["object"]
        assert found[form].text[begin:end] == text


@pytest.mark.parametrize("name", ["c087", "c147", "c148", "c149", "c154", "c155"])
def test_an_action_that_does_not_name_its_object_has_no_indirect_form(name: str) -> None:
    assert MAKE.indirect_action(WORDS.action_at[name], reference("first", "holding")) is None


def test_time_phrases_of_both_editions() -> None:
    one, two = action("c076"), MAKE.action_reference("longest", 0)
    later = ArgumentMaker(WORDS, "1.0")

    def texts(make: ArgumentMaker, kind: str, *actions: Argument) -> list[str]:
        found = [make.time(kind, number, *actions).forms for number in range(len(phrases.TIMES[make.edition][kind]))]
        assert all(
            form["leading"].text == (form[""].text[1:2].upper() + form[""].text[2:] or "In the video") for form in found
        )
        return [form[""].text for form in found]

    assert texts(MAKE, "all") == [""]
    assert texts(MAKE, "while", two) == [" while doing the longest action"]
    assert texts(MAKE, "between", one, two) == [
        " between holding a pillow and doing the longest action",
        " before doing the longest action but after holding a pillow",
    ]
    assert texts(later, "before", one) == [" before holding a pillow", " before starting to hold a pillow"]
    assert (
        texts(later, "between", one, two)[2] == " before starting to do the longest action but after holding a pillow"
    )


def test_references_of_edition_1_keep_their_time_to_themselves() -> None:
    during = MAKE.time("before", 0, action("c076"))
    found = MAKE.object_reference("first", WORDS.relation_at["above"], 1, during)
    assert found.forms[""].text == "the first thing that, before holding a pillow, they were above"
    assert show(found.term) == "first(above, before(holding a pillow))"
    done = MAKE.relation_reference(WORDS.object_at["laptop"])
    assert said("Did they {relation:present} {object}{relation:rest}?", relation=done, object=thing("phone")) == (
        "Did they do the first thing they did to the laptop to a phone?"
    )


# rendering


@pytest.mark.parametrize(
    ("frame", "behind", "held"),
    [
        ("What did they {relation:present} first?", "What were they behind first?", "What did they hold first?"),
        ("Did the person {relation:present} it?", "Was the person behind it?", "Did the person hold it?"),
        ("Which did the person {relation:present}?", "Which was the person behind?", "Which did the person hold?"),
        ("Of all they {relation:past}, which?", "Of all they were behind, which?", "Of all they held, which?"),
        ("Is it what the person {relation:past}?", "Is it what the person was behind?", "Is it what the person held?"),
        ("Might they {relation:present} it?", "Might they be behind it?", "Might they hold it?"),
    ],
)
def test_a_relation_without_a_verb_is_asked_and_told_with_was(frame: str, behind: str, held: str) -> None:
    assert said(frame, relation=relation("behind")) == behind
    assert said(frame, relation=relation("holding")) == held


def test_the_rest_of_a_relation_follows_its_object() -> None:
    back, bag, video = relation("having it on the back"), thing("bag"), MAKE.time("all", 0)
    texts = [
        said("Did they {relation:present} {object}{relation:rest}{time}?", relation=back, object=bag, time=video),
        said("What did they {relation:present}{time}?", relation=back, time=video),
        said("{Time}, what was the last thing they {relation:past}?", relation=back, time=video),
        said(
            "Did they {relation:present} {object}{relation:rest}{time}?",
            relation=relation("in"),
            object=bag,
            time=video,
        ),
    ]
    assert texts == [
        "Did they carry a bag on their back?",
        "What did they carry on their back?",
        "In the video, what was the last thing they carried on their back?",
        "Were they in a bag?",
    ]


def test_spans_are_exact() -> None:
    inside = reference("last", "holding")
    when = MAKE.time("while", 0, indirect("c023", inside))
    words = {"relation": relation("behind").forms, "object": thing("clothes").forms, "time": when.forms}
    suffix, leading = FRAMES["objRelExists"][0], FRAMES["objRelExists"][3]
    text, spans = render_spans(suffix, words)
    assert text == "Were they behind some clothes while taking the object they were holding last?"
    assert spans == {
        "relation": (10, 16),
        "object": (17, 29),
        "time": (30, 76),
        "time.a": (36, 76),
        "time.a.object": (43, 76),
    }
    text, spans = render_spans(leading, words)
    assert text == "While taking the object they were holding last, were they behind some clothes?"
    assert [text[begin:end] for begin, end in (spans[name] for name in ("time", "time.a", "time.a.object"))] == [
        "While taking the object they were holding last",
        "taking the object they were holding last",
        "the object they were holding last",
    ]


def test_the_whole_video_has_an_empty_span_or_the_opening_words() -> None:
    words = {"relation": relation("holding").forms, "time": MAKE.time("all", 0).forms}
    assert render_spans(FRAMES["objWhat"][0], words) == (
        "What were they holding?",
        {"relation": (15, 22), "time": (22, 22)},
    )
    leading = next(frame for frame in FRAMES["objWhat"] if frame.leading)
    assert render_spans(leading, words)[1]["time"] == (0, 12)


def test_a_relation_s_span_holds_its_rest_where_that_follows_directly() -> None:
    words = {"relation": relation("having it on the back").forms, "time": MAKE.time("all", 0).forms}
    assert render_spans(FRAMES["objWhat"][1], words) == (
        "What did they carry on their back?",
        {"relation": (14, 33), "time": (33, 33)},
    )


def well_formed(text: str) -> bool:
    broken = re.search(r"  | ,| \?|\{|\}|,,|\b(a|an|some|the|their) (a|an|some|the|their)\b|\b(\w+) \3\b", text)
    return broken is None and bool(re.fullmatch(r"[A-Z][^?]*\w\?", text))


@pytest.mark.parametrize("edition", EDITIONS)
def test_all_askable_words_are_well_formed_in_all_frames(edition: str) -> None:
    """Every relation a template may ask about, with every article, kind of reference and kind of time."""
    pool, make = Pool(WORDS), ArgumentMaker(WORDS, edition)
    objects = [thing("bag"), thing("clothes"), thing("floor"), reference("last", "covered by", 1)]
    acts = [action("c151"), MAKE.action_reference("shortest", 1), indirect("c051", reference("whole", "in"))]
    times = [make.time("all", 0), *(make.time("between", number, *acts[:2]) for number in range(3))]
    times += [make.time("after", 0, acts[2]), make.time("before", 1, acts[1])]
    for template in EDITIONS[edition].by_code:
        slots = template.kinds
        for at, number in product(pool.asked(template) if "relation" in slots else [0], range(12)):
            words = {"relation": MAKE.relation(at), "time": times[number % len(times)]}
            words |= {"object": objects[number % 4], "first": objects[number % 4], "second": objects[(number + 1) % 4]}
            words |= {"a": acts[number % 3], "b": acts[(number + 1) % 3]}
            for frame in template.frames:
                text, spans = render_spans(frame, {slot: words[slot].forms for slot in slots})
                assert well_formed(text), text
                assert all(0 <= begin <= end <= len(text) for begin, end in spans.values())


def test_forms_of_askable_relations_are_all_different() -> None:
    """Two relations that are said alike would make two meanings of one text."""
    pool = Pool(WORDS)
    asked = pool.relations(("contact", "spatial", "verb"))
    for form in ("", "present", "past"):
        spelled = [phrases.relation(at, WORDS)[form].text + phrases.relation(at, WORDS)["rest"].text for at in asked]
        assert len(set(spelled)) == len(asked) and all(spelled)


def test_a_rest_must_end_every_form() -> None:
    raw = msgspec.to_builtins(WORDS)
    raw["relations"][WORDS.relation_at["having it on the back"]]["past"] = "had it"
    found = [str(fault) for fault in check(msgspec.convert(raw, type(WORDS)), "v.toml")]
    assert found == ['v.toml, relation r14: "had it" does not end in its rest "on their back"']


# one text, one meaning

WINDOWS = {"all": "whole"} | {kind: kind for kind in ("before", "after", "while", "between")}
ASKED = ("holding", "laughing at", "having it on the back", "behind", "in", "dressing")


def choices(template: Template, make: ArgumentMaker) -> dict[str, list[Argument]]:
    """Words for every slot that are easily mistaken for each other; fewer where they multiply."""
    plain = [action(name) for name in ("c149", "c020", "c096", "c083")]
    acts = [*plain, make.action_reference("longest", 0), make.action_reference("longest", 1)]
    acts += [indirect("c023", reference(kind, "behind", 1)) for kind in ("first", "whole")]
    direct = [thing(name) for name in ("bag", "clothes")]
    referred = [reference(kind, "holding", number) for kind in ("first", "last", "whole") for number in (0, 1)]
    times = [make.time(kind, number, act) for kind in ("before", "after", "while") for act in acts for number in (0, 1)]
    times += [make.time("between", number, *two) for two in permutations(plain, 2) for number in range(3)]
    if make.edition == "1.0":
        holding = WORDS.relation_at["holding"]
        referred += [make.object_reference(kind, holding, 0, times[0]) for kind in ("first", "whole")]
    objects = [*direct, *referred]
    relations = [relation(name) for name in ASKED]
    if "second" in template.kinds:
        times, objects, relations = times[::5], objects[:6], relations[1:3]
    found = {"relation": relations, "object": objects, "first": objects, "second": objects, "a": acts, "b": acts}
    offered = {WINDOWS[kind] for kind in template.times}
    return {
        **found,
        "time": [time for time in (make.time("all", 0), *times) if show(time.term).split("(")[0] in offered],
    }


def questions(template: Template, make: ArgumentMaker) -> Iterator[dict[str, Argument]]:
    slots = list(template.kinds)
    words = choices(template, make)
    for combination in product(*(words[slot] for slot in slots)):
        found = dict(zip(slots, combination, strict=True))
        if found.get("first") is None or found["first"].term != found["second"].term:
            yield found


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_two_programs_read_alike(edition: str) -> None:
    make = ArgumentMaker(WORDS, edition)
    meaning: dict[str, str] = {}
    for template in EDITIONS[edition].templates:
        for words in questions(template, make):
            program = show(fill(template.node, {slot: word.term for slot, word in words.items()}))
            forms = {slot: word.forms for slot, word in words.items()}
            for frame in template.frames:
                text = render(frame, forms)
                assert meaning.setdefault(text, program) == program, text
    assert len(meaning) > 100_000


def test_no_question_reads_like_a_sub_question_with_another_meaning() -> None:
    meaning: dict[str, str] = {}
    for template in TEMPLATES:
        if template.name.startswith(("and", "xor")):  # conjunctions are never sub-questions of others
            continue
        for words in list(questions(template, MAKE))[::17]:
            node = fill(template.node, {slot: word.term for slot, word in words.items()})
            assert isinstance(node, Node)
            texts = [
                render(frame, {slot: word.forms for slot, word in words.items()}) for frame in FRAMES[template.name]
            ]
            for text in (*texts, *sub_question_wordings(node, WORDS)):
                assert meaning.setdefault(text, show(node)) == show(node), text


# the check command


def test_every_wording_has_one_example() -> None:
    found = list(examples(WORDS))
    shown = {(example.template.name, example.frame, example.time, example.reference) for example in found}
    assert len(shown) == len(found)
    assert {(name, frame) for name, frame, _, _ in shown} == {
        (template.name, frame) for template in TEMPLATES for frame in FRAMES[template.name]
    }
    of_choices = {(time, kind) for name, _, time, kind in shown if name == "objFirstChoose"}
    kinds_anywhere = ("direct", "last", "longest", "shortest", "indirect object")
    assert of_choices == {
        *product(("after", "while"), kinds_anywhere),
        *product(("between",), kinds_anywhere[:4]),
        *product(("all",), kinds_anywhere[:2]),
    }
    assert [example.text for example in found if not well_formed(example.text)] == []
    assert found == list(examples(WORDS))


def test_the_command_writes_question_and_program_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, again = tmp_path / "wordings.txt", tmp_path / "again.txt"
    wordings(out=out, edition="1.0", json=tmp_path / "wordings.json")
    wordings(out=again, edition="1.0", quiet=True)
    assert out.read_bytes() == again.read_bytes()
    result = json.loads((tmp_path / "wordings.json").read_text())
    first = result["examples"][0]
    assert first["frame"] == "Were they contacting {object}{time}?"
    lines = out.read_text("utf-8").splitlines()
    assert lines[0] == "objExists  within(interacting($object), $time)"
    assert lines[3].endswith(first["text"]) and lines[4].strip() == first["program"]
    assert {row["template"]: row["frames"] for row in result["templates"]} == {n: len(f) for n, f in FRAMES.items()}
    assert f"28 templates, {sum(map(len, FRAMES.values()))} frames" in capsys.readouterr().out


def test_a_vocabulary_with_too_few_words_is_refused(tmp_path: Path) -> None:
    small = tmp_path / "small.toml"
    small.write_text(
        """
        name = "small"
        objects = [{ id = "o1", name = "person", article = "a" }, { id = "o2", name = "cup", article = "a" }]
        relations = [
          { id = "d1", name = "annotated", group = "derived" },
          { id = "d2", name = "interacting with", group = "derived", present = "meet", past = "met" },
        ]
        actions = []
        """
    )
    with pytest.raises(BadInput) as bad:
        wordings(out=tmp_path / "out.txt", vocabulary=small)
    lines = str(bad.value).splitlines()
    assert lines[0] == "vocabulary small: 0 actions, at least 2 are needed"
    assert "vocabulary small: 1 objects, at least 2 are needed" in lines
    assert "vocabulary small: 0 relations relTime may ask about, at least 1 are needed" in lines
    assert not (tmp_path / "out.txt").exists()


def test_the_documentation_tells_the_truth() -> None:
    page = (Path(__file__).parent.parent / "docs" / "wordings.md").read_text("utf-8")
    code = re.search(r"```python\n(.*?)\n# (.*?)\n```", page, re.DOTALL)
    assert code
    *before, last = code[1].splitlines()
    place: dict[str, object] = {}
    exec("\n".join(before), place)
    assert repr(eval(last, place)) == code[2]
    count = sum(len(FRAMES[template.name]) for template in TEMPLATES)
    assert f"has {count} for the 27 templates" in page and f"and {len(FRAMES['actExists'])} for `actExists`" in page
