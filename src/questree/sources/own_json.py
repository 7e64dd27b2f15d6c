"""People's own videos as JSON <-> facts."""

from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.progress import watch
from questree.sources.assemble import BOX_COLUMNS, Reading, assemble
from questree.sources.own_rows import Taken
from questree.sources.own_schema import Collection, Frame, Span, Thing, Video, decode
from questree.tables.facts import Facts
from questree.tables.store import new_file
from questree.vocabulary.words import Vocabulary


def read_own_json(source: Path, vocabulary: Vocabulary) -> Reading:
    """A file or all JSON files of a folder; with any fault nothing is taken and all faults are raised."""
    taken = Taken(vocabulary)
    for path in own_files(source):
        try:
            data = path.read_bytes().removeprefix(BOM_UTF8)
        except OSError as error:
            taken.faults.append(Fault(str(path), f"cannot be read ({error.strerror})"))
            continue
        videos = decode(data, path, taken.faults)
        for video in watch(videos, f"taking in {path.name}", len(videos)):
            taken.video(video, path)
    refuse(taken.faults)
    return assemble(taken.rows(), vocabulary, str(source))


def read_records(records: Iterable[Any], vocabulary: Vocabulary, source: Path) -> Reading:
    """Videos that a plugin's source yields, each a record as one in a JSON file is."""
    taken = Taken(vocabulary)
    data = msgspec.json.encode({"videos": list(records)})
    for video in decode(data, source, taken.faults):
        taken.video(video, source)
    refuse(taken.faults)
    return assemble(taken.rows(), vocabulary, str(source))


def own_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise BadInput.at(source, "no such file or folder")
    found = sorted(source.glob("*.json"))
    if not found:
        raise BadInput.at(source, "no JSON file in this folder")
    return found


def write(facts: Facts, vocabulary: Vocabulary, path: Path) -> None:
    """The facts as a file that `questree ingest json` reads; presence comes from visible objects again."""
    frames = _frames(facts, vocabulary)
    videos = [
        Video(id, [], split, length, width, height) for id, split, length, width, height in facts.videos.iter_rows()
    ]
    for (video, _), frame in frames.items():
        videos[video].frames.append(frame)
    for video, action, start, end in facts.actions.select("video", "action", "start", "end").iter_rows():
        videos[video].actions.append(Span(vocabulary.actions[action].id, start, end))
    with new_file(path) as work:
        work.write_bytes(msgspec.json.format(msgspec.json.encode(Collection(videos)), indent=1) + b"\n")


def _frames(facts: Facts, vocabulary: Vocabulary) -> dict[tuple[int, int], Frame]:
    """(video, position) -> frame with everything in it."""
    frames = {(video, at): Frame(number, seconds) for video, at, number, seconds in facts.frames.iter_rows()}
    things: dict[tuple[int, int, int], Thing] = {}
    for video, at, kind, *box, visible in _short(facts.objects).iter_rows():
        thing = Thing(vocabulary.objects[kind].name, None if box[0] is None else tuple(box), visible)
        things[video, at, kind] = thing
        frames[video, at].objects.append(thing)
    for video, at, *box, score in _short(facts.persons).iter_rows():
        frames[video, at].person, frames[video, at].person_score = tuple(box), score
    names = _relation_names(vocabulary)
    for video, at, relation, kind in facts.relations.iter_rows():
        own = things.get((video, at, kind))
        if names[relation] and own:
            own.relations.append(names[relation])
        elif names[relation]:
            frames[video, at].relations.append((names[relation], vocabulary.objects[kind].name))
    return frames


def _short(table: pl.DataFrame) -> pl.DataFrame:
    """Single precision numbers with the digits they need, not with those of double precision."""
    single = [name for name in (*BOX_COLUMNS, "score") if name in table.columns]
    return table.with_columns(pl.col(single).cast(pl.String).cast(pl.Float64))


def _relation_names(vocabulary: Vocabulary) -> list[str]:
    """The name where it is unique, else the id; "" for derived relations, which are not written."""
    at = vocabulary.relation_at
    return [
        "" if word.group == "derived" else word.name if at[word.name] == position else word.id
        for position, word in enumerate(vocabulary.relations)
    ]
