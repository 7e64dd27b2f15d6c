"""Small worlds for tests, written as text a reader can check by eye.

    video A                         begins a video; `video A test 30` also says split and length
    frames 0 1 2 3.5                seconds of its annotated frames
    person 0-3 at 10 10 50 90       the person's box on these frames
    cup 0-2 at 5 5 9 9: holding, in front of
    cup 3                           annotated without box and relation; `cup 3 unseen` = not visible
    bare cup 3: touching            a relation without an annotation of the object
    action c107 1 3                 start and end in seconds

Frames are written `2`, `0-3`, `0,2,4-5` or `all`.
"""

import polars as pl

from questree.tables.facts import ACTIONS, FRAMES, OBJECTS, PERSONS, RELATIONS, VIDEOS, Facts, pack
from questree.tables.table import Table
from questree.vocabulary import Vocabulary, default

Row = tuple[object, ...]


def facts(text: str, vocabulary: Vocabulary | None = None) -> Facts:
    world = World(vocabulary or default())
    for line in text.strip().splitlines():
        words = line.split("#")[0].strip()
        if words:
            world.read(words)
    return world.facts()


def relations(facts: Facts, video: int = 0, vocabulary: Vocabulary | None = None) -> dict[str, list[int]]:
    """The frames of every relation of a video, by "relation object"; presence is left out, see `presence`."""
    words = vocabulary or default()
    found: dict[str, list[int]] = {}
    for _, frame, relation, object in facts.relations.filter(pl.col("video") == video).iter_rows():
        if words.relations[relation].id != words.annotated:
            found.setdefault(f"{words.relations[relation].name} {words.objects[object].name}", []).append(frame)
    return found


def presence(facts: Facts, video: int = 0, vocabulary: Vocabulary | None = None) -> dict[str, list[int]]:
    """The frames on which each object is annotated."""
    words = vocabulary or default()
    seen = facts.relations.filter(video=video, relation=words.relation_at[words.annotated])
    return {
        words.objects[object].name: seen.filter(object=object)["frame"].to_list()
        for object in seen["object"].unique().sort()
    }


def actions(facts: Facts, video: int = 0, vocabulary: Vocabulary | None = None) -> list[Row]:
    """(id, instance, start, end, first, last) of every action of a video, by start."""
    words = vocabulary or default()
    rows = facts.actions.filter(video=video).sort("start", "end", "action").drop("video").iter_rows()
    return [(words.actions[action].id, *rest) for action, *rest in rows]


class World:
    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary
        self.seconds: list[float] = []
        self.rows: dict[str, list[Row]] = {t.name: [] for t in (VIDEOS, FRAMES, OBJECTS, PERSONS, RELATIONS, ACTIONS)}

    @property
    def video(self) -> int:
        return len(self.rows["videos"]) - 1

    def read(self, line: str) -> None:
        kind, _, rest = line.partition(" ")
        reader = {"video": self.begin, "frames": self.frames, "action": self.action, "bare": self.bare}.get(kind)
        if reader:
            reader(rest)
        else:
            self.object(kind, rest)

    def begin(self, rest: str) -> None:
        name, split, length = (*rest.split(), *("", "", "0")[rest.count(" ") + 1 :])
        self.seconds = []
        self.rows["videos"].append((name, split, float(length) or None, 400, 300))

    def frames(self, rest: str) -> None:
        self.seconds = [float(second) for second in rest.split()]
        self.rows["frames"] += [(self.video, at, round(30 * s), s) for at, s in enumerate(self.seconds)]

    def action(self, rest: str) -> None:
        name, start, end = rest.rsplit(" ", 2)
        before, after = float(start), float(end)
        inside = [at for at, second in enumerate(self.seconds) if before <= second <= after]
        action = self.vocabulary.action_at[name]
        number = 1 + sum(row[:2] == (self.video, action) for row in self.rows["actions"])
        ends = (inside[0], inside[-1]) if inside else (None, None)
        self.rows["actions"].append((self.video, action, number, before, after, *ends))

    def object(self, name: str, rest: str) -> None:
        place, _, names = rest.partition(":")
        where, _, box = place.partition(" at ")
        unseen = " unseen" in where
        corners = tuple(float(corner) for corner in box.split()) or (None,) * 4
        for frame in self.positions(where.split()[0]):
            if name == "person":
                self.rows["persons"].append((self.video, frame, *corners, None))
                continue
            self.rows["objects"].append((self.video, frame, self.vocabulary.object_at[name], *corners, not unseen))
            self.relate(frame, name, [] if unseen else [self.vocabulary.annotated])
            self.relate(frame, name, names.split(","))

    def bare(self, rest: str) -> None:
        (name, where), names = rest.partition(":")[0].split(), rest.partition(":")[2]
        for frame in self.positions(where):
            self.relate(frame, name, names.split(","))

    def relate(self, frame: int, name: str, names: list[str]) -> None:
        object = self.vocabulary.object_at[name]
        wanted = [self.vocabulary.relation_at[word.strip()] for word in names if word.strip()]
        self.rows["relations"] += [(self.video, frame, relation, object) for relation in wanted]

    def positions(self, text: str) -> list[int]:
        if text == "all":
            return list(range(len(self.seconds)))
        spans = [[int(end) for end in part.split("-")] for part in text.split(",")]
        return [frame for span in spans for frame in range(span[0], span[-1] + 1)]

    def facts(self) -> Facts:
        def table(table: Table, *order: str) -> pl.DataFrame:
            if not self.rows[table.name]:
                return table.empty()
            made = table.frame(dict(zip(table.columns, zip(*self.rows[table.name], strict=True), strict=True)))
            return made.sort(*order, maintain_order=True) if order else made

        return Facts(
            videos=table(VIDEOS),
            frames=table(FRAMES, "video", "frame"),
            objects=table(OBJECTS, "video", "frame", "object"),
            persons=table(PERSONS, "video", "frame"),
            tracks=pack(table(RELATIONS)),
            actions=table(ACTIONS, "video", "start"),
        )
