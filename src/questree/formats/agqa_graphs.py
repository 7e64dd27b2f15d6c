"""Facts as AGQA's spatio-temporal scene graphs: frames, actions, objects and relations that point at each other."""

import struct
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from questree.formats.agqa_records import frame_name
from questree.progress import watch
from questree.sources.agqa import FILES, GROUPS
from questree.tables.facts import BOX, Facts
from questree.vocabulary.words import NONE, Vocabulary

PROTOCOL = b"\x80\x03"
NULL, TRUE, FALSE, STOP, POP, MARK = b"N", b"\x88", b"\x89", b".", b"0", b"("
EMPTY_DICT, EMPTY_LIST, SET_ITEM, SET_ITEMS, APPENDS, TUPLE = b"}", b"]", b"s", b"u", b"e", b"t"


class Link(int):
    """Stands for another dictionary of the same group, by its number."""


class LinkedPickle:
    """One dictionary: key -> group, a group being dictionaries by name; only those of a group link to each other.

    Memory slots are used again for every group, so a reader needs no more memory than the dictionaries take.
    """

    def __init__(self, file: BinaryIO, words: Sequence[str]):
        """words: texts that occur often (at most 256), stored once."""
        self._file = file
        self._known = {word: b"h" + bytes([at]) for at, word in enumerate(words)}
        file.write(PROTOCOL + b"".join(_text(word) + b"q" + bytes([at]) + POP for at, word in enumerate(words)))
        file.write(EMPTY_DICT)

    def add(self, key: str, names: Sequence[str], group: Sequence[Mapping[str, Any]]) -> None:
        parts = [EMPTY_DICT + b"r" + self._slot(at) + POP for at in range(len(group))]  # all exist before any is filled
        for at, each in enumerate(group):
            parts += [b"j" + self._slot(at), MARK, *self._items(each.items()), SET_ITEMS, POP]
        parts += [_text(key), EMPTY_DICT, MARK]
        for at, name in enumerate(names):
            parts += [_text(name), b"j" + self._slot(at)]
        self._file.write(b"".join(parts) + SET_ITEMS + SET_ITEM)

    def finish(self) -> None:
        self._file.write(STOP)

    def _slot(self, at: int) -> bytes:
        return struct.pack("<I", len(self._known) + at)

    def _items(self, items: Iterable[tuple[str, Any]]) -> Iterable[bytes]:
        for key, value in items:
            yield self._value(key)
            yield self._value(value)

    def _value(self, value: Any) -> bytes:
        if isinstance(value, str):
            return self._known.get(value) or _text(value)
        if isinstance(value, Link):
            return b"j" + self._slot(value)
        if value is None or isinstance(value, bool):
            return NULL if value is None else TRUE if value else FALSE
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, list):
            return EMPTY_LIST + MARK + b"".join(map(self._value, value)) + APPENDS
        if isinstance(value, tuple):
            return MARK + b"".join(map(self._value, value)) + TUPLE
        assert isinstance(value, dict), f"{type(value).__name__} has no place in a graph"
        return EMPTY_DICT + MARK + b"".join(self._items(value.items())) + SET_ITEMS


def _text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


OFTEN = (  # words of the files, stored once
    *("id", "type", "class", "secs", "metadata", "next", "prev", "frame", "frame_num", "objects", *GROUPS, "actions"),
    *("names", "vertices", "visible", "bbox", "tag", "set", "train", "test", "object", "action", "charades", "phrase"),
    *("start", "end", "length", "all_f", "object_id", "verb_id", "next_discrete", "prev_discrete"),
    *("next_instance", "prev_instance", "while"),
)
Vertex = dict[str, Any]
Place = tuple[int, int]  # frame, and an object or a relation


