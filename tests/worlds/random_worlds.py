"""Random small worlds and random programs about them: few words, so that things collide.

A world is text as `small.py` reads it, so that a failing example can be read and pasted into a test.
"""

from random import Random

from hypothesis import strategies as st

from judges import facts as judge
from questree.domains.video import VIDEO
from questree.terms import BOOL, Kind, Node, Op, Slot, Term, Word, slots

GAPS = (0.0, 0.5, 1.0, 2.0, 4.5, 5.0, 7.0, 7.5)  # seconds between frames, around the thresholds of 1, 5 and 7
THINGS = ("phone", "paper", "light", "dish", "box")
TIES = (
    "holding",
    "touching",
    "not contacting",
    "other relationship",
    "in front of",
    "looking at",
    "turning",
    "laughing at",
)
# pairs shared by two actions, a place, nouns merged away, a contact verb, no object (three), an object that is no class
DEEDS = ("c015", "c026", "c115", "c104", "c105", "c106", "c043", "c044", "c066", "c133", "c144", "c149", "c151", "c154")
ASKED = {
    "object": ("o24", "o23", "o20", "o12", "o6", "o5", "o11", "o1", "h1"),
    "relation": ("r15", "r22", "r18", "r19", "r6", "r1", "r12", "v027", "v009", "v023", "v008", "d2"),
    "action": (*DEEDS, "c146", "c147"),
}


def world(seed: int, videos: int, whole: bool = False) -> list[str]:
    """Videos as text. `whole`: the facts keep the promises the consistency of answers rests on (13.1)."""
    random = Random(seed)
    return [video(random, number, whole) for number in range(videos)]


def video(random: Random, number: int, whole: bool) -> str:
    sizes = [3, 5, 6, 7, 8, 9, 10, 12, 70] if whole else [0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 64, 65, 130]
    seconds = clock(random, random.choice(sizes))
    stamps = deeds(random, seconds, random.randrange(3, 8) if whole else random.randrange(6))
    lines = [f"video V{number}"]
    lines += [f"frames {' '.join(f'{second:g}' for second in seconds)}"] if seconds else []
    lines += ties(random, len(seconds))
    lines += [
        f"action {action} {start:g} {end:g}"
        for action, start, end in stamps
        if not whole or inside(seconds, start, end)
    ]
    lines += promised(random, seconds, stamps) if whole or random.randrange(2) else []
    return "\n".join(lines)


def promised(random: Random, seconds: list[float], stamps: list[tuple[str, float, float]]) -> list[str]:
    """The facts that actions entail on their frames; some are seen earlier too, where another action begins."""
    lines = []
    spans = {stamp: frames for stamp in stamps if (frames := inside(seconds, *stamp[1:]))}
    for (action, *_), frames in spans.items():
        if about := judge.pair(action):
            lines += judge.promised(action, frames[0], frames[-1])
            earlier = [other for other in spans.values() if other[-1] < frames[0]]
            stray = random.choice(earlier or [frames])[0]
            lines += [f"bare {about[1]} {stray}: {about[0]}"] if random.randrange(2) else []
    return lines


def inside(seconds: list[float], start: float, end: float) -> list[int]:
    return [frame for frame, second in enumerate(seconds) if start <= second <= end]


def clock(random: Random, size: int) -> list[float]:
    gaps = [random.choice(GAPS) for _ in range(min(size, 9))]
    seconds = [sum(gaps[: at + 1]) for at in range(len(gaps))]
    return seconds + [seconds[-1] + at for at in range(1, size - len(seconds) + 1)]


def span(random: Random, size: int) -> tuple[int, int]:
    """Some frames: mostly few, often from the first or up to the last."""
    begin = random.choice([0, random.randrange(size), random.randrange(size)])
    few = min(size - 1, begin + random.randrange(3))
    return begin, random.choice([begin, begin, few, few, random.randrange(begin, size), size - 1])


