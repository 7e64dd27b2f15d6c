"""Random worlds for the generator: a few things, relations and actions per video, so that rules and references collide.

Worlds are text as `small.py` reads it. A theme lists objects, relations and actions that go together, with what the
rules are about: pairs, similar and banned objects, held-out compositions, actions that share a pair or have no object.
"""

from random import Random
from typing import NamedTuple

from judges.facts import promised

GAPS = (0.5, 1.0, 2.0, 4.5, 5.0, 7.5)  # seconds between frames, around the thresholds of 1, 5 and 7
SIZES = (0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, 66)  # frames
COMMON = ("holding", "touching", "in front of", "behind")


class Theme(NamedTuple):
    things: tuple[str, ...]
    ties: tuple[str, ...]
    deeds: tuple[str, ...]


THEMES = (
    Theme(
        ("food", "dish", "table", "medicine"),
        ("wiping", "beneath", "in front of", "holding", "eating", "on the side of", "taking"),
        ("c061", "c063", "c065", "c107", "c118", "c106", "c009", "c010", "c011", "c111", "c129"),
    ),
    Theme(
        ("door", "doorway", "doorknob", "closet", "bag"),
        ("touching", "holding", "in", "behind", "opening", "grasping"),
        ("c006", "c008", "c097", "c141", "c113", "c020", "c021", "c154"),
    ),
    Theme(
        ("phone", "laptop", "paper", "picture", "light"),
        ("holding", "carrying", "playing on", "turning", "other relationship", "watching", "laughing at", "smiling at"),
        ("c015", "c016", "c018", "c026", "c028", "c048", "c083", "c087", "c104", "c105", "c115", "c116", "c149"),
    ),
    Theme(
        ("clothes", "shoe", "blanket", "pillow", "bed", "chair", "floor"),
        ("wearing", "touching", "standing on", "sitting on", "leaning on", "covered by", "not contacting", "above"),
        ("c072", "c078", "c070", "c134", "c135", "c148", "c151", "c060", "c055", "c126", "c053", "c077"),
    ),
    Theme(
        ("box", "broom", "vacuum", "mirror"),
        ("holding", "taking", "throwing", "putting down", "fixing", "looking at", "washing"),
        ("c043", "c044", "c040", "c042", "c101", "c098", "c102", "c136", "c144", "c139", "c153", "c093"),
    ),
)

