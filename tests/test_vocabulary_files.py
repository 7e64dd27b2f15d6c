"""Somebody else's vocabulary: the documented example, what the checker says when it is broken, and the commands."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest

from questree.api.vocabularies import counts
from questree.cli.vocabulary import app
from questree.faults import BadInput
from questree.vocabulary import Vocabulary, load
from questree.vocabulary.check import KINDS, check
from questree.vocabulary.load import default_text, parse
from questree.vocabulary.words import NONE, Lists

ROOT = Path(__file__).parent.parent


def example() -> str:
    """The small vocabulary printed in the documentation."""
    found = re.search(r"```toml\n(.*?)```", (ROOT / "docs/vocabulary.md").read_text("utf-8"), re.DOTALL)
    assert found
    return found[1]


def faults_after(change: Callable[[dict[str, Any]], object]) -> list[str]:
    """What the checker says about the example with one thing changed."""
    raw = msgspec.toml.decode(example())
    change(raw)
    return [str(fault) for fault in check(msgspec.convert(raw, Vocabulary), "kitchen.toml")]


def test_the_documented_example_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "kitchen.toml"
    file.write_text(example())
    words = load(file)
    assert [len(words.objects), len(words.relations), len(words.actions)] == [5, 8, 5]
    assert words.verb_of.tolist() == [4, 4, 4, 1, 4]
    assert words.object_of.tolist() == [1, 2, 2, 1, NONE]
    assert words.merged_action.tolist() == [0, 1, 1, 3, 4]


@pytest.mark.parametrize(
    ("kind", "at", "field", "value", "fault"),
    [
        ("objects", 1, "id", "o3", "object o3: id given to more than one word"),
        ("objects", 1, "id", "", "object number 2: has no id"),
        ("objects", 1, "name", "", "object o2: has no name"),
        ("objects", 1, "name", "tea (hot)", 'object o2: no program can spell "tea (hot)": it has ( )'),
        ("objects", 1, "name", "a\nb", 'object o2: no program can spell "a\\nb": it has a line end'),
        ("objects", 1, "name", "?", 'object o2: no program can spell "?": it is "?"'),
        ("relations", 2, "name", "$x", 'relation r3: no program can spell "$x": it has $'),
        ("relations", 2, "name", "!on", 'relation r3: no program can spell "!on": it begins with "!"'),
        ("actions", 0, "phrase", "a, [b]", 'action a1: no program can spell "a, [b]": it has , [ ]'),
        ("actions", 0, "phrase", "go ", 'action a1: no program can spell "go ": it begins or ends with a space'),
        ("objects", 1, "name", "fruit", 'object o3: "fruit" already means object o2'),
        ("objects", 1, "labels", ["orange"], 'object o2: "orange" already means object o4'),
        (
            "objects",
            1,
            "article",
            "one",
            'object o2: article: expected one of "", "a", "an", "some", "the", "their", got "one"',
        ),
        ("objects", 1, "merged", "o9", 'object o2: merged "o9" is not the id of an object'),
        ("objects", 1, "merged", "o2", "object o2: merged points at the word itself, leave it out"),
        ("objects", 1, "merged", "o4", 'object o2: merged "o4", which is itself counted as "o3"'),
        (
            "relations",
            0,
            "group",
            "place",
            'relation r1: group: expected one of "attention", "spatial", "contact", "verb", "derived", got "place"',
        ),
        ("relations", 0, "present", "go behind", "relation r1: has no past form"),
        ("relations", 1, "past", "", "relation r2: has no past form"),
        ("relations", 5, "folds", "r8", 'relation v2: folds "r8" is not the id of a relation'),
        ("relations", 5, "folds", "", 'relation v2: "holding" already means relation r2'),
        ("relations", 6, "group", "verb", 'annotated: "d1" is not the id of a relation of group "derived"'),
        ("actions", 0, "phrase", "", "action a1: has no phrase"),
        ("actions", 0, "present", "", "action a1: has no present form"),
        ("actions", 0, "verb", "v9", 'action a1: verb "v9" is not the id of a relation'),
        ("actions", 0, "object", "o9", 'action a1: object "o9" is not the id of an object'),
        ("actions", 0, "noun", "o9", 'action a1: noun "o9" is not the id of an object'),
        ("actions", 0, "noun", "o4", 'action a1: noun "o4" is not counted as the same object as "o2"'),
        ("actions", 0, "merged", "a3", 'action a1: merged "a3", which is itself counted as "a2"'),
        (
            "actions",
            0,
            "role",
            "seat",
            'action a1: role: expected one of "done to", "place", "tool", got "seat"',
        ),
        ("actions", 4, "role", "tool", 'action a5: role "tool" of an action that names no object'),
        (
            "actions",
            0,
            "role",
            "place",
            'action a1: role "place" needs the key `unnamed`: the id of the object its verb is then done to',
        ),
    ],
)
def test_a_broken_word_is_named(kind: str, at: int, field: str, value: object, fault: str) -> None:
    found = faults_after(lambda raw: raw[kind][at].update({field: value}))
    assert f"kitchen.toml, {fault}" in found


def test_how_to_ask_for_things_is_one_of_two() -> None:
    found = faults_after(lambda raw: raw.update(existence="maybe"))
    assert 'kitchen.toml, existence: expected one of "there", "exist", got "maybe"' in found


@pytest.mark.parametrize(
    ("section", "name", "value", "fault"),
    [
        ("lists", "take_verbs", ["grabbing"], 'list take_verbs: no relation is called "grabbing"'),
        ("lists", "transition_actions", ["a7"], 'list transition_actions: no action is called "a7"'),
        ("lists", "similar_objects", [["fruit", "pear"]], 'list similar_objects: no object is called "pear"'),
        ("lists", "forbidden_pairs", [["fruit", "pear"]], 'list forbidden_pairs: no object is called "pear"'),
        (
            "lists",
            "commonsense_pairs",
            [["holding", "holding"]],
            'list commonsense_pairs: no object is called "holding"',
        ),
        ("entailments", "juggling", ["holding"], 'entailments of "juggling": no relation is called "juggling"'),
        ("entailments", "holding", ["owning"], 'entailments of "holding": no relation is called "owning"'),
    ],
)
def test_an_unknown_word_in_a_list_is_named_with_the_list(section: str, name: str, value: object, fault: str) -> None:
    assert faults_after(lambda raw: raw[section].update({name: value})) == [f"kitchen.toml, {fault}"]


def test_a_relation_that_entails_itself_is_refused_however_long_the_way() -> None:
    def circle(raw: dict[str, Any]) -> None:
        raw["entailments"] = {"peeling": ["v2"], "holding": ["touching"], "r3": ["holding"], "behind": ["behind"]}

    assert faults_after(circle) == [
        'kitchen.toml, entailments of "holding": a relation cannot entail itself: "holding", "touching", "holding"',
        'kitchen.toml, entailments of "r3": a relation cannot entail itself: "r3", "holding", "touching"',
        'kitchen.toml, entailments of "behind": a relation cannot entail itself: "behind", "behind"',
    ]


@pytest.mark.parametrize("field", ["person", "annotated", "interacting"])
def test_the_words_facts_cannot_do_without_must_be_there(field: str) -> None:
    kind = "an object" if field == "person" else 'a relation of group "derived"'
    faults = faults_after(lambda raw: raw.update({field: "x1"}))
    assert f'kitchen.toml, {field}: "x1" is not the id of {kind}' in faults


def test_the_words_that_all_questions_say_mean_nothing_else() -> None:
    """Programs say *person* and *interacting with*, whatever the two are called; nothing else may be called so."""
    assert faults_after(lambda raw: raw["objects"][0].update(name="cook")) == []
    assert faults_after(lambda raw: raw["relations"][7].update(name="handling")) == []

    def another_person(raw: dict[str, Any]) -> None:
        raw["objects"][0].update(name="cook")
        raw["objects"][1].update(name="person")

    said = 'questions say "person": give "o1" this name, or the label "person"'
    assert f"kitchen.toml, person: {said}" in faults_after(another_person)

    def another_handling(raw: dict[str, Any]) -> None:
        raw["relations"][7].update(name="handling")
        raw["relations"][2].update(name="interacting with")

    said = 'questions say "interacting with": give "d2" this name, or the label "interacting with"'
    assert f"kitchen.toml, interacting: {said}" in faults_after(another_handling)


def test_nobody_does_what_is_only_seen() -> None:
    faults = faults_after(lambda raw: raw["relations"][4].update(group="attention"))
    wanted = 'verb "v1" is of group attention; choose one of group verb, contact or spatial'
    assert faults == [f"kitchen.toml, action {id}: {wanted}" for id in ("a1", "a2", "a3", "a5")]


@pytest.mark.parametrize("field", ["unnamed", "other"])
@pytest.mark.parametrize("given", ["x1", "o2"])
def test_what_is_unnamed_or_has_no_class_fills_no_slot(given: str, field: str) -> None:
    said = f'{field}: "{given}" is not the id of an object that is part_only and not merged'
    assert faults_after(lambda raw: raw.update({field: given})) == [f"kitchen.toml, {said}"]
    assert faults_after(lambda raw: raw.update({field: "o5"})) == []


def test_more_words_than_keys_hold_are_refused() -> None:
    def many(raw: dict[str, Any]) -> None:
        raw["objects"] += [{"id": f"x{k}", "name": f"thing {k}", "article": "a"} for k in range(8186)]

    assert faults_after(many) == ["kitchen.toml, objects: 8,191 objects, at most 8,190 fit"]


def test_all_misshapen_words_and_lists_are_reported_at_once() -> None:
    text = """
    name = "x"
    objects = [{id = "o1", name = "person"}, {id = "o2", name = "bag", article = "a", colour = "red"}]
    actions = []
    [lists]
    take_verbs = 3
    """
    with pytest.raises(BadInput) as bad:
        parse(text, "mine.toml")
    assert [str(fault) for fault in bad.value.faults] == [
        "mine.toml, objects number 1: missing required field `article`",
        "mine.toml, objects number 2: contains unknown field `colour` "
        "(fields are id, name, article, merged, labels, plural, part_only)",
        "mine.toml, lists: Expected `array`, got `int` - at `$.take_verbs`",
        "mine.toml: missing required field `relations`",
    ]


def test_all_missing_parts_are_reported_at_once() -> None:
    with pytest.raises(BadInput) as bad:
        parse('name = "x"', "mine.toml")
    wanted = [f"mine.toml: missing required field `{part}`" for part in ("objects", "relations", "actions")]
    assert list(map(str, bad.value.faults)) == wanted


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    text = "\ufeff" + example()
    assert parse(text, "mine.toml").name == parse(text.encode(), "mine.toml").name == "kitchen"


def test_deep_nesting_is_one_line() -> None:
    with pytest.raises(BadInput) as bad:
        parse("name = " + "[" * 100_000, "mine.toml")
    assert str(bad.value) == "mine.toml: nested too deeply to be read"


@pytest.mark.parametrize("text", [b"name = ", b"\xff\xfe", b"objects = 3"])
def test_a_file_that_is_no_vocabulary_is_refused_without_a_traceback(text: bytes) -> None:
    with pytest.raises(BadInput, match=r"mine\.toml"):
        parse(text, "mine.toml")


def test_the_checker_knows_every_list() -> None:
    kinds = {name: hint.__metadata__ for name, hint in get_type_hints(Lists, include_extras=True).items()}
    assert {*kinds} == {*Lists.__struct_fields__}
    assert all(set(each) <= set(KINDS) for each in kinds.values())


# the commands


def test_check_says_that_nothing_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "agqa.toml"
    file.write_text(default_text())
    app(["check", str(file)], result_action="return_value")
    assert capsys.readouterr().out == f"{file}: nothing is missing (39 objects, 61 relations, 157 actions)\n"


def test_check_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        app(["check", str(tmp_path / "none.toml")], result_action="return_value")


def test_show_writes_all_words_as_json_and_prints_nothing_when_quiet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "kitchen.toml", tmp_path / "out.json"
    file.write_text(example())
    app(["show", "--vocabulary", str(file), "--json", str(out), "--quiet"], result_action="return_value")
    assert capsys.readouterr().out == ""
    written = json.loads(out.read_text())
    assert written["counts"] == counts(load(file))
    assert msgspec.convert(written["vocabulary"], Vocabulary) == load(file)


def test_what_annotators_had_no_class_for_is_an_action_of_its_own() -> None:
    said = "is not the id of an action that is not merged"
    for given in ("x1", "a3"):
        wanted = [f'kitchen.toml, other_action: "{given}" {said}']
        assert faults_after(lambda raw, given=given: raw.update(other_action=given)) == wanted  # type: ignore[misc]
    assert faults_after(lambda raw: raw.update(other_action="a5")) == []


def test_a_relation_without_a_class_is_one_that_nobody_asks_for() -> None:
    lists = "a relation in the lists never_asked_relations, vague_relations and, of a contact, not_touching_contacts"
    relation = {"id": "r99", "name": "other relationship", "group": "contact"}

    def declare(raw: dict[str, Any], *names: str) -> None:
        raw["relations"].append(relation)
        raw["other_relation"] = "r99"
        for name in names:
            raw.setdefault("lists", {}).setdefault(name, []).append("other relationship")

    silent = ("never_asked_relations", "vague_relations")
    [fault] = faults_after(lambda raw: declare(raw, *silent))
    assert fault.startswith(f'kitchen.toml, other_relation: "r99" is not the id of {lists}')
    assert faults_after(lambda raw: declare(raw, *silent, "not_touching_contacts")) == []