def write_graphs(facts: Facts, vocabulary: Vocabulary, folder: Path, splits: Sequence[str]) -> None:
    """One file per split, videos by id. splits: [video] in which file it is."""
    ids = facts.videos["id"].to_list()
    for split, name in FILES.items():
        with (folder / name).open("wb") as file:
            pickle = LinkedPickle(file, OFTEN)
            own = sorted((at for at, said in enumerate(splits) if said == split), key=ids.__getitem__)
            for at in watch(own, f"graphs, {split}", len(own)):
                graph = AgqaGraph(facts.between(at, at + 1), vocabulary, split)
                pickle.add(graph.video, list(graph.links), list(graph.vertices()))
            pickle.finish()


class AgqaGraph:
    """One video as vertices; `facts` holds nothing else."""

    def __init__(self, facts: Facts, vocabulary: Vocabulary, split: str):
        self.words, self.split, self.video = vocabulary, split, str(facts.videos["id"][0])
        self.frames = [frame_name(number) for number in facts.frames["number"]]
        self.seconds: list[float] = facts.frames["seconds"].to_list()
        self.acts = facts.actions.drop_nulls("first").sort("start", "end", "action").to_dicts()
        self.marks: dict[Place, Vertex] = {(m["frame"], m["object"]): m for m in facts.objects.to_dicts()}
        self.relations: dict[Place, list[int]] = defaultdict(list)  # (frame, object) -> its relations
        self.objects: dict[Place, list[int]] = defaultdict(list)  # (frame, relation) -> its objects
        derived = set(vocabulary.group("derived").tolist())
        for _, frame, relation, thing in facts.relations.iter_rows():
            if relation not in derived:
                self.relations[frame, thing].append(relation)
                self.objects[frame, relation].append(thing)
        # an object of a relation is a vertex even if it is not annotated: evidence points at it
        self.things, self.ties = sorted(self.marks.keys() | self.relations.keys()), sorted(self.objects)
        ids = [*self.frames, *map(self.act, self.acts), *map(self.thing, self.things), *map(self.tie, self.ties)]
        self.links = {id: Link(at) for at, id in enumerate(ids)}

    def act(self, row: Vertex) -> str:
        return f"{self.words.actions[row['action']].id}/{row['instance']}"

    def thing(self, place: Place) -> str:
        return f"{self.words.objects[place[1]].id}/{self.frames[place[0]]}"

    def tie(self, place: Place) -> str:
        return f"{self.words.relations[place[1]].id}/{self.frames[place[0]]}"

    def vertices(self) -> Iterator[Vertex]:
        """In the order of `links`."""
        yield from map(self.frame_vertex, range(len(self.frames)))
        yield from map(self.action_vertex, range(len(self.acts)))
        for place, prev, later in neighbours(self.things, self.thing):
            yield self.object_vertex(place) | {"next": self.links.get(later), "prev": self.links.get(prev)}
        for place, prev, later in neighbours(self.ties, self.tie):
            yield self.relation_vertex(place) | {"next": self.links.get(later), "prev": self.links.get(prev)}

    def frame_vertex(self, at: int) -> Vertex:
        acts = [self.act(row) for row in self.acts if at in frames_of(row)]
        grouped: dict[str, list[str]] = {group: [] for group in GROUPS}
        for place in on_frame(self.ties, at):
            grouped[self.words.relations[place[1]].group].append(self.tie(place))
        here = list(map(self.thing, on_frame(self.things, at)))
        later = self.frames[at + 1] if at + 1 < len(self.frames) else ""
        return {
            "id": self.frames[at],
            "secs": self.seconds[at],
            "type": "frame",
            "metadata": self.split,
            **{name: self.listed(ids) for name, ids in {"objects": here, **grouped, "actions": acts}.items()},
            "next": self.links.get(later),
            "prev": self.links[self.frames[at - 1]] if at else None,
        }

    def listed(self, ids: list[str]) -> Vertex:
        return {"names": [id.split("/")[0] for id in ids], "vertices": [self.links[id] for id in ids]}

    def object_vertex(self, place: Place) -> Vertex:
        frame, thing = self.frames[place[0]], self.words.objects[place[1]]
        mark = self.marks.get(place)
        return {
            "id": self.thing(place),
            "type": "object",
            "class": thing.id,
            **self.tied([place]),
            "visible": bool(mark and mark["visible"]),
            "bbox": box(mark) if mark else None,
            "metadata": {"tag": f"{self.video}.mp4/{thing.name}/{frame}", "set": self.split},
            "frame_num": frame,
            "secs": self.seconds[place[0]],
        }

    def relation_vertex(self, place: Place) -> Vertex:
        relation = self.words.relations[place[1]]
        return {
            "id": self.tie(place),
            "type": relation.group,
            "class": relation.id,
            "objects": [self.links[self.thing((place[0], thing))] for thing in self.objects[place]],
            "metadata": self.split,
            "frame": self.frames[place[0]],
            "secs": self.seconds[place[0]],
        }

    def action_vertex(self, at: int) -> Vertex:
        row, word = self.acts[at], self.words.actions[self.acts[at]["action"]]
        thing = int(self.words.object_of[row["action"]])
        own = [(frame, thing) for frame in frames_of(row)]
        return {
            "id": self.act(row),
            "charades": word.id,
            "phrase": word.phrase,
            "type": "action",
            "start": row["start"],
            "end": row["end"],
            "length": row["end"] - row["start"],
            "objects": [self.links[self.thing(place)] for place in own if self.thing_there(place)],
            **self.tied(own),
            "metadata": self.split,
            "all_f": [self.frames[frame] for frame in frames_of(row)],
            "object_id": None if thing == NONE else self.words.objects[thing].id,
            "verb_id": word.verb,
            **self.around(at),
        }

    def thing_there(self, place: Place) -> bool:
        return place[1] != NONE and (place in self.marks or place in self.relations)

    def tied(self, places: list[Place]) -> dict[str, list[Link]]:
        """Group -> the relations of an object on some frames."""
        found: dict[str, list[Link]] = {group: [] for group in GROUPS}
        for place in places:
            for relation in self.relations.get(place, ()):
                found[self.words.relations[relation].group].append(self.links[self.tie((place[0], relation))])
        return found

    def around(self, at: int) -> Vertex:
        """The actions beside an action: the nearest that do not overlap, its other instances, those that overlap."""
        row = self.acts[at]
        later = [other for other in self.acts if other is not row and other["start"] >= row["end"]]
        earlier = [other for other in self.acts if other is not row and other["end"] <= row["start"]]
        beside = [o for o in self.acts if o is not row and o["start"] < row["end"] and o["end"] > row["start"]]
        name = self.words.actions[row["action"]].id
        return {
            "next_discrete": self.links[self.act(later[0])] if later else None,
            "prev_discrete": self.links[self.act(max(earlier, key=lambda o: o["end"]))] if earlier else None,
            "next_instance": self.links.get(f"{name}/{row['instance'] + 1}"),
            "prev_instance": self.links.get(f"{name}/{row['instance'] - 1}"),
            "while": [self.links[self.act(other)] for other in beside],
        }


def on_frame(places: list[Place], frame: int) -> list[Place]:
    """Places are sorted by frame."""
    return places[bisect_left(places, (frame, 0)) : bisect_left(places, (frame + 1, 0))]


def frames_of(action: Vertex) -> range:
    return range(action["first"], action["last"] + 1)


def box(mark: Vertex) -> tuple[float, ...] | None:
    """x, y, width, height, as Action Genome has them."""
    x1, y1, x2, y2 = (mark[name] for name in BOX)
    return None if x1 is None else (x1, y1, x2 - x1, y2 - y1)


def neighbours(places: list[Place], name: Callable[[Place], str]) -> Iterator[tuple[Place, str, str]]:
    """Each place with the ids of the one before it and the one after it of the same class; "" if there is none."""
    chains: dict[int, list[Place]] = defaultdict(list)
    for place in places:
        chains[place[1]].append(place)
    beside: dict[Place, tuple[str, str]] = {}
    for chain in chains.values():
        ids = ["", *map(name, chain), ""]
        beside |= {place: (ids[at], ids[at + 2]) for at, place in enumerate(chain)}
    return ((place, *beside[place]) for place in places)
