"""The rules over columns against the table of the published evaluation, read row by row."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest

from judges.members import checked
from questree.faults import BadInput
from questree.formats.decomp_files import hierarchies_of
from questree.metrics.dags import score_decomp
from questree.metrics.scores import find
from questree.rules import IMAGE_DAGS, NO, SCHEMES, VIDEO_DAGS, YES, Members, Rule, add, scheme_of, sentence
from questree.rules.entail import allowed
from questree.rules.rule import Case
from questree.terms import UNKNOWN, Array
from worlds.decomp_files import dag
from worlds.decomp_files import table as predictions

ANSWERS = (NO, YES)
RULES = {name: rule for name, rule in VIDEO_DAGS.rules.items() if rule.worded is None}
EQUALS, CHOOSE = VIDEO_DAGS.rules["Equals"], VIDEO_DAGS.rules["Choose"]
Check = tuple[bool, bool]  # does the rule apply, is it kept?


def table(composition: str, a: int, parts: tuple[int, ...]) -> dict[str, Check]:
    """The rules of a composition for a parent's answer and its yes/no sub-questions'."""
    yes, no, every = a == YES, a == NO, all(part == YES for part in parts)
    if composition in ("And", "Between"):
        return {"yes": (yes or every, yes and every), "no": (no or not every, no and not every)}
    if composition == "Xor":
        match = parts[0] == YES and parts[1] == NO
        return {"yes": (yes or match, yes and match), "no": (no or not match, no and not match)}
    return {"yes": (yes, every), "no": (not every, no)}


def column(*values: int) -> Array:
    return np.array(values)


def same(got: dict[str, tuple[Array, Array]], want: dict[str, Check]) -> bool:
    """Applied alike, and kept alike where applied."""
    sides = {name.split()[-1].lower(): check for name, check in got.items()}
    found = {way: (bool(applies[0]), bool(applies[0] and kept[0])) for way, (applies, kept) in sides.items()}
    return found == {way: (applies, applies and kept) for way, (applies, kept) in want.items()}


@pytest.mark.parametrize("composition", RULES)
def test_a_composition_is_checked_as_published(composition: str) -> None:
    counts = (2,) if composition == "Xor" else (1, 2, 3)
    for a, count in product(ANSWERS, counts):
        for parts in product(ANSWERS, repeat=count):
            got = checked(RULES[composition], column(a), np.array([parts]))
            assert same(got, table(composition, a, parts)), (a, parts)


def test_seven_compositions_have_rules_over_yes_and_no() -> None:
    assert set(RULES) == {"Interaction", "After", "Before", "While", "And", "Between", "Xor"}


def test_what_is_unknown_is_not_checked() -> None:
    checks = checked(RULES["And"], column(YES, UNKNOWN), np.array([[YES, UNKNOWN], [YES, YES]]))
    assert [applies.tolist() for applies, _ in checks.values()] == [[False, False], [False, False]]
    equals = checked(
        EQUALS, column(YES, UNKNOWN, YES), np.array([[YES, UNKNOWN], [YES, 3], [YES, 3]]), [column(3, 3, -1)]
    )
    assert [applies.tolist() for applies, _ in equals.values()] == [[False] * 3] * 2
    options, parts = [column(3, 3), column(4, 4)], np.array([[YES, NO], [YES, UNKNOWN]])
    assert not any(applies.any() for applies, _ in checked(CHOOSE, column(UNKNOWN, 3), parts, options).values())


def test_equals_of_a_plain_object_is_checked_as_published() -> None:
    for a, exists, found in product(ANSWERS, ANSWERS, (3, 4)):
        given = found == 3
        right = given and exists == YES
        want = {"yes": (a == YES or given, a == YES and right), "no": (a == NO or not right, a == NO and not given)}
        got = checked(EQUALS, column(a), np.array([[exists, found]]), [column(3)])
        assert same(got, want), (a, exists, found)


def test_equals_of_a_described_object_compares_the_two_open_answers() -> None:
    for a, found in product(ANSWERS, (3, 4)):
        match = found == 3
        want = {"yes": (a == YES or match, a == YES and match), "no": (a == NO or not match, a == NO and not match)}
        got = checked(EQUALS, column(a), np.array([[3, found]]), inner=np.array([True]))
        assert same(got, want), (a, found)


def test_a_choice_is_confirmed_by_one_sub_question_and_denied_by_the_other() -> None:
    for chosen, parts in product((3, 4, 5), product(ANSWERS, repeat=2)):
        applies, kept = checked(CHOOSE, column(chosen), np.array([parts]), [column(3), column(4)])["Choose Object"]
        assert bool(applies[0]) == (chosen in (3, 4))
        if applies[0]:
            assert bool(kept[0]) == (parts == ((YES, NO) if chosen == 3 else (NO, YES)))


def neither(it: Members) -> Case:
    return it.case(it.says(1, "no") & it.says(2, "no"))


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Rule:
    """A rule of a composition that nobody knew, for a new type of questions about images."""
    monkeypatch.setitem(SCHEMES, "images", deepcopy(IMAGE_DAGS))
    rule = Rule("Neither", neither, "yes exactly when both sub-questions are no")
    add(rule, "images", types=["Neither Of"])
    return rule


def test_a_rule_from_outside_is_listed_last_scored_concluded_and_told(outside: Rule) -> None:
    nodes = {"q": ("A-0", "Neither Of", "no"), "a": ("A-1", "Exists", "no"), "b": ("A-2", "Exists", "yes")}
    files = {"A.json": {"A-0": dag(nodes, {"q": {"Neither": ["a", "b"]}, "a": {}, "b": {}})}}
    for said, kept in (({"A-0": "no", "A-1": "no", "A-2": "yes"}, 1), ({"A-0": "no", "A-1": "no", "A-2": "no"}, 0)):
        rows = score_decomp(hierarchies_of(files), predictions(said)).rows("model")
        assert (find(rows, "IC", "rule", "Neither No").value, find(rows, "IC", "type", "Neither Of").value) == (
            kept,
            kept,
        )
    listed = scheme_of(["Neither Of", "Exists"])
    assert listed.compositions[-1] == "Neither" and listed.groups[-1] == "Neither Of" and "Neither Of" in listed.yes_no
    assert allowed(outside, 3)[YES, NO, NO] and not allowed(outside, 3)[YES, NO, YES]
    assert sentence("Neither Yes") == "yes exactly when both sub-questions are no"


def test_a_rule_from_outside_leaves_other_data_as_it_is(outside: Rule) -> None:
    nodes = {"q": ("A-0", "Exists", "no"), "a": ("A-1", "Exists", "no")}
    files = {"A.json": {"A-0": dag(nodes, {"q": {"Modifier": ["a"]}, "a": {}})}}
    rows = score_decomp(hierarchies_of(files), predictions({"A-0": "no", "A-1": "no"})).rows("model")
    assert [row.group for row in rows if (row.metric, row.by) == ("IC", "rule")] == [*IMAGE_DAGS.all_rules, "Overall"]


def test_what_is_wrong_with_a_rule_from_outside_is_said(outside: Rule) -> None:
    with pytest.raises(
        BadInput, match="rule Neither: expected a new composition and new names, got one that images have"
    ):
        add(outside, "images")
    with pytest.raises(BadInput, match="rule Neither: expected a scheme, got 'films'; choose from videos, images"):
        add(outside, "films")


def test_a_composition_of_both_media_is_one_entry() -> None:
    assert VIDEO_DAGS.rules["And"] is IMAGE_DAGS.rules["And"]
