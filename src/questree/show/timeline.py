"""One video on a timeline as SVG, which of its tracks a question names, and the frames its parts rest on."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape

from questree.domains.video import Videos
from questree.domains.video.facts import frames_of
from questree.notation.grammar import name
from questree.readings.answer import position
from questree.readings.evidence import evidence
from questree.stages.decompose.forms import ordered_slots
from questree.svg import element, title
from questree.tables.facts import Facts
from questree.terms import Kind, Node, Word, fill, walk
from questree.vocabulary.words import NONE, Vocabulary

LABEL, ROOM, ROW, AXIS = 208, 760, 19, 26  # pixels: words on the left, the line, a row, the seconds above
MIDDLE, MARGIN = ROW / 2, 4  # of a row; above the first where nothing is marked
HEIGHT, DEPTH = "{height}", "{depth}"  # of the picture, of a frame's column: in what is drawn before they are known
APART = 400  # frames that are seen apart; of more only the ends of stretches are marked
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


def filled(form: Node, row: Mapping[str, int], vocabulary: Vocabulary) -> Node:
    """The program of a node, with words in its slots."""
    words = {slot.name: Word(name_of(slot.kind, row[slot.name], vocabulary), slot.kind) for slot in ordered_slots(form)}
    found = fill(form, words)
    assert isinstance(found, Node)
    return found


def name_of(kind: Kind, at: int, vocabulary: Vocabulary) -> str:
    """A word as it is read, or its id where another word is called the same."""
    read = name(kind, at, vocabulary)
    return read if position(Word(read, kind), vocabulary) == at else getattr(vocabulary, kind.words)[at].id


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
class Track:
    """An action or a relation with an object, wherever it is drawn; `drawn` lies at the height 0."""

    kind: str  # action or relation
    words: tuple[int, ...]  # positions in the vocabulary: an action; or a relation and an object
    drawn: str

    def at(self, y: int, mentioned: bool) -> str:
        told = f"row {self.kind}{' mentioned' if mentioned else ''}"
        return element("g", self.drawn, class_=told, transform=f"translate(0 {y})")


@dataclass(frozen=True)
class VideoTracks:
    """What is drawn of a video whatever is asked about it; `facts` are those of one video."""

    facts: Facts
    vocabulary: Vocabulary

    @cached_property
    def end(self) -> float:
        known = [*self.facts.actions["end"], *self.facts.frames["seconds"], self.facts.videos["length"][0] or 0.0, 1.0]
        return max(float(each) for each in known)

    @cached_property
    def seconds(self) -> list[float]:
        """[frame]"""
        return self.facts.frames["seconds"].to_list()

    @cached_property
    def rows(self) -> list[Track]:
        """Actions by their beginning, then relations."""
        return [*self._actions(), *self._relations()]

    def _actions(self) -> Iterator[Track]:
        spans: dict[int, list[tuple[float, float]]] = {}
        for action, start, end in self.facts.actions.sort("start", "end", "action")[
            "action", "start", "end"
        ].iter_rows():
            spans.setdefault(action, []).append((start, end))
        for action, own in spans.items():
            yield Track("action", (action,), self._drawn("action", self.vocabulary.actions[action].phrase, own, []))

    def _relations(self) -> Iterator[Track]:
        marks: dict[tuple[int, int], list[int]] = {}
        for relation, thing, frame in self.facts.relations["relation", "object", "frame"].iter_rows():
            marks.setdefault((relation, thing), []).append(frame)
        seen = self.vocabulary.relation_at[self.vocabulary.annotated]
        for group in GROUPS:
            own = set(self.vocabulary.group(group).tolist())
            for relation, thing in sorted(words for words in marks if words[0] in own):
                name, noun = self.vocabulary.relations[relation].name, self.vocabulary.objects[thing].name
                label = f"{noun} is seen" if relation == seen else f"{name} {noun}"
                frames = sorted(marks[relation, thing])
                yield Track("relation", (relation, thing), self._drawn("relation", label, [], frames))

    def _drawn(self, kind: str, said: str, spans: list[tuple[float, float]], frames: list[int]) -> str:
        label = said if len(said) <= 32 else said[:31] + "…"
        found = [element("text", escape(label), title(said), class_=f"label {kind}", x=LABEL - 10, y=MIDDLE)]
        for start, end in spans:
            wide = max(self.x(end) - self.x(start), 3)
            found.append(element("rect", class_="bar", x=self.x(start), y=4, rx=3, width=wide, height=ROW - 8))
        runs = stretches(frames)
        for first, last in runs:
            if last > first:
                ends = {"x1": self.x(self.seconds[first]), "x2": self.x(self.seconds[last])}
                found.append(element("line", class_="run", **ends, y1=MIDDLE, y2=MIDDLE))
        dots = frames if len(self.seconds) <= APART else sorted({frame for run in runs for frame in run})
        found += [element("circle", cx=self.x(self.seconds[frame]), cy=MIDDLE, r=3) for frame in dots]
        return "".join(found)

    def x(self, seconds: float) -> float:
        return LABEL + seconds / self.end * ROOM

    def ground(self, height: int, axis: bool) -> str:
        """What lies below the rows: seconds, and the frames."""
        drawn, top = (self._under_axis, AXIS) if axis else (self._under_rows, 0)
        return drawn.replace(HEIGHT, str(height)).replace(DEPTH, str(height - top))

    @cached_property
    def _under_axis(self) -> str:
        """With HEIGHT and DEPTH where these are to stand."""
        return "".join([element("defs", HATCH), *self._axis(), *self._columns(AXIS + MARKS, True)])

    @cached_property
    def _under_rows(self) -> str:
        return "".join(self._columns(MARGIN, False))

    def _axis(self) -> Iterator[str]:
        step = next(step for step in (1, 2, 5, 10, 20, 30, 60, 120, 300, 3600) if self.end / step <= 16 or step == 3600)
        for second in range(0, int(self.end) + 1, step):
            x = self.x(second)
            yield element("line", class_="grid", x1=x, y1=AXIS - 6, x2=x, y2=HEIGHT)
            yield element("text", f"{second} s", class_="second", x=x, y=AXIS - 11)

    def _columns(self, top: int, marked: bool) -> Iterator[str]:
        """Frames to mark and to click; each reaches half way to its neighbours, and to the end of the picture."""
        at = [self.x(float(second)) for second in self.seconds]
        for frame, x in enumerate(at):
            left = (x + at[frame - 1]) / 2 if frame else x - 4
            right = (x + at[frame + 1]) / 2 if frame + 1 < len(at) else x + 4
            wide, above = max(right - left, 1), MARKS if marked else MARGIN
            column = element("rect", class_="column", x=left, y=top - above, width=wide, height=DEPTH)
            marks = frame_marks(x, left, wide, top) if marked else ()
            yield element("g", column, *marks, class_="frame", data_frame=frame, data_second=self.seconds[frame])


@dataclass(frozen=True)
class Timeline:
    """A video as a question looks at it."""

    tracks: VideoTracks
    mentioned: Mentioned

    @property
    def vocabulary(self) -> Vocabulary:
        return self.tracks.vocabulary

    def names(self, track: Track) -> bool:
        """Does the question name what a row shows?"""
        return (
            track.words[0] in self.mentioned.actions if track.kind == "action" else self.mentioned.track(*track.words)
        )

    @cached_property
    def named(self) -> list[Track]:
        return [track for track in self.tracks.rows if self.names(track)]

    @cached_property
    def others(self) -> list[Track]:
        return [track for track in self.tracks.rows if not self.names(track)]

    def svg(self, rows: list[Track], axis: bool = True) -> str:
        top = AXIS + MARKS if axis else MARGIN
        height = top + ROW * len(rows) + 4
        drawn = [row.at(top + ROW * at, self.names(row)) for at, row in enumerate(rows)]
        view = f"0 0 {LABEL + ROOM + 16} {height}"
        about = {"role": "img", "aria_label": "timeline of the video"}
        unit = f"{ROOM / self.tracks.end:.4f}"
        scale = {"data_left": str(LABEL), "data_unit": unit}  # pixels: where it begins, of a second
        ground = self.tracks.ground(height, axis)
        return element("svg", ground, *drawn, class_="timeline", viewBox=view, **about, **scale)


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
