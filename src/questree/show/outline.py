"""A DAG as SVG, for files and columns of papers: sub-questions below their question and further right, each once."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape

from questree.show.colours import CONTRADICTION, ERROR, LINES, RIGHT, WORDS
from questree.show.dag import Dag, Piece
from questree.show.judged import Judged
from questree.svg import COLUMN, Point, drawing, element, line

LETTER, LINE, PAD = 6.3, 15, 10  # pixels per character and per line of text; inside a box
STEP, SPINE, EDGE = 16.0, 8.0, 3.0  # to the right per level; from a box to the line below it; around everything
ABOVE, BELOW = 14.0, 6.0  # room for the name of an edge above a box, and below it
SMALL = 10
ASIDE = 5  # how far the line of a contradiction lies beside the line of its edge
LEGEND = 100  # room for a name below the picture
HIGHEST = 950.0  # pixels of a column: more is no page of a paper
BETWEEN = 24.0  # two columns
NAMES = {"object": "objects", "relation": "relationships", "action": "actions", "time": "time"}  # of videos
VERDICTS = {True: (RIGHT, " ✓"), False: (ERROR, " ✗"), None: (LINES, "")}  # marks: for whom colours are no help
KEPT = {"xml:space": "preserve"}


@dataclass(frozen=True)
class Reference:
    """A sub-question that is drawn elsewhere."""

    parent: int
    child: int
    label: str
    x: float
    y: float


def outlined(dag: Dag, judged: Judged | None = None, kinds: Mapping[str, str] = NAMES, wide: float = COLUMN) -> str:
    """The picture, with a model's answers, errors and contradictions; higher than a page it has two such columns."""
    picture = Outline.laid_out(dag, judged, kinds, wide)
    picture = picture if picture.height <= HIGHEST else picture.halved()
    return drawing(picture.width, picture.height, picture.content(), "Helvetica, Arial, sans-serif", 12)


def wrapped(pieces: list[Piece], width: float) -> list[list[Piece]]:
    """Words on lines that fit into a box; a question mark belongs to the word before it."""
    if len(pieces) > 1 and pieces[-1][1].strip() == "?":
        kind, text = pieces[-2]
        pieces = [*pieces[:-2], (kind, text + "?")]
    found: list[list[Piece]] = [[]]
    used = 0
    for kind, text in pieces:
        for word in text.split():
            if used and (used + 1 + len(word)) * LETTER > width - 2 * PAD:
                found.append([])
                used = 0
            found[-1].append((kind, " " + word if found[-1] else word))
            used += len(word) + 1
    return found