RARE_CASES = (
    # more than 8 steps: between the longest and the shortest action, with indirect objects
    """
    video Steps
    frames 0 10 20 25 30 35 40 45 50 51
    dish 0: behind
    box 2: behind
    dish 3: touching
    box 5: touching
    bag 9
    action c070 0 20
    action c154 50 51
    """,
    # the first and the last object of a relation is one it is common sense to touch
    """
    video Common
    frames 0 1 2 3 4 5 6
    clothes 0,4: touching
    box 2: touching
    """,
    # the last action is putting something somewhere
    """
    video Put
    frames 0 10 20 30
    action c077 0 10.5
    action c098 0 2
    """,
    """
    video Throw
    frames 0 10 20 30
    action c080 0 10.5
    action c098 0 2
    """,
    # between the last instance of an action that is held out after "before" and another action
    """
    video Twice
    frames 0 1 2 3 4 5 6 7 8 9
    dish 1: touching
    box 5: touching
    action c154 0 0
    action c154 3 3
    action c020 8 8
    """,
    # the bag is held on the first frame of the action that comes before holding it: no "after" (13.3)
    """
    video Held
    frames 0 1 2 3 4 5 6 7
    bag 2,5-6: holding
    action c098 2 3
    action c020 5 6
    """,
    # a relation held out after "first"
    """
    video Lean
    frames 0 1 2 3 4 5
    chair 1: leaning on
    table 3: leaning on
    """,
    # something that is not named is taken first and last, or may be the other option
    """
    video Unnamed
    frames 0 1 2 3 4 5 6 7 8
    bare h3 1,7: taking
    box 3: taking
    broom 5: taking
    """,
    """
    video Option
    frames 0 1 2 3 4 5
    box 1: taking
    broom 3
    bare h3 4: taking
    """,
    # nothing but hair
    """
    video Hair
    frames 0 1 2
    hair 1
    """,
    # many ways to name one object
    """
    video Names
    frames 0 1 2
    dish 0: holding, carrying, touching, behind, wiping
    """,
    # choices after, before and while an action whose object is a reference: the whole video's answer is another one,
    # the same, or none
    """
    video After
    frames 0 1 2 3 4 5 6 7 8
    laptop 0-1: opening, behind
    dish 0: touching
    phone 2: touching
    dish 5: touching
    phone 3: on the side of
    dish 5: on the side of
    dish 0: wiping
    phone 0: wiping
    phone 3: wiping
    dish 5: wiping
    action c048 0 1
    """,
    """
    video Before
    frames 0 1 2 3 4 5 6 7 8 9 10
    laptop 9-10: opening, behind
    dish 2: touching, in front of, wiping
    phone 5: touching, in front of, wiping
    dish 10: touching, wiping
    phone 10: wiping
    action c048 9 10
    """,
    """
    video While
    frames 0 1 2 3 4 5 6 7 8
    broom 1-7: taking, behind
    dish 2: touching
    phone 4: touching
    dish 6: touching
    action c100 1 7
    """,
    # a released question: walking through something before or after taking food contains a held-out composition (3.5)
    """
    video Doorway
    frames 0 1 2 3 4
    food 0-1: taking
    doorway 3: walking
    action c063 0 1
    action c097 3 3
    """,
    # before the second time of an action it was done itself
    """
    video Again
    frames 0 1 2 3 10 11 20 21 30
    action c098 0 1
    action c020 2 3
    action c154 10 11
    action c154 20 21
    """,
    # no time shows both things, but all times together do
    """
    video Apart
    frames 0 1 2 3 4 5 6 7 8
    dish 2: holding
    bag 6: holding
    action c154 1 2
    action c154 5 6
    """,
    # the longest (shortest) single time is of one action, the most (least) time in all of another
    """
    video Longest
    frames 0 20 40 60 80 90
    action c098 0 20
    action c020 40 53
    action c020 60 73
    action c154 80 81
    """,
    """
    video Shortest
    frames 0 20 40 60 80 90
    action c098 0 1
    action c098 20 40
    action c020 60 70
    """,
    # both agree though an action is done again, once where no frame shows it
    """
    video Agree
    frames 0 20 40 60 80 90
    action c098 0 20
    action c020 40 43
    action c020 60 63
    action c154 80 84
    action c154 86 87
    """,
    # two actions with one verb and one object: neither can be named by them
    *(
        f"""
    video {a}{b}
    frames 0 1 2 3 4 5 6 7 8
    {thing} 0-1: behind
    bag 8: behind
    box 3-4: holding
    action {a} 2 3
    action {b} 5 6
    """
        for a, b, thing in (("c010", "c011", "table"), ("c043", "c044", "box"), ("c028", "c116", "paper"))
    ),
)


def world(seed: int, videos: int) -> list[str]:
    random = Random(seed)
    return [video(random, number) for number in range(videos)]


def video(random: Random, number: int, sizes: tuple[int, ...] = SIZES) -> str:
    """A video as text; mostly its facts keep the promises of augmented ones (13.1), sometimes not."""
    theme, other = random.choice(THEMES), random.choice(THEMES)
    size = random.choice(sizes)
    seconds = clock(random, size)
    lines = [f"video V{number}"]
    if seconds:
        lines.append(f"frames {' '.join(f'{second:g}' for second in seconds)}")
    lines += ties(random, size, [*random.sample(theme.things, 3), random.choice(other.things)], theme.ties)
    keeps = random.randrange(5) > 0
    for action, start, end in deeds(random, seconds, [*random.sample(theme.deeds, 4), random.choice(other.deeds)]):
        inside = [frame for frame, second in enumerate(seconds) if start <= second <= end]
        lines.append(f"action {action} {start:g} {end:g}")
        if inside and keeps:
            lines += promised(action, inside[0], inside[-1])
    return "\n".join(lines)


def repeating(seed: int, videos: int, whole: bool = False) -> list[str]:
    """`whole`: the facts keep the promises the consistency of answers rests on (13.1)."""
    random = Random(seed)
    return [again(random, number, whole) for number in range(videos)]


