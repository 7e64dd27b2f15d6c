"""One video on a timeline as SVG, which of its tracks a question names, and the frames its parts rest on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import polars as pl

from questree.domains.video import VIDEO, Videos
from questree.domains.video.facts import frames_of
from questree.notation.grammar import names
from questree.notation.own import parse
from questree.readings.answer import position
from questree.readings.evidence import evidence
from questree.stages.decompose.forms import ordered_slots
from questree.svg import element, title
from questree.tables.facts import Facts
from questree.terms import Kind, Node, Word, fill, walk
from questree.vocabulary.words import NONE, Vocabulary

if TYPE_CHECKING:  # who looks at one question needs no DAGs
    from questree.show.dag import Opened

LABEL, ROOM, ROW, AXIS = 208, 760, 19, 26  # pixels: words on the left, the line, a row, the seconds above
MARKS = 20  # pixels between the seconds and the first row, where frames are marked
HATCH = element(  # fills the columns of frames that a reference needs
    "pattern",
    element("path", d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5"),
    id="hatch",
    width=6,
    height=6,
    patternUnits="userSpaceOnUse",
)
GROUPS = ("contact", "verb", "spatial", "derived")  # attention is never asked about and not shown


@dataclass(frozen=True)
class Mentioned:
    """Positions in the vocabulary."""

    objects: frozenset[int]
    relations: frozenset[int]
    actions: frozenset[int]

    def track(self, relation: int, thing: int) -> bool:
        """Is a relation with an object worth looking at?"""
        return relation in self.relations or thing in self.objects


def grounds(program: Node, world: Videos) -> dict[Node, list[int]]:
    """Sub-program -> positions of the frames it rests on; the world asks about one video."""
    found = evidence(program, world, {})
    # what is localised rests on the frames of its event, which are there already
    return {node: frames_of(bits[0]) for node, bits in found.items() if node.op.focus is None}


def programs(shard: "Opened", vocabulary: Vocabulary) -> list[Node]:
    """[node] its program, with words in its slots."""
    found = []
    assert shard.forms is not None
    for row in shard.nodes.iter_rows(named=True):
        form = parse(shard.forms["program"][row["form"]], VIDEO)
        words = {
            slot.name: Word(name_of(slot.kind, row[slot.name], vocabulary), slot.kind) for slot in ordered_slots(form)
        }
        filled = fill(form, words)
        assert isinstance(filled, Node)
        found.append(filled)
    return found


def name_of(kind: Kind, at: int, vocabulary: Vocabulary) -> str:
    """A word as it is read, or its id where another word is called the same."""
    name = names(kind, vocabulary)[at]
    return name if position(Word(name, kind), vocabulary) == at else getattr(vocabulary, kind.words)[at].id


def mentioned(asked: Iterable[Node], vocabulary: Vocabulary) -> Mentioned:
    """By programs; actions bring their verb and noun along."""
    found: dict[str, set[int]] = {"objects": set(), "relations": set(), "actions": set()}
    for word in (term for program in asked for term in walk(program) if isinstance(term, Word)):
        if word.kind.words in found:
            found[word.kind.words].add(position(word, vocabulary))
    for action in found["actions"]:
        found["relations"].add(int(vocabulary.verb_of[action]))
        found["objects"].add(int(vocabulary.object_of[action]))
    person = vocabulary.object_at[vocabulary.person]
    return Mentioned(
        frozenset(int(vocabulary.merged_object[at]) for at in found["objects"] - {NONE, person}),
        frozenset(int(vocabulary.folded[at]) for at in found["relations"]),
        frozenset(int(vocabulary.merged_action[at]) for at in found["actions"]),
    )


@dataclass(frozen=True)
class TimelineRow:
    kind: str  # action or relation
    label: str
    spans: list[tuple[float, float]]  # seconds
    marks: list[int]  # positions of frames
    mentioned: bool


@dataclass(frozen=True)
class Timeline:
    """`facts` are those of one video."""

    facts: Facts
    vocabulary: Vocabulary
    mentioned: Mentioned

    @cached_property
    def end(self) -> float:
        known = [*self.facts.actions["end"], *self.facts.frames["seconds"], self.facts.videos["length"][0] or 0.0, 1.0]
        return max(float(each) for each in known)

    def rows(self) -> list[TimelineRow]:
        """Actions by their beginning, then relations; what the question names first."""
        found = [*self._actions(), *self._relations()]
        return sorted(found, key=lambda row: (not row.mentioned, row.kind != "action"))

    def _actions(self) -> Iterator[TimelineRow]:
        table = self.facts.actions.sort("start", "end", "action")
        for action in table["action"].unique(maintain_order=True):
            own = table.filter(pl.col("action") == action)
            spans = list(zip(own["start"].to_list(), own["end"].to_list(), strict=True))
            yield TimelineRow(
                "action", self.vocabulary.actions[action].phrase, spans, [], action in self.mentioned.actions
            )

    def _relations(self) -> Iterator[TimelineRow]:
        table = (
            self.facts.relations.group_by("relation", "object").agg(pl.col("frame").sort()).sort("relation", "object")
        )
        seen = self.vocabulary.relation_at[self.vocabulary.annotated]
        for group in GROUPS:
            kept = table.filter(pl.col("relation").is_in(self.vocabulary.group(group).tolist()))
            for relation, thing, frames in kept.iter_rows():
                name, noun = self.vocabulary.relations[relation].name, self.vocabulary.objects[thing].name
                label = f"{noun} is seen" if relation == seen else f"{name} {noun}"
                yield TimelineRow("relation", label, [], frames, self.mentioned.track(relation, thing))

    def x(self, seconds: float) -> float:
        return LABEL + seconds / self.end * ROOM

    def svg(self, rows: list[TimelineRow], axis: bool = True) -> str:
        top = AXIS + MARKS if axis else 4
        height = top + ROW * len(rows) + 4
        parts = [*((element("defs", HATCH), *self._axis(height)) if axis else ()), *self._columns(top, height, axis)]
        parts += [self._row(row, top + ROW * at) for at, row in enumerate(rows)]
        view = f"0 0 {LABEL + ROOM + 16} {height}"
        about = {"role": "img", "aria_label": "timeline of the video"}
        scale = {"data_left": str(LABEL), "data_unit": f"{ROOM / self.end:.4f}"}  # pixels: where it begins, of a second
        return element("svg", *parts, class_="timeline", viewBox=view, **about, **scale)

    def _axis(self, height: int) -> Iterator[str]:
        step = next(step for step in (1, 2, 5, 10, 20, 30, 60, 120, 300, 3600) if self.end / step <= 16 or step == 3600)
        for second in range(0, int(self.end) + 1, step):
            x = self.x(second)
            yield element("line", class_="grid", x1=x, y1=AXIS - 6, x2=x, y2=height)
            yield element("text", f"{second} s", class_="second", x=x, y=AXIS - 11)

    def _columns(self, top: int, height: int, marked: bool) -> Iterator[str]:
        """Frames to mark and to click; each reaches half way to its neighbours."""
        seconds = self.facts.frames["seconds"].to_list()
        at = [self.x(float(second)) for second in seconds]
        for frame, x in enumerate(at):
            left = (x + at[frame - 1]) / 2 if frame else x - 4
            right = (x + at[frame + 1]) / 2 if frame + 1 < len(at) else x + 4
            wide, above = max(right - left, 1), MARKS if marked else 4
            column = element("rect", class_="column", x=left, y=top - above, width=wide, height=height - top + above)
            marks = frame_marks(x, left, wide, top) if marked else ()
            yield element("g", column, *marks, class_="frame", data_frame=frame, data_second=seconds[frame])

    def _row(self, row: TimelineRow, y: int) -> str:
        middle, second = y + ROW / 2, self.facts.frames["seconds"].to_list()
        label = row.label if len(row.label) <= 32 else row.label[:31] + "…"
        name = element("text", escape(label), title(row.label), class_=f"label {row.kind}", x=LABEL - 10, y=middle)
        found = [name]
        for start, end in row.spans:
            wide = max(self.x(end) - self.x(start), 3)
            found.append(element("rect", class_="bar", x=self.x(start), y=y + 4, rx=3, width=wide, height=ROW - 8))
        for first, last in stretches(row.marks):
            if last > first:
                ends = {"x1": self.x(second[first]), "x2": self.x(second[last])}
                found.append(element("line", class_="run", **ends, y1=middle, y2=middle))
        found += [element("circle", cx=self.x(second[frame]), cy=middle, r=3) for frame in row.marks]
        return element("g", *found, class_=f"row {row.kind}{' mentioned' if row.mentioned else ''}")


def frame_marks(x: float, left: float, wide: float, top: int) -> Iterator[str]:
    """One for each thing a frame can be needed for, told apart by their shapes: a diamond, a ring, a bar below."""
    y = top - 13
    yield element("path", class_="mark decides", d=f"M{x - 4:.1f} {y}L{x:.1f} {y - 4}L{x + 4:.1f} {y}L{x:.1f} {y + 4}Z")
    yield element("circle", class_="mark reference", cx=x, cy=y, r=6)
    yield element("rect", class_="mark time", x=left, y=top - 4, width=wide, height=3)


def stretches(frames: list[int]) -> list[tuple[int, int]]:
    """First and last of every run of neighbours."""
    found: list[tuple[int, int]] = []
    for frame in frames:
        if found and found[-1][1] == frame - 1:
            found[-1] = (found[-1][0], frame)
        else:
            found.append((frame, frame))
    return found
