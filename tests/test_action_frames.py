"""An action is going on from its start up to its end: what begins when it ends does not happen while it."""

from random import Random

import pytest

from judges.action_frames import overlap, shown
from questree.domains.video import VIDEO, videos
from questree.notation.own import parse
from questree.readings.answer import answer
from questree.sources.clock import clock_frames
from questree.stages.augment import augment
from questree.tables.action_frames import inside
from questree.vocabulary import default
from worlds.small import facts

WORDS = default()
ACTIONS = ("c151", "c154", "c149", "c133")  # sitting down, standing up, laughing, awakening: nothing to take or hold
PHRASES = {name: WORDS.actions[WORDS.action_at[name]].phrase for name in ACTIONS}
Row = tuple[str, float, float]


def frames_of(rows: list[Row], seconds: list[float], as_released: bool = False) -> list[list[int]]:
    lines = "".join(f"\naction {action} {start} {end}" for action, start, end in rows)
    made = facts(f"video A\nframes {' '.join(map(str, seconds))}{lines}")
    found = inside(made.actions, made.frames, as_released).select("action", "start", "end", "first", "last").rows()
    spans = {row[:3]: [*range(row[3], row[4] + 1)] if row[3] is not None else [] for row in found}
    return [spans[WORDS.action_at[action], start, end] for action, start, end in rows]


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        ([(2, 4), (4, 6)], [[1], [2]]),  # the frame at the shared moment is the later one's
        ([(4, 4.1)], [[2]]),
        ([(3.8, 4)], [[2]]),  # its only frame lies exactly at its end
        ([(3.8, 4), (4, 6)], [[], [2]]),  # but another begins there
        ([(4.2, 4.3)], [[2]]),  # shorter than the distance of frames
        ([(4.2, 4.3), (4, 6)], [[2], [2]]),  # during another
        ([(4.2, 4.3), (1, 4.1)], [[], [1, 2]]),  # another has ended in between
        ([(4.1, 4.2), (4.3, 4.4)], [[2], []]),  # one frame does not show two that follow each other
        ([(4.6, 5.3)], [[]]),  # too far from either
        ([(4, 4)], [[2]]),  # a moment
    ],
)
def test_frames_are_those_from_the_start_up_to_the_end_or_the_nearest(
    stamps: list[tuple[float, float]], expected: list[list[int]]
) -> None:
    rows = [(action, *span) for action, span in zip(ACTIONS, stamps, strict=False)]
    assert frames_of(rows, [0, 2, 4, 6]) == expected
    assert shown(stamps, [0, 2, 4, 6]) == expected


def test_as_released_the_end_is_inside_and_nothing_else_is() -> None:
    assert frames_of([("c151", 2, 4), ("c154", 4, 6), ("c149", 4.2, 4.3)], [0, 2, 4, 6], True) == [[1, 2], [2, 3], []]


def annotated(random: Random) -> list[Row]:
    """Steps that abut, overlap, repeat, are very short or contain each other."""
    rows = list[Row]()
    for _ in range(random.randrange(1, 7)):
        ends = [end for _, _, end in rows] + [start for _, start, _ in rows]
        start = random.choice([*ends, *(random.randrange(80) / 4 for _ in range(3))])
        rows.append((random.choice(ACTIONS), start, start + random.choice([0, 0.1, 0.25, 1, 3.5, 8])))
    return sorted(set(rows))


def test_random_actions_have_the_frames_that_a_judge_gives_them() -> None:
    bare = 0
    for seed in range(400):
        random = Random(seed)
        rows = annotated(random)
        seconds = sorted({random.randrange(60) / random.choice([1, 2, 3]) for _ in range(random.randrange(9))})
        found = frames_of(rows, seconds)
        assert found == shown([row[1:] for row in rows], seconds), (rows, seconds)
        bare += found.count([])
    assert bare > 50


def test_with_frames_from_the_clock_answers_about_times_are_those_of_the_seconds() -> None:
    """Of actions done once; every action has a frame, however short it is."""
    lines, every = list[str](), list[list[Row]]()
    for seed in range(150):
        rows = list({row[0]: row for row in annotated(Random(seed))}.values())
        seconds = [second for _, second in clock_frames([row[1:] for row in rows])]
        lines += [f"video V{seed}", f"frames {' '.join(map(str, seconds))}"]
        lines += [f"action {action} {start} {end}" for action, start, end in rows]
        every.append(rows)
    found, _ = augment(facts("\n".join(lines)), WORDS)
    assert found.actions["first"].null_count() <= sum(len(rows) - len({row[1] for row in rows}) for rows in every)
    world, said = videos(found, WORDS), 0
    for a in ACTIONS:
        for b in ACTIONS:
            for time in ("while", "after"):
                program = parse(f"within(happening({PHRASES[b]}), {time}({PHRASES[a]}))", VIDEO)
                answers = answer(program, world, {})
                for at, rows in enumerate(every):
                    spans = {action: span for action, *span in rows}
                    if a == b or not {a, b} <= spans.keys():
                        continue
                    one, other = ((spans[each][0], spans[each][1]) for each in (a, b))
                    if time == "after" and one[0] == one[1]:  # of a moment there is no frame after it
                        continue
                    true = overlap(one, other) if time == "while" else max(other[1], other[0] + 1e-6) > one[1]
                    assert bool(answers[at]) == true, (time, one, other)
                    said += true
    assert said > 100