def again(random: Random, number: int, whole: bool = False) -> str:
    """A video whose few actions follow one another again and again, mostly without a pause, some two at a time."""
    theme = random.choice(THEMES)
    size = random.choice((9, 12, 14))
    seconds = clock(random, size)
    lines = [f"video R{number}", f"frames {' '.join(f'{second:g}' for second in seconds)}"]
    lines += [line for _ in range(2) for line in ties(random, size, random.sample(theme.things, 2), theme.ties)]
    pool, keeps = random.sample(theme.deeds, random.choice((2, 2, 3))), whole or random.randrange(3) > 0
    frame, before = random.randrange(2), ""
    while frame < size - 1:
        action = random.choice([deed for deed in pool if deed != before])
        last = min(frame + random.choice((1, 1, 2, 3)), size - 1)
        lines.append(f"action {action} {seconds[frame]:g} {seconds[last]:g}")
        lines += promised(action, frame, last) if keeps else []
        if random.randrange(5) == 0 and len(pool) > 2:
            other = next(deed for deed in pool if deed not in (action, before))
            lines.append(f"action {other} {seconds[frame]:g} {seconds[last]:g}")
            lines += promised(other, frame, last) if keeps else []
        frame, before = last + random.choice((0, 0, 0, 1, 2)), action
    return "\n".join(lines)


def ragged(seed: int, videos: int) -> list[str]:
    """Videos in which actions begin and end between frames, far from these; some have none."""
    random, found = Random(seed), list[str]()
    for number in range(videos):
        theme, seconds = random.choice(THEMES), [4.0 * frame for frame in range(7)]
        lines = [f"video G{number}", f"frames {' '.join(f'{second:g}' for second in seconds)}"]
        lines += ties(random, len(seconds), random.sample(theme.things, 3), theme.ties)
        for action in random.sample(theme.deeds, 5):
            start = random.randrange(44) / 2 + 0.25
            end = start + random.choice([1, 2, 3, 6, 9])
            inside = [frame for frame, second in enumerate(seconds) if start <= second < end]
            lines.append(f"action {action} {start:g} {end:g}")
            lines += promised(action, inside[0], inside[-1]) if inside else []
        found.append("\n".join(lines))
    return found


def clock(random: Random, size: int) -> list[float]:
    seconds = [0.0] if size else []
    while len(seconds) < size:
        seconds.append(seconds[-1] + (random.choice(GAPS) if len(seconds) < 10 else 1.0))
    return seconds


def span(random: Random, size: int) -> tuple[int, int]:
    """Some frames: mostly few, often from the first or up to the last."""
    begin = random.choice([0, random.randrange(size), random.randrange(size)])
    few = min(size - 1, begin + random.randrange(3))
    return begin, random.choice([begin, few, few, random.randrange(begin, size), size - 1])


def ties(random: Random, size: int, things: list[str], own: tuple[str, ...]) -> list[str]:
    """Objects with relations, with relations but not annotated, and annotated only; rarely hair, never to be asked."""
    lines = []
    relations = [*random.sample(own, 3), random.choice(COMMON)]
    for _ in range(random.randrange(2, 10) if size else 0):
        begin, end = span(random, size)
        bare, alone = random.choice(["", "", "", "bare "]), random.randrange(6) == 0
        what = f"{random.choice(things) if random.randrange(20) else 'hair'} {begin}-{end}"
        lines.append(what if alone else f"{bare}{what}: {random.choice(relations)}")
    return lines


def deeds(random: Random, seconds: list[float], pool: list[str]) -> list[tuple[str, float, float]]:
    """Action instances by start, some without a frame; two of one action never overlap (2.2, rule 11)."""
    found: list[tuple[str, float, float]] = []
    for _ in range(random.randrange(6)):
        begin, end = span(random, len(seconds)) if seconds else (0, 0)
        first, last = (seconds[begin], seconds[end]) if seconds else (1.0, 3.0)
        start = max(0.0, first + random.choice([0, 0, 0, -0.5, -1, 0.25]))
        stamp = (random.choice(pool), start, max(start, last + random.choice([0, 0, 0.5, 1, 8])))
        if not any(other[0] == stamp[0] and other[1] <= stamp[2] and stamp[1] <= other[2] for other in found):
            found.append(stamp)
    return sorted(found, key=lambda stamp: stamp[1])
