"""What a made-up world shows: how near it is to its statistics, and how many videos have what stages must cope with."""

from collections import Counter
from itertools import combinations

import numpy as np

from questree.synth.habits import Array, habits
from questree.synth.statistics import statistics, tables
from questree.synth.video import SynthVideo, name_the_closest
from questree.vocabulary.words import NONE

ENOUGH = 20  # instances of an action before its quantiles are compared


def closeness(lengths: Array, rows: Array) -> dict[str, float]:
    """`lengths`: [video] seconds; `rows`: [instance, 4] video, action, start, end."""
    known = statistics()
    ids = tuple(action.id for action in habits().words.actions)
    there = tables(ids)
    counts = np.bincount(rows[:, 1].astype(int), minlength=len(ids))
    sizes = {int(size): count for size, count in known.actions_per_video.items()}
    mean = sum(size * count for size, count in sizes.items()) / sum(sizes.values())
    found = {f"length, {q} % quantile": float(np.percentile(lengths, q)) / v for q, v in _named(known.lengths).items()}
    listed = there.overlaps + there.follows + there.follows.T
    together, overlapping = _pairs(rows, len(ids))
    upper = np.triu(listed > 0, 1)
    return found | {
        "actions per video": len(rows) / len(lengths) / mean,
        "videos without action": (1 - len(np.unique(rows[:, 0])) / len(lengths)) / (sizes[0] / known.videos),
        "rank correlation of action frequencies": _rank_correlation(counts, there.instances),
        "rank correlation of listed pairs": _rank_correlation(together[upper], listed[upper]),
        "rank correlation of overlapping pairs": _rank_correlation(overlapping[upper], there.overlaps[upper]),
        **_times(lengths, rows, ids),
    }


def _named(quantiles: tuple[float, ...]) -> dict[int, float]:
    return dict(zip((5, 25, 50, 75, 95), quantiles, strict=True))


def _times(lengths: Array, rows: Array, ids: tuple[str, ...]) -> dict[str, float]:
    """Duration ratios and distances between relative starts: means over actions, weighted by their instances."""
    lasting = rows[:, 3] - rows[:, 2]
    begun = rows[:, 2] / lengths[rows[:, 0].astype(int)]
    ratios: dict[int, list[float]] = {25: [], 50: [], 75: []}
    apart, weights = [], []
    for action, name in enumerate(ids):
        mine = rows[:, 1] == action
        if mine.sum() < ENOUGH:
            continue
        weights.append(int(mine.sum()))
        wanted = statistics().actions[name]
        for q in ratios:
            ratios[q].append(np.percentile(lasting[mine], q) / _named(wanted.durations)[q])
        apart.append(abs(np.percentile(begun[mine], 50) - _named(wanted.starts)[50]))
    if not weights:
        return {}
    found = {f"duration, {q} % quantile": float(np.average(ratios[q], weights=weights)) for q in ratios}
    return found | {"relative start, distance of medians": float(np.average(apart, weights=weights))}


def _pairs(rows: Array, actions: int) -> tuple[Array, Array]:
    """How often two actions are in one video, and how often they overlap there, [action, action] symmetric."""
    together, overlapping = np.zeros((2, actions, actions))
    for video in np.split(rows, np.flatnonzero(np.diff(rows[:, 0])) + 1):
        for (one, begin, end), (other, start, stop) in combinations(video[:, 1:].tolist(), 2):
            together[int(one), int(other)] += 1
            overlapping[int(one), int(other)] += begin < stop and start < end
    return together + together.T, overlapping + overlapping.T


def _rank_correlation(one: Array, other: Array) -> float:
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def _ranks(values: Array) -> Array:
    """Equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])


def features(video: SynthVideo) -> dict[str, bool]:
    """What stages must cope with, and whether this video shows it."""
    known, words = habits(), habits().words
    actions = [span.action for span in video.spans]
    nouns = {int(words.noun_of[a]) for a in actions}
    pairs = [(words.actions[a].verb, words.actions[a].object) for a in set(actions) if words.actions[a].object]
    ends = [(s.start, s.end) for s in video.spans]  # sorted by start
    first, last = video.seconds[[0, -1]] if len(video.numbers) else (-1.0, -1.0)
    ever = np.bitwise_or.reduce(video.relations, axis=0)  # [object]
    idle = np.array([o not in nouns for o in video.objects], bool) & video.visible.any(0)
    spatial, contact = known.groups["spatial"], known.groups["contact"]
    lasting = (spatial | contact) & ~known.mask(words.lists.not_touching_contacts)
    shown = {
        "a second instance of an action": len(set(actions)) < len(actions),
        "overlapping actions": any(b[0] < a[1] for k, a in enumerate(ends) for b in ends[k + 1 :]),
        "two actions with one verb and object": len(set(pairs)) < len(pairs),
        "an action without object": NONE in nouns,
        **{f"merged noun: {word.name}": o in nouns for o, word in enumerate(words.objects) if word.merged},
        "an object with only spatial relations": (idle & ((ever & spatial) != 0) & ((ever & contact) == 0)).any(),
        "an object with no relation at all": (idle & (ever == 0)).any(),
        "not contacting": (ever & known.bit("not contacting")).any(),
        "other relationship": (ever & known.bit("other relationship")).any(),
        "a relation lasting to the last frame": (video.relations[-1:] & lasting).any(),
        "an action on the first frame": any(start <= first <= end for start, end in ends),
        "an action on the last frame": any(start <= last <= end for start, end in ends),
        "hair or hands": any(words.objects[o].part_only for o in nouns - {NONE}),
        "more than 64 frames": len(video.numbers) > 64,
    }
    return {name: bool(there) for name, there in shown.items()}


def richness(video: SynthVideo) -> Counter[str]:
    """How much there is: frames, actions, objects (merged), relations, (relation, object) tracks with those of verbs.

    Attention, no contact and what follows from another relation of the frame are not counted."""
    words = habits().words
    left_out = habits().groups["attention"] | habits().mask(words.lists.not_touching_contacts)
    closest = name_the_closest(video.relations, habits()) & ~left_out
    tracks = {(int(words.verb_of[s.action]), int(words.object_of[s.action])) for s in video.spans}
    tracks = {track for track in tracks if track[1] != NONE}
    for column, o in enumerate(video.objects):
        ever = int(np.bitwise_or.reduce(closest[:, column]))
        tracks |= {(at, int(words.merged_object[o])) for at in range(ever.bit_length()) if ever >> at & 1}
    things = {int(words.merged_object[o]) for o in video.objects}
    return Counter(
        frames=len(video.numbers),
        actions=len(video.spans),
        objects=len(things),
        relations=len({relation for relation, _ in tracks}),
        tracks=len(tracks),
        entries=int(video.annotated.sum()),
    )
