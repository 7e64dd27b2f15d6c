"""Actions that are done again: one reading for every time, no question that rests on another, and AGQA's on request."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from judges import naive_generator as naive
from judges.contradictions import Findings
from judges.facts import WORDS, Video, between_two, instances, read
from judges.operators import objects
from judges.table_rules import read_rules
from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.templates import READINGS
from questree.stages.again import made_again
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.spoken import Texts
from questree.stages.questions import Bank
from test_answers import both
from test_generate_judge import difference
from worlds import generator_rows as rows
from worlds import generator_worlds as chance
from worlds.decomposed import made
from worlds.exported_worlds import run_of
from worlds.small import facts

# a sneeze, a blanket, a sneeze, the door: the blanket is there between the first sneeze and the door
BLANKET = """
video Blanket
frames 0 1 2 3 4 5 6 7 8
blanket 3: touching
action c153 1 1
action c153 5 5
action c006 7 7
"""
RELEASED = replace(SECOND, released_between=True)


@cache
def repeated() -> tuple[str, list[Video]]:
    text = "\n".join(chance.repeating(seed=9, videos=10))
    return text, read(facts(text), released_between=True)


@pytest.mark.parametrize(("released", "between"), [(False, "yes"), (True, "no")])
def test_between_lies_in_after_and_in_before_unless_as_released(released: bool, between: str) -> None:
    asked = 'within(interaction("touching", "blanket"), {})'
    when = (
        'after("sneezing somewhere")',
        'before("closing a door")',
        'between("sneezing somewhere", "closing a door")',
    )
    said = [both(BLANKET, asked.format(time), released_between=released) for time in when]
    assert said == ["yes", "yes", between]


def test_what_depends_on_which_sneeze_is_meant_is_not_asked() -> None:
    found = rows.generated(facts(BLANKET), 0)
    assert found.rejected["objRelExists", READINGS] > 0
    asked = [q for q in rows.plain(found, 1)[0] if q.template == "objRelExists" and q.relation == "r22"]
    times = {(q.time.kind, *(deed.action for deed in q.time.deeds)): q.answer for q in asked if q.time.deeds}
    door = {("before", "c006"): "yes", ("while", "c006"): "no", ("after", "c006"): "no"}
    assert times == door | {("while", "c153"): "no"}


def length_questions(text: str, edition: Edition) -> dict[tuple[str, str], int]:
    """How many there are, by template and by the word that names an action by its length."""
    asked = rows.plain(rows.generated(facts(text), 0, edition=edition), 1)[0]
    named = Counter(("reference", deed.kind) for q in asked for deed in (*q.deeds, *q.time.deeds))
    return {key: n for key, n in (named + Counter((q.template, "") for q in asked)).items() if "ongest" in "".join(key)}


@pytest.mark.parametrize(("runs", "agree"), [(1, True), (3, False)])
def test_longest_is_said_where_the_longest_time_is_of_what_took_most_time_in_all(runs: int, agree: bool) -> None:
    """Sneezing takes 20 seconds at once, running 12 again and again."""
    running = "\n".join(f"action c150 {start} {start + 12}" for start in (30, 50, 70)[:runs])
    text = f"video A\nframes 0 10 30 40 50 60 70 80 90\naction c153 0 20\n{running}"
    asked, released = (length_questions(text, edition) for edition in (SECOND, RELEASED))
    assert released["actLongest", ""] == 1 and released["reference", "longest"] > 0
    assert asked == (released if agree else {})


def test_between_any_two_instances_the_answer_is_the_same() -> None:
    """Also between a middle instance and any other, of questions that ask what there is in a time."""
    world = facts("\n".join(chance.repeating(seed=5, videos=100)))
    videos, several = read(world), 0
    found = rows.plain(rows.generated(world, 2), len(videos))
    for video, asked in zip(videos, found, strict=True):
        for q in asked:
            if q.template not in ("objRelExists", "objWhat") or q.time.kind != "between":
                continue
            ends = [instances(video, deed.action) for deed in q.time.deeds]
            windows = [between_two(video, one, other) for one, other in product(*ends)]
            several += max(map(len, ends)) > 2
            for window in filter(None, windows):
                seen = objects(video, q.relation, window)
                if q.template == "objWhat":
                    assert seen == {q.answer}
                else:
                    thing = q.things[0].object
                    assert (thing in seen) == (q.answer == "yes")
    assert several > 50


def test_as_released_the_questions_are_those_of_the_naive_generator() -> None:
    text, videos = repeated()
    wanted, rejected = naive.generate(videos, 2)
    found = rows.generated(facts(text), 2, edition=RELEASED)
    assert difference(wanted, rows.plain(found, len(videos))) == []
    assert found.rejected == rejected
    assert not any(rule == READINGS for _, rule in rejected)


@pytest.mark.parametrize("released", [False, True])
def test_true_answers_about_repeated_actions_break_no_rule(released: bool, tmp_path: Path) -> None:
    """A run that was asked as released is answered as released by all that comes later."""
    run = run_of(facts("\n".join(chance.repeating(seed=4, videos=12, whole=True))), tmp_path / "run", 128, released)
    assert Bank(run).edition.released_between is released
    found, asked = Findings(), Counter[str]()
    for dags in made(run, NodeForms(WORDS)):
        read_rules(found, dags.tables, Texts(WORDS))
        asked.update(dags.tables["forms"]["type"].gather(dags.tables["nodes"]["form"]).to_list())
    assert not +found.broken and not +found.undefined and not found.clashes
    assert min(asked[f"Interaction {time}"] for time in ("Before", "After", "While", "Between")) > 50
    assert made_again(run, workers=1) == []
