"""The class names that people's own videos use, before there is a vocabulary for them."""

from pathlib import Path

from questree.faults import Fault, refuse
from questree.sources.own_json import OwnVideos
from questree.sources.own_records import given
from questree.vocabulary.draft import UsedWords


def used_words(source: Path) -> UsedWords:
    """Of a file or a folder of them, counted; what is wrong with the files besides is told when they are ingested."""
    found, faults = UsedWords(), list[Fault]()
    for video, _ in given(source, OwnVideos, faults):
        for frame in video.frames:
            for thing in frame.objects:
                found.objects[thing.name] += 1
                found.relations.update(thing.relations)
            for *_, relation, name in frame.relations:  # whoever it is of
                found.objects[name] += 1
                found.relations[relation] += 1
        found.actions.update(span.name for span in video.actions)
    refuse(faults)
    return found
