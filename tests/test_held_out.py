"""Compositions that are held out: AGQA's where their words exist, those a vocabulary names itself, or none."""

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from questree.benchmarks.agqa.editions import SECOND
from questree.benchmarks.agqa.held_out import NC_OBJREL, PIECES, RELEASED, held_out, known
from questree.faults import BadInput
from questree.stages.split.declared import agqa, left_out
from questree.vocabulary import Vocabulary, default
from questree.vocabulary.check import check
from questree.vocabulary.load import parse
from questree.vocabulary.words import HeldOutWords

PAGE = (Path(__file__).parents[1] / "docs/vocabulary.md").read_text("utf-8")
KITCHEN = re.search(r"```toml\n(name = \"kitchen\".*?)```", PAGE, re.S)
assert KITCHEN
TEXT = KITCHEN[1]
OWN = "; name compositions of your own there under held_out"


def kitchen(more: str = "") -> Vocabulary:
    return parse(f"{TEXT}\n{more}", "kitchen.toml")


def compositions(words: Vocabulary) -> dict[str, list[str]]:
    """split -> what it holds out, and the parts that should be in train."""
    splits = agqa(words, (99,) * len(SECOND.by_code), SECOND)
    return {s.name: [str(part) for each in s.compositions for part in (each.held_out, *each.parts)] for s in splits}


def test_agqas_words_are_all_in_its_vocabulary() -> None:
    assert known(default()) == (RELEASED, [])
    assert left_out(default()) == {}
    marks = held_out(default())
    ids = [default().actions[at].id for at in np.flatnonzero(marks.action)]
    assert ids == ["c016", "c048", "c097", "c101", "c141", "c154"]
    assert {default().relations[at].name for at in np.flatnonzero(marks.first)} == {*RELEASED.first}
    assert all(default().relations[at].group != "verb" for at in np.flatnonzero(marks.first | (marks.relation > 0)))


def test_of_agqas_lists_those_words_apply_that_a_vocabulary_has() -> None:
    found, missing = known(kitchen())
    assert found == HeldOutWords(first=("behind", "holding"))
    assert missing[:2] == ["standing up", "walking through a doorway"] and "behind" not in missing
    assert {"table", "beneath", "in"} < {*missing}
    splits = agqa(kitchen(), (99,) * len(SECOND.by_code), SECOND)
    novel = next(each for each in splits if each.name == "novel-compositions")
    assert novel.warnings == (f"not held out, as the vocabulary does not have them: {', '.join(missing)}",)
    assert compositions(kitchen())["novel-compositions"] == [
        "says(superlative)",
        "has(first)",
        'uses(relation="behind")',
        'uses(relation="holding")',
    ]
    assert left_out(kitchen()) == {}


def test_a_split_without_any_of_its_words_is_left_out_and_says_so() -> None:
    words = parse(
        TEXT.replace("behind", "near").replace('"holding"', '"gripping"').replace("holding =", "gripping ="), ""
    )
    assert "novel-compositions" not in compositions(words)
    assert [*left_out(words)] == ["novel-compositions"]
    assert left_out(words)["novel-compositions"].startswith(
        "left out, the vocabulary has none of: standing up, walking"
    )
    empty = kitchen("[held_out]")
    assert left_out(empty) == {"novel-compositions": f"left out, the vocabulary's held_out is empty{OWN}"}
    assert [*compositions(empty)] == ["videos", "more-steps", "indirect"]


def test_a_vocabulary_holds_out_what_it_says_and_nothing_else() -> None:
    words = kitchen('[held_out]\nactions = ["yawning"]\npairs = [["orange", "v2"], ["apple", "peeling"]]')
    marks = held_out(words)
    assert np.flatnonzero(marks.action).tolist() == [words.action_at["yawning"]]
    assert not marks.first.any()
    fruit, apple = words.object_at["fruit"], words.object_at["apple"]  # an orange is counted as fruit
    holding, peeling = words.relation_at["r2"], words.relation_at["peeling"]
    assert np.flatnonzero(marks.object).tolist() == [apple, fruit]
    assert np.flatnonzero(marks.relation).tolist() == [holding, peeling]
    assert marks.flags[marks.pair(holding, fruit)] == marks.flags[marks.pair(peeling, apple)] == NC_OBJREL
    assert marks.flags[marks.pair(holding, apple)] == 0 and len(marks.flags) == 1 << (PIECES + 4)
    deeds = [action.phrase for action, own in zip(words.actions, marks.pair_done, strict=True) if own]
    assert deeds == ["peeling an apple"]
    assert compositions(words)["novel-compositions"] == [
        *("says(sequencing)", "has(before)", 'uses(action="yawning")'),
        *("says(duration)", "has(longer)", 'uses(action="yawning")'),
        *("says(object-relationship)", 'uses(object="fruit")', 'uses(relation="holding")', 'uses(object="apple")'),
        'uses(relation="peeling")',
    ]


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ('actions = ["flying"]', 'kitchen.toml, held_out actions: no action is called "flying"'),
        ('pairs = [["holding", "apple"]]', 'kitchen.toml, held_out pairs: no object is called "holding"'),
        ('firsts = ["behind"]', "unknown field `firsts` (fields are actions, first, pairs)"),
    ],
)
def test_words_that_are_not_there_cannot_be_held_out(given: str, fault: str) -> None:
    with pytest.raises(BadInput, match=re.escape(fault)):
        kitchen(f"[held_out]\n{given}")


def test_more_words_than_a_question_has_marks_are_refused() -> None:
    raw = msgspec.toml.decode(TEXT)
    raw["objects"] += [{"id": f"x{at}", "name": f"thing {at}", "article": "a"} for at in range(12)]
    raw["held_out"] = {"pairs": [[f"thing {at}", "holding"] for at in range(12)]}
    faults = check(msgspec.convert(raw, Vocabulary), "kitchen.toml")
    assert [*map(str, faults)] == ["kitchen.toml, held_out pairs: 13 different words, at most 12 fit"]
