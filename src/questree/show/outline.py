"""A DAG in a column of a paper: sub-questions below their question and further right, each drawn once."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape

from questree.show.colours import LINES
from questree.show.dag import Dag, Piece
from questree.show.drawing import LEGEND, LINE, NAMES, PAD, Picture, wrapped
from questree.show.judged import Judged
from questree.svg import COLUMN, Point, drawing, element

STEP, SPINE, EDGE = 16.0, 8.0, 3.0  # to the right per level; from a box to the line below it; around everything
ABOVE, BELOW = 14.0, 6.0  # room for the name of an edge above a box, and below it
SMALL = 10
HIGHEST = 950.0  # pixels of a column: more is no page of a paper
BETWEEN = 24.0  # two columns


@dataclass(frozen=True)
class Reference:
    """A sub-question that is drawn elsewhere."""

    parent: int
    child: int
    label: str
    x: float
    y: float


def outlined(dag: Dag, judged: Judged | None = None, kinds: Mapping[str, str] = NAMES, wide: float = COLUMN) -> str:
    """The picture of `drawing.drawn`, no wider than this; one that is higher than a page in two such columns."""
    picture = Outline.laid_out(dag, judged, kinds, wide)
    picture = picture if picture.height <= HIGHEST else picture.halved()
    return drawing(picture.width, picture.height, picture.content(), "Helvetica, Arial, sans-serif", 12)


@dataclass(frozen=True)
class Outline(Picture):
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
    found = re.search(r' width="([\d.]+)"', svg)
    return found is not None and float(found[1]) > COLUMN
