"""Frames of made-up videos as scenes to draw: what is true of them, not what annotators noticed."""

from collections.abc import Iterator, Sequence

from questree.draw.scene import Doing, FrameScene, SeenThing, Spell, marks
from questree.synth.habits import habits
from questree.synth.video import SynthVideo, name_the_closest
from questree.vocabulary.words import Vocabulary


def scenes(video: SynthVideo) -> Iterator[FrameScene]:
    """One per annotated frame, in order."""
    words = habits().words
    names = [relation.name for relation in words.relations]
    nouns = [words.objects[o].name for o in video.objects]
    closest = name_the_closest(video.relations, habits()).tolist()
    spells = [Spell(doing_of(span.action, words), span.start, span.end) for span in video.spans]
    for frame, second in enumerate(video.seconds.tolist()):
        states = states_at(spells, second)
        things = tuple(
            SeenThing(
                noun,
                tuple(video.boxes[frame, column].tolist()),
                frozenset(name for bit, name in enumerate(names) if closest[frame][column] >> bit & 1),
                states.get(noun, frozenset()),
            )
            for column, noun in enumerate(nouns)
            if video.visible[frame, column]
        )
        person, when = tuple(video.person[frame].tolist()), min(second / video.length, 1.0)
        yield FrameScene(video.size, video.scene, video.subject, person, things, under_way(spells, second), when)


def under_way(spells: Sequence[Spell], second: float) -> tuple[Doing, ...]:
    return tuple(dict.fromkeys(each.doing for each in spells if each.start <= second < each.end))


def doing_of(at: int, words: Vocabulary) -> Doing:
    noun = int(words.noun_of[at])
    return Doing(
        words.actions[at].phrase,
        words.relations[words.verb_of[at]].name,
        words.objects[noun].name if noun >= 0 else "",
    )


def states_at(spells: Sequence[Spell], second: float) -> dict[str, frozenset[str]]:
    """word -> what it is then: as the last change left it, before the first one as that found it; and while in use."""
    known, found = marks(), dict[str, dict[str, float]]()
    lasting = dict[str, set[str]]()
    for action, start, end in spells:
        change = known.becomes.get(action.phrase) or known.becomes.get(action.verb)
        if change and action.thing:
            seen, done = found.setdefault(action.thing, {}), (start + end) / 2
            if done <= second:
                seen[change[0]] = max(seen.get(change[0], -1.0), done)
            else:
                seen.setdefault(change[1], -2.0 - done)
        if start <= second <= end:
            lasting.setdefault(action.thing, set()).update(known.during.get(action.verb, []))
    last = {word: {max(seen, key=lambda state: seen[state])} for word, seen in found.items()}
    return {word: frozenset(last.get(word, set()) | lasting.get(word, set())) for word in last.keys() | lasting.keys()}