def ties(random: Random, size: int) -> list[str]:
    """Objects with relations, with relations but not annotated, and annotated only."""
    lines = []
    things, relations = random.sample(THINGS, 3), random.sample(TIES, 4)
    for _ in range(random.randrange(9) if size else 0):
        begin, end = span(random, size)
        bare, alone = random.choice(["", "", "", "bare "]), random.randrange(4) == 0
        what = f"{random.choice(things)} {begin}-{end}"
        lines.append(what if alone else f"{bare}{what}: {random.choice(relations)}")
    return lines


def deeds(random: Random, seconds: list[float], count: int) -> list[tuple[str, float, float]]:
    """Action instances by start; two of one action never overlap (2.2, rule 11)."""
    found: list[tuple[str, float, float]] = []
    alike = random.choice([("c104", "c105"), ("c026", "c115"), ("c043", "c044"), ("c015", "c154")])
    pool = [*alike, *alike, *random.sample(DEEDS, 3)]
    for _ in range(count):
        begin, end = span(random, len(seconds)) if seconds else (0, 0)
        first, last = (seconds[begin], seconds[end]) if seconds else (1.0, 3.0)
        start = max(0.0, first + random.choice([0, 0, -0.5, -1, -3, 0.25]))
        stamp = (random.choice(pool), start, max(start, last + random.choice([0, 0, 0.5, 1, 8])))
        if not any(other[0] == stamp[0] and other[1] <= stamp[2] and stamp[1] <= other[2] for other in found):
            found.append(stamp)
    return sorted(found, key=lambda stamp: stamp[1])


def height(wanted: Kind | Op) -> int:
    """How many calls the smallest program of a kind, or the smallest call of an operator, has inside each other."""
    if isinstance(wanted, Op):
        return 1 + max(map(height, wanted.params.values()), default=0)
    return 0 if wanted.words else HEIGHTS[wanted.name]


HEIGHTS = {"window": 1, "frames": 1, "order": 1, "bool": 1, "objects": 2}


@st.composite
def programs(draw: st.DrawFn, wanted: Kind, depth: int, call: bool = False) -> Term:
    """A program of a kind, drawn from the signatures; leaves are mostly slots."""
    fits = [op for op in VIDEO.ops.values() if op.result == wanted or (wanted == BOOL and op.result.yes)]
    fits = [op for op in fits if height(op) <= max(depth, height(wanted))]
    if wanted.words and not (fits and (call or draw(st.integers(0, 7)) == 7)):
        if draw(st.integers(0, 4)) < 4:
            return Slot(f"{wanted.name}{draw(st.integers(0, 5))}", wanted)
        return Word(draw(st.sampled_from(ASKED[wanted.name])), wanted)
    return draw(calls(draw(st.sampled_from(fits)), depth))


@st.composite
def calls(draw: st.DrawFn, op: Op, depth: int = 3) -> Node:
    """A call of the operator; what it computes by itself (its target) is mostly a call too."""
    return op(*[draw(programs(kind, depth - 1, name == op.target)) for name, kind in op.params.items()])


def rows(random: Random, node: Node, videos: list[judge.Video], count: int) -> list[dict[str, int]]:
    """Row by row the video and a word for every slot, mostly words of things that go together in the video."""
    found = []
    for number in random.choices(range(len(videos)), k=count):
        near = pools(random, videos[number])
        row = {"video": number}
        for name, slot in slots(node).items():
            pool = near[slot.kind.name] if random.randrange(8) else ()
            row[name] = POSITIONS[slot.kind.name][random.choice(pool or ASKED[slot.kind.name])]
        found.append(row)
    return found


def pools(random: Random, video: judge.Video) -> dict[str, list[str]]:
    """Words to fill a row's slots with: a relation of the video, the objects it has, the actions done."""
    ties = sorted({(r, o) for facts in video.facts for r, o in facts if r != judge.ANNOTATED})
    relation = random.choice(ties)[0] if ties else ""
    return {
        "relation": [relation] if ties else [],
        "object": sorted({o for r, o in ties if r == relation or random.randrange(4) == 0}),
        "action": sorted({instance.action for instance in video.instances}),
    }


POSITIONS = {
    "object": judge.WORDS.object_at,
    "relation": judge.WORDS.relation_at,
    "action": judge.WORDS.action_at,
}
