"""A DAG of sub-questions as SVG: rows by depth, words coloured by what they name, a model's errors if one is given."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from questree.show.colours import CONTRADICTION, ERROR, LINES, RIGHT, WORDS
from questree.show.dag import Dag, Piece
from questree.show.judged import Judged
from questree.svg import Point, drawing, element, line

WIDTH, GAP, MARGIN = 230, 26, 24  # of a box; between boxes; around everything
LETTER, LINE, PAD = 6.3, 15, 10  # pixels per character and per line of text; inside a box
ROW_GAP, LABEL = 56, 14  # between rows; from a box to the name of the edge that ends there
ASIDE = 5  # how far the line of a contradiction lies beside the line of its edge
LEGEND = 100  # room for a name below the picture
NAMES = {"object": "objects", "relation": "relationships", "action": "actions", "time": "time"}  # of videos
KEPT = {"xml:space": "preserve"}
VERDICTS = {True: (RIGHT, " ✓"), False: (ERROR, " ✗"), None: (LINES, "")}  # marks: for whom colours are no help


def wrapped(pieces: list[Piece], width: float = WIDTH) -> list[list[Piece]]:
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


def drawn(dag: Dag, judged: Judged | None = None, kinds: Mapping[str, str] = NAMES) -> str:
    """The picture; with a model's answers beside the true ones, its errors pink, its contradictions blue."""
    picture = Picture.of(dag, judged, kinds)
    return drawing(picture.width, picture.height, picture.content(), "Helvetica, Arial, sans-serif", 12)


def ordered(dag: Dag) -> list[list[int]]:
    """Rows by depth, each by the mean place of its parents, so that few lines cross."""
    depths = dag.depths()
    place: dict[int, float] = {}
    found = []
    for depth in range(max(depths) + 1):
        row = [node for node, own in enumerate(depths) if own == depth]
        parents = {n: [place[p] for p in place if any(child == n for _, child in dag.edges.get(p, ()))] for n in row}
        row.sort(key=lambda n: (sum(parents[n]) / max(len(parents[n]), 1), n))
        place |= {node: (at + 0.5) / len(row) for at, node in enumerate(row)}
        found.append(row)
    return found


@dataclass(frozen=True)
class Picture:
    dag: Dag
    judged: Judged | None
    kinds: Mapping[str, str]  # of words -> what the legend calls them
    texts: list[list[list[Piece]]]  # [node] lines
    heights: list[int]  # [node]
    place: dict[int, Point]  # node -> its upper left corner
    widths: list[float]  # [node]
    width: float
    height: float

    @classmethod
    def of(cls, dag: Dag, judged: Judged | None, kinds: Mapping[str, str]) -> "Picture":
        rows, texts = ordered(dag), [wrapped(pieces) for pieces in dag.pieces]
        below = 1 if judged is None else 2  # lines: the answer, the model's
        heights = [(len(text) + below) * LINE + 2 * PAD for text in texts]
        width = max(max(len(row) for row in rows) * (WIDTH + GAP) - GAP, LEGEND * (4 if judged is None else 7))
        width += 2 * MARGIN
        place: dict[int, Point] = {}
        y = float(MARGIN)
        for row in rows:
            left = (width - len(row) * (WIDTH + GAP) + GAP) / 2
            place |= {node: (left + at * (WIDTH + GAP), y) for at, node in enumerate(row)}
            y += max(heights[node] for node in row) + ROW_GAP
        widths = [float(WIDTH)] * len(texts)
        return cls(dag, judged, kinds, texts, heights, place, widths, width, y - ROW_GAP + MARGIN + 24)

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

    def arrows(self, node: int) -> Iterator[str]:
        """Lines to the sub-questions, each composition named once per child."""
        x, y = self.place[node][0] + WIDTH / 2, self.place[node][1] + self.heights[node]
        look: dict[str, float | str] = {"text_anchor": "middle", "font_size": 10, "fill": LINES, "stroke": "white"}
        look |= {"stroke_width": 3, "paint_order": "stroke"}
        for label, child in self.dag.edges.get(node, ()):
            to_x, to_y = self.place[child][0] + WIDTH / 2, self.place[child][1]
            earlier = sum(child == other for parent in range(node) for _, other in self.dag.edges.get(parent, ()))
            above = LABEL + LINE * 0.8 * (earlier % 3)  # names above one box get out of their way
            near = max(1 - above / max(to_y - y, LABEL), 0.3)  # the name stands near the sub-question
            yield from self.lines((node, child), (x, y), (to_x, to_y))
            yield element("text", escape(label), x=x + near * (to_x - x), y=y + near * (to_y - y), **look)

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
        for at, (colour, name) in enumerate(self.named()):
            x = MARGIN + LEGEND * at + (30 if at == len(self.kinds) + 1 else 0)
            yield element("text", name, x=x, y=self.height - 10, fill=colour)
