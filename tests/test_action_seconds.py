"""Questions about actions alone are answered by the seconds somebody annotated, whatever frames there are."""

from math import inf

import pytest

from judges.action_seconds import Done, ends_last, in_order, only_finished, only_one, starts_first
from questree.benchmarks.agqa.templates import AFTER, BEFORE, TIMES
from questree.domains.video import VIDEO, videos
from questree.notation.own import parse
from questree.readings.answer import answer, spell
from questree.stages.questions import Bank
from questree.tables.questions import time_actions, time_kind
from questree.tables.run import Run
from questree.vocabulary import default
from worlds.small import facts

WORDS = default()
WHICH = {"actWhatAfterAll": only_one, "actWhatBefore": only_finished, "actFirst": starts_first, "actLast": ends_last}


@pytest.mark.parametrize(
    ("stamps", "program", "expected"),
    [
        # the last frame is at 20 s, and an action runs past it
        ("c151 0 1, c104 10 30", "last_action(whole())", "turning on a light"),
        ("c151 0 10, c104 12 20.5, c154 20 34", "last_action(whole())", "standing up"),
        ("c151 0 1, c104 10 30, c149 0 26", "last_action(whole())", None),  # another one near the end
        ("c151 0 1, c104 10 30, c149 0 24.9", "last_action(whole())", "turning on a light"),
        # what has only begun before something else is not the last thing done before it
        ("c151 0 3, c104 2 30, c154 20 30", "last_action(before(standing up))", None),
        ("c151 0 3, c104 10 14.9, c154 20 30", "last_action(before(standing up))", "turning on a light"),
        ("c151 0 3, c104 10 15, c154 20 30", "last_action(before(standing up))", None),  # five seconds
        # an action shorter than a second is not what comes after it
        ("c151 10 10.5, c104 12 14", "first_action(after(going from standing to sitting))", "turning on a light"),
        ("c151 9 10, c104 9.5 11, c154 20 30", "first_action(after(going from standing to sitting))", None),
        ("c151 9 10, c104 0 30, c154 20 30", "first_action(after(going from standing to sitting))", "standing up"),
        # what has begun before, and goes on
        ("c151 0 10, c104 5 20", "action_after(after(going from standing to sitting))", "turning on a light"),
        ("c151 0 10.1, c104 10 20", "action_before(before(turning on a light))", None),
        ("c151 0 10, c104 10 20", "action_before(before(turning on a light))", "going from standing to sitting"),
        # no frame is in both, and yet they overlap
        ("c151 0 10.5, c104 10.2 20", "action_order(turning on a light, going from standing to sitting)", None),
        ("c151 0 10.2, c104 10.2 20", "action_order(turning on a light, going from standing to sitting)", "after"),
        # what no frame shows is done all the same, and is no answer
        ("c151 0 10, c149 10.5 11, c104 13 20", "action_after(after(going from standing to sitting))", None),
        ("c151 0 10, c149 10.5 11, c104 13 20", "first_action(after(going from standing to sitting))", None),
        ("c151 0 10, c149 10.5 11, c104 18 20", "first_action(after(going from standing to sitting))", None),
        ("c151 0 1, c149 0.5 9", "longest()", "laughing at something"),
        ("c151 0 1, c149 0.5 8.9", "longest()", None),
        ("c104 9 10, c104 13 13.2, c149 15 18", "action_order(turning on a light, laughing at something)", None),
    ],
)
def test_stamps_decide(stamps: str, program: str, expected: str | None) -> None:
    lines = "".join(f"\naction {stamp}" for stamp in stamps.split(", "))
    world, node = videos(facts(f"video A\nframes 0 9 10 12 15 20{lines}"), WORDS), parse(program, VIDEO)
    assert spell(node.kind, int(answer(node, world, {})[0]), WORDS) == expected


def test_answers_of_a_run_are_those_of_its_stamps(random_run: Run) -> None:
    """Every question about actions alone, beside what was annotated."""
    bank, words = Bank(random_run), random_run.vocabulary()
    done: dict[int, list[Done]] = {}
    for row in random_run.load("facts").actions.iter_rows(named=True):
        done.setdefault(row["video"], []).append((words.actions[row["action"]].id, row["start"], row["end"]))
    seen = set()
    for shard in map(bank.shard, bank.folders()):
        kind, (of_time, _) = time_kind(shard.column("time")), time_actions(shard.column("time"))
        for at, row in enumerate(shard.questions.iter_rows(named=True)):
            template, video = bank.edition.by_code[row["template"]], done.get(row["video"], [])
            said = spell(template.node.kind, row["answer"], words)
            if template.name in WHICH:
                time, action = TIMES[kind[at]], words.actions[of_time[at]].id
                named = [stamps for stamps in sorted(video, key=lambda each: each[1]) if stamps[0] == action]
                since, until = named[0][2] if time == AFTER else -inf, named[0][1] if time == BEFORE else inf
                found = WHICH[template.name](video, since, until)
                assert said == words.actions[words.action_at[found or ""]].phrase
                assert time not in (BEFORE, AFTER) or found != action
            elif template.name == "actTime":
                a, b = (words.actions[row[slot]].id for slot in "xy")
                assert said == in_order(video, a, b)
            seen.add(template.name)
    assert seen >= {*WHICH, "actTime"}
