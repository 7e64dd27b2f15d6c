"""Compositions that are held out: AGQA's where their words exist, those a vocabulary names itself, or none."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from questree.api.vocabularies import draft_vocabulary
from questree.benchmarks.agqa.editions import SECOND
from questree.benchmarks.agqa.held_out import NC_OBJREL, PIECES, RELEASED, held_out, known
from questree.faults import BadInput
from questree.stages.split.declared import agqa, left_out
from questree.stages.split.drawn_lists import ENOUGH, drawn_lists
from questree.tables.facts import ACTIONS, TRACKS, VIDEOS, Facts
from questree.tables.run import Run
from questree.vocabulary import Vocabulary, default, load
from questree.vocabulary.check import check
from questree.vocabulary.load import parse
from questree.vocabulary.words import HeldOutWords

PAGE = (Path(__file__).parents[1] / "docs/vocabulary.md").read_text("utf-8")
KITCHEN = re.search(r"```toml\n(name = \"kitchen\".*?)```", PAGE, re.S)
assert KITCHEN
TEXT = KITCHEN[1]
OWN = "; name compositions in the vocabulary under held_out"
MOST = (99,) * len(SECOND.by_code)


def kitchen(more: str = "") -> Vocabulary:
    return parse(f"{TEXT}\n{more}", "kitchen.toml")


def compositions(words: Vocabulary) -> dict[str, list[str]]:
    """split -> what it holds out, and the parts that should be in train."""
    splits = agqa(words, MOST, SECOND)
    return {s.name: [str(part) for each in s.compositions for part in (each.held_out, *each.parts)] for s in splits}


def test_agqas_words_are_all_in_its_vocabulary() -> None:
    assert known(default()) == (RELEASED, [])
    assert left_out(default()) == {}
    marks = held_out(default())
    ids = [default().actions[at].id for at in np.flatnonzero(marks.action)]
    assert ids == ["c016", "c048", "c097", "c101", "c141", "c154"]
    assert {default().relations[at].name for at in np.flatnonzero(marks.first)} == {*RELEASED.first}
    assert all(default().relations[at].group != "verb" for at in np.flatnonzero(marks.first | (marks.relation > 0)))


def test_agqas_lists_are_for_its_vocabulary_alone() -> None:
    """A kitchen that also says "holding" and "behind" is not AGQA's; by the name of AGQA's, words may be missing."""
    assert known(kitchen()) == (HeldOutWords(), []) and not held_out(kitchen()).first.any()
    words = msgspec.structs.replace(kitchen(), name="agqa")
    found, missing = known(words)
    assert found == HeldOutWords(first=("behind", "holding"))
    assert missing[:2] == ["standing up", "walking through a doorway"] and "behind" not in missing
    assert {"table", "beneath", "in"} < {*missing}
    novel = next(each for each in agqa(words, MOST, SECOND) if each.name == "novel-compositions")
    assert novel.warnings == (f"not held out, as the vocabulary does not have them: {', '.join(missing)}",)
    parts = ["says(superlative)", "has(first)", 'uses(relation="behind")', 'uses(relation="holding")']
    assert compositions(words)["novel-compositions"] == parts
    assert left_out(words) == {}


def test_a_draft_is_not_taken_for_agqas_by_the_name_of_its_file(tmp_path: Path) -> None:
    actions = [{"class": "opening a tin", "start": 0, "end": 1}]
    frames = [{"number": 0, "seconds": 0.0, "objects": [{"class": "tin", "relations": ["holding", "behind"]}]}]
    video = {"id": "V", "length": 2.0, "frames": frames, "actions": actions}
    (tmp_path / "own.json").write_bytes(msgspec.json.encode({"videos": [video]}))
    draft_vocabulary(tmp_path / "own.json", out=tmp_path / "agqa.toml")
    words = load(tmp_path / "agqa.toml")
    assert (words.name, known(words)) == ("own agqa", (HeldOutWords(), []))


def test_a_split_that_holds_nothing_out_is_left_out_and_says_so() -> None:
    for words in (kitchen(), kitchen("[held_out]")):
        assert left_out(words) == {"novel-compositions": f"left out, nothing is held out{OWN}"}
        assert [*compositions(words)] == ["videos", "more-steps", "indirect"]


def some_facts(random: Random, words: Vocabulary, folder: Path) -> tuple[Run, list[tuple[bool, set[Any], set[Any]]]]:
    """A run with what was annotated alone; the same as (for training, actions, tracks) of every video."""
    relations = [at for at, word in enumerate(words.relations) if word.group in ("contact", "spatial")][:12]
    things = range(1, 9)
    videos = [
        (
            random.random() < 0.6,
            {random.randrange(14) for _ in range(7)},
            {(random.choice(relations), random.choice(things)) for _ in range(30)},
        )
        for _ in range(24)
    ]
    sides = ["train" if train else "test" for train, *_ in videos]
    deeds: list[tuple[Any, ...]] = [
        (at, action, 1, 0.0, 1.0) for at, (_, own, _) in enumerate(videos) for action in sorted(own)
    ]
    seen: list[tuple[Any, ...]] = [
        (at, link, thing, [1]) for at, (*_, own) in enumerate(videos) for link, thing in sorted(own)
    ]
    names = ["video", "relation", "object", "bits"], ["video", "action", "instance", "start", "end"], ["id", "split"]
    ids: list[tuple[Any, ...]] = [(str(at), side) for at, side in enumerate(sides)]
    tracks, actions, every = (
        table.frame(rows.with_columns(pl.lit(None).alias(name) for name in {*table.columns} - {*rows.columns}))
        for table, own, each in zip((TRACKS, ACTIONS, VIDEOS), names, (seen, deeds, ids), strict=True)
        for rows in [pl.DataFrame(each, own, orient="row")]
    )
    facts = replace(Facts.none(), videos=every, actions=actions, tracks=tracks)
    run = Run(folder)
    run.facts.mkdir()
    facts.save(run.facts)
    return run, videos


@pytest.mark.parametrize("seed", range(4))
def test_what_is_drawn_occurs_often_enough_on_both_sides_and_stays_known_in_train(seed: int, tmp_path: Path) -> None:
    few = msgspec.structs.replace(default(), name="mine")
    run, videos = some_facts(Random(seed), few, tmp_path)
    lists = drawn_lists(run, few)

    def often(found: list[tuple[bool, set[Any]]]) -> set[Any]:
        counts = {side: Counter(one for train, own in found if train == side for one in own) for side in (True, False)}
        return {one for one in counts[True] if min(counts[True][one], counts[False][one]) >= ENOUGH}

    done = {few.action_at[name] for name in lists.actions}
    common = often([(train, deeds) for train, deeds, _ in videos])
    assert done <= common
    links = often([(train, {link for link, _ in seen}) for train, _, seen in videos])
    assert {few.relation_at[name] for name in lists.first} <= links
    pairs = {(few.relation_at[link], few.object_at[thing]) for thing, link in lists.pairs}
    assert pairs <= often([(train, seen) for train, _, seen in videos])
    assert not pairs & {(few.verb_of[at], few.done_to[at]) for at in done}  # these actions stay in train
    learnt = {pair for train, _, seen in videos if train for pair in seen} - pairs
    for link, thing in pairs:
        assert any(own == link for own, _ in learnt) and any(own == thing for _, own in learnt)
    askable = [at for at in common if at not in few.never_localised]
    assert len(lists.actions) == min(6, len(askable) // 4) > 0
    assert 0 < len(lists.first) <= 6 and 0 < len(lists.pairs) <= 7
    assert lists == drawn_lists(run, few)


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
