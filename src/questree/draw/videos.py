"""Frames of made-up videos as scenes to draw: what is true of them, not what annotators noticed."""

from collections.abc import Iterator

from questree.draw.scene import Doing, FrameScene, SeenThing, marks
from questree.synth.habits import habits
from questree.synth.video import SynthVideo, name_the_closest


def scenes(video: SynthVideo) -> Iterator[FrameScene]:
    """One per annotated frame, in order."""
    words = habits().words
    names = [relation.name for relation in words.relations]
    nouns = [words.objects[o].name for o in video.objects]
    closest = name_the_closest(video.relations, habits()).tolist()
    for frame, second in enumerate(video.seconds.tolist()):
        states = states_at(video, second)
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
        now = [s.action for s in video.spans if s.start <= second <= s.end]
        doing = tuple(_doing(action) for action in dict.fromkeys(now))
        person, when = tuple(video.person[frame].tolist()), min(second / video.length, 1.0)
        yield FrameScene(video.size, video.scene, video.subject, person, things, doing, when)


def _doing(at: int) -> Doing:
    words = habits().words
    noun = int(words.noun_of[at])
    return Doing(
        words.actions[at].phrase,
        words.relations[words.verb_of[at]].name,
        words.objects[noun].name if noun >= 0 else "",
    )


def states_at(video: SynthVideo, second: float) -> dict[str, frozenset[str]]:
    """word -> what it is then: as the last change left it, before the first one as that found it; and while in use."""
    known, found = marks(), dict[str, dict[str, float]]()
    lasting = dict[str, set[str]]()
    for span in video.spans:
        action = _doing(span.action)
        change = known.becomes.get(action.phrase) or known.becomes.get(action.verb)
        if change and action.thing:
            seen, done = found.setdefault(action.thing, {}), (span.start + span.end) / 2
            if done <= second:
                seen[change[0]] = max(seen.get(change[0], -1.0), done)
            else:
                seen.setdefault(change[1], -2.0 - done)
        if span.start <= second <= span.end:
            lasting.setdefault(action.thing, set()).update(known.during.get(action.verb, []))
    last = {word: {max(seen, key=lambda state: seen[state])} for word, seen in found.items()}
    return {word: frozenset(last.get(word, set()) | lasting.get(word, set())) for word in last.keys() | lasting.keys()}