@dataclass(frozen=True)
class Outline:
    dag: Dag
    judged: Judged | None
    kinds: Mapping[str, str]  # of words -> what the legend calls them
    texts: list[list[list[Piece]]]  # [node] lines
    heights: list[int]  # [node]
    place: dict[int, Point]  # node -> its upper left corner
    widths: list[float]  # [node]
    width: float
    height: float
    above: dict[int, tuple[int, str]]  # node -> the question it stands below, and the composition
    references: list[Reference]

    @classmethod
    def laid_out(cls, dag: Dag, judged: Judged | None, kinds: Mapping[str, str], wide: float) -> "Outline":
        count, place = len(dag.rows), dict[int, Point]()
        texts, heights, widths = [list[list[Piece]]()] * count, [0] * count, [0.0] * count
        above, references, y = dict[int, tuple[int, str]](), list[Reference](), EDGE
        waiting: list[tuple[int, int, str, int]] = [(0, -1, "", 0)]  # node, parent, composition, level
        while waiting:
            node, parent, label, level = waiting.pop()
            x = EDGE + STEP * level
            if node in place:
                references.append(Reference(parent, node, label, x, y + LINE))
                y += LINE + BELOW
                continue
            y += ABOVE if label else 0
            place[node], widths[node] = (x, y), wide - x - EDGE
            numbered = [("", f"{len(place)}."), *dag.pieces[node]]
            texts[node] = wrapped(numbered, widths[node])
            heights[node] = (len(texts[node]) + (1 if judged is None else 2)) * LINE + 2 * PAD - 6
            y += heights[node] + BELOW
            if parent >= 0:
                above[node] = parent, label
            waiting += [(child, node, name, level + 1) for name, child in reversed(dag.edges.get(node, ()))]
        lines = -(-(len(kinds) + 2 * (judged is not None)) // _beside(wide))
        return cls(dag, judged, kinds, texts, heights, place, widths, wide, y + LINE * lines + EDGE, above, references)

    def halved(self) -> "Outline":
        """In two columns; what stands below a question of the other column says so."""
        middle = (self.height - EDGE) / 2
        second = [node for node in self.place if self.place[node][1] > middle]
        right, up = self.width + BETWEEN, self.place[second[0]][1] - EDGE - ABOVE
        place = self.place | {node: (self.place[node][0] + right, self.place[node][1] - up) for node in second}
        begin = up + EDGE
        references = [
            replace(each, x=each.x + right, y=each.y - up) if each.y > begin else each for each in self.references
        ]
        high = max(up + 2 * LINE, self.height - up) + EDGE  # the legend is below either
        return replace(self, place=place, references=references, width=right + self.width, height=high)

    def beside(self, parent: int, x: float) -> bool:
        """Is the question in another column than what stands at x?"""
        return x - self.place[parent][0] > STEP + 1

    def arrows(self, node: int) -> Iterator[str]:
        """From the question above down and right to this one, and to what is drawn elsewhere."""
        number = {each: at for at, each in enumerate(self.place, 1)}
        if node in self.above:
            parent, label = self.above[node]
            x, y = self.place[node]
            yield from self.elbow((parent, node), x, y + LINE)
            label = f"{label} of {number[parent]}." if self.beside(parent, x) else label
            yield element("text", escape(label), x=x + 2, y=y - 3, font_size=SMALL, fill=LINES)
        for each in (each for each in self.references if each.parent == node):
            yield from self.elbow((node, each.child), each.x, each.y - 4)
            whose = f" of {number[node]}" if self.beside(node, each.x) else ""
            said = f"{each.label}{whose}: {number[each.child]}."
            yield element("text", escape(said), x=each.x + 2, y=each.y, font_size=SMALL, fill=LINES)

    def elbow(self, edge: tuple[int, int], x: float, y: float) -> Iterator[str]:
        if self.beside(edge[0], x):
            yield from self.lines(edge, (x - SPINE, y), (x, y))
            return
        left, top = self.place[edge[0]][0] + SPINE, self.place[edge[0]][1] + self.heights[edge[0]]
        yield from self.lines(edge, (left, top), (left, y))
        yield from self.lines(edge, (left, y), (x, y))

    def content(self) -> Iterator[str]:
        for node in self.place:
            yield from self.arrows(node)
        yield from map(self.box, self.place)
        yield from self.legend()

    def box(self, node: int) -> str:
        x, y = self.place[node]
        row, wrong = self.dag.rows[node], self.judged is not None and self.judged.right[node] is False
        look: dict[str, float | str] = {"stroke": ERROR, "stroke_width": 2} if wrong else {"stroke": LINES}
        found = [
            element("rect", x=x, y=y, width=self.widths[node], height=self.heights[node], rx=6, fill="#fbfbfb", **look)
        ]
        for at, words in enumerate(self.texts[node]):
            spans = [element("tspan", escape(word), fill=WORDS.get(kind, WORDS[""])) for kind, word in words]
            found.append(element("text", *spans, x=x + PAD, y=y + PAD + LINE * (at + 0.75), **KEPT))
        y += PAD + LINE * (len(self.texts[node]) + 0.85)
        found.append(element("text", escape(row["answer"] or "undefined"), x=x + PAD, y=y, font_weight="bold"))
        aside: dict[str, float | str] = {"text_anchor": "end", "font_size": 10, "fill": LINES}
        found.append(element("text", escape(row["type"]), x=x + self.widths[node] - PAD, y=y, **aside))
        return "".join([*found, self.prediction(node, x + PAD, y + LINE)])

    def prediction(self, node: int, x: float, y: float) -> str:
        if self.judged is None:
            return ""
        said, (colour, mark) = self.judged.said[node], VERDICTS[self.judged.right[node]]
        words = "no prediction" if said is None else f"{self.judged.model}: {said}"
        room = int((self.widths[node] - 2 * PAD) / LETTER) - len(mark)
        words = words if len(words) <= room else words[: room - 1] + "…"
        return element("text", escape(words + mark), x=x, y=y, fill=colour)

    def lines(self, edge: tuple[int, int], begin: Point, end: Point) -> Iterator[str]:
        """The edge, pink on the way of an error; beside it a blue line where the model contradicts itself."""
        error = self.judged is not None and edge in self.judged.error_path
        yield line(begin, end, ERROR, 2.5) if error else line(begin, end, LINES)
        if self.judged is not None and edge in self.judged.contradiction:
            yield line((begin[0] + ASIDE, begin[1]), (end[0] + ASIDE, end[1]), CONTRADICTION, 2, "6 3")

    def named(self) -> Iterator[tuple[str, str]]:
        """Colours and what they stand for."""
        yield from ((WORDS[kind], name) for kind, name in self.kinds.items())
        if self.judged is not None:
            yield from ((ERROR, "wrong, error path"), (CONTRADICTION, "contradicts itself"))

    def legend(self) -> Iterator[str]:
        beside, shown = _beside(self.width), list(self.named())
        last = -(-len(shown) // beside)
        for at, (colour, name) in enumerate(shown):
            y = self.height - EDGE - LINE * (last - 1 - at // beside) - 3
            yield element("text", name, x=EDGE + self.width / beside * (at % beside), y=y, fill=colour)


def _beside(wide: float) -> int:
    """Names of the legend in a line."""
    return max(int(wide // (LEGEND + SPINE)), 1)


def is_paged(svg: str) -> bool:
    """Is such a picture as wide as a page?"""
    return _side("width", svg) > COLUMN


def fits_page(svg: str) -> bool:
    """Is it no higher than one, in its two columns?"""
    return _side("height", svg) <= HIGHEST


def _side(name: str, svg: str) -> float:
    found = re.search(rf' {name}="([\d.]+)"', svg)
    return float(found[1]) if found else 0.0
