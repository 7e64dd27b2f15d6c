"""A DAG of sub-questions as SVG: rows by depth, words coloured by what they name, a model's errors if one is given."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from questree.show.colours import CONTRADICTION, ERROR, LINES, RIGHT, WORDS
from questree.show.dag import Dag, Piece
from questree.show.judged import Judged

WIDTH, GAP, MARGIN = 230, 26, 24  # of a box; between boxes; around everything
LETTER, LINE, PAD = 6.3, 15, 10  # pixels per character and per line of text; inside a box
ROW_GAP, LABEL = 56, 14  # between rows; from a box to the name of the edge that ends there
ASIDE = 5  # how far the line of a contradiction lies beside the line of its edge
LEGEND = 100  # room for a name below the picture
NAMES = {"object": "objects", "relation": "relationships", "action": "actions", "time": "time"}  # of videos


def wrapped(pieces: list[Piece]) -> list[list[Piece]]:
    """Words on lines that fit into a box."""
    found: list[list[Piece]] = [[]]
    used = 0
    for kind, text in pieces:
        for word in text.split(" "):
            if not word:
                continue
            if used and (used + 1 + len(word)) * LETTER > WIDTH - 2 * PAD:
                found.append([])
                used = 0
            found[-1].append((kind, " " + word if found[-1] else word))
            used += len(word) + 1
    return found


def drawn(dag: Dag, judged: Judged | None = None, kinds: Mapping[str, str] = NAMES) -> str:
    """The picture; with a model's answers beside the true ones, its errors pink, its contradictions blue."""
    picture = Picture.of(dag, judged, kinds)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width:.0f}" height="{picture.height:.0f}" '
        f'viewBox="0 0 {picture.width:.0f} {picture.height:.0f}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n{picture.content()}</svg>\n'
    )


def ordered(dag: Dag, rows: list[list[int]]) -> list[list[int]]:
    """Each row by the mean place of its parents, so that few lines cross."""
    place: dict[int, float] = {}
    found = []
    for row in rows:
        parents = {n: [place[p] for p in place if any(child == n for _, child in dag.edges.get(p, ()))] for n in row}
        row = sorted(row, key=lambda n: (sum(parents[n]) / max(len(parents[n]), 1), n))
        place |= {node: (at + 0.5) / len(row) for at, node in enumerate(row)}
        found.append(row)
    return found


def _with_punctuation(pieces: list[Piece]) -> list[Piece]:
    """A question mark belongs to the word before it."""
    if len(pieces) > 1 and pieces[-1][1].strip() == "?":
        kind, text = pieces[-2]
        return [*pieces[:-2], (kind, text + "?")]
    return pieces


@dataclass(frozen=True)
class Picture:
    dag: Dag
    judged: Judged | None
    kinds: Mapping[str, str]  # of words -> what the legend calls them
    texts: list[list[list[Piece]]]  # [node] lines
    heights: list[int]  # [node]
    place: dict[int, tuple[float, float]]  # node -> its upper left corner
    width: float
    height: float

    @classmethod
    def of(cls, dag: Dag, judged: Judged | None, kinds: Mapping[str, str]) -> "Picture":
        depths = dag.depths()
        rows = [[node for node in range(len(dag.rows)) if depths[node] == depth] for depth in range(max(depths) + 1)]
        rows = ordered(dag, rows)
        texts = [wrapped(_with_punctuation(pieces)) for pieces in dag.pieces]
        below = 1 if judged is None else 2  # lines: the answer, the model's
        heights = [(len(text) + below) * LINE + 2 * PAD for text in texts]
        width = max(max(len(row) for row in rows) * (WIDTH + GAP) - GAP, LEGEND * (4 if judged is None else 7))
        width += 2 * MARGIN
        place: dict[int, tuple[float, float]] = {}
        y = float(MARGIN)
        for row in rows:
            left = (width - len(row) * (WIDTH + GAP) + GAP) / 2
            for at, node in enumerate(row):
                place[node] = (left + at * (WIDTH + GAP), y)
            y += max(heights[node] for node in row) + ROW_GAP
        return cls(dag, judged, kinds, texts, heights, place, width, y - ROW_GAP + MARGIN + 24)

    def content(self) -> str:
        return "".join([*map(self.arrows, self.place), *map(self.box, self.place), self.legend()])

    def wrong(self, node: int) -> bool:
        return self.judged is not None and self.judged.right[node] is False

    def box(self, node: int) -> str:
        x, y = self.place[node]
        text, row = self.texts[node], self.dag.rows[node]
        said = "".join(
            f'<text x="{x + PAD:.1f}" y="{y + PAD + LINE * (line + 0.75):.1f}" xml:space="preserve">'
            + "".join(f'<tspan fill="{WORDS.get(kind, WORDS[""])}">{escape(word)}</tspan>' for kind, word in words)
            + "</text>"
            for line, words in enumerate(text)
        )
        below = y + PAD + LINE * (len(text) + 0.85)
        outline = f'stroke="{ERROR}" stroke-width="2"' if self.wrong(node) else f'stroke="{LINES}"'
        return (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{WIDTH}" height="{self.heights[node]}" rx="6" fill="#fbfbfb" '
            f'{outline}/>{said}<text x="{x + PAD:.1f}" y="{below:.1f}" font-weight="bold">'
            f"{escape(row['answer'] or 'undefined')}</text>"
            f'<text x="{x + WIDTH - PAD:.1f}" y="{below:.1f}" text-anchor="end" font-size="10" fill="{LINES}">'
            f"{escape(row['type'])}</text>{self.prediction(node, x + PAD, below + LINE)}\n"
        )

    def prediction(self, node: int, x: float, y: float) -> str:
        if self.judged is None:
            return ""
        colour = {True: RIGHT, False: ERROR, None: LINES}[self.judged.right[node]]
        said = self.judged.said[node]
        words = "no prediction" if said is None else f"{self.judged.model}: {said}"
        mark = {True: " ✓", False: " ✗", None: ""}[self.judged.right[node]]  # for whom colours are no help
        room = int((WIDTH - 2 * PAD) / LETTER) - len(mark)
        words = words if len(words) <= room else words[: room - 1] + "…"
        return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}">{escape(words + mark)}</text>'

    def arrows(self, node: int) -> str:
        """Lines to the sub-questions, each composition named once per child."""
        x, y = self.place[node][0] + WIDTH / 2, self.place[node][1] + self.heights[node]
        found = []
        for label, child in self.dag.edges.get(node, ()):
            to_x, to_y = self.place[child][0] + WIDTH / 2, self.place[child][1]
            middle = 'text-anchor="middle" font-size="10"'
            above = LABEL + LINE * 0.8 * (self.earlier(node, child) % 3)  # names above one box get out of their way
            near = max(1 - above / max(to_y - y, LABEL), 0.3)  # the name stands near the sub-question
            found.append(
                f"{self.lines((node, child), (x, y), (to_x, to_y))}"
                f'<text x="{x + near * (to_x - x):.1f}" y="{y + near * (to_y - y):.1f}" {middle} '
                f'fill="{LINES}" stroke="white" stroke-width="3" paint-order="stroke">{escape(label)}</text>\n'
            )
        return "".join(found)

    def earlier(self, node: int, child: int) -> int:
        """How many edges from nodes before this one end at a sub-question."""
        return sum(child == other for parent in range(node) for _, other in self.dag.edges.get(parent, ()))

    def lines(self, edge: tuple[int, int], begin: tuple[float, float], end: tuple[float, float]) -> str:
        """The edge, pink on the way of an error; beside it a blue line where the model contradicts itself."""
        error = self.judged is not None and edge in self.judged.error_path
        contradiction = self.judged is not None and edge in self.judged.contradiction
        stroke = f'stroke="{ERROR}" stroke-width="2.5"' if error else f'stroke="{LINES}"'
        found = _line(begin, end, stroke)
        if contradiction:
            blue = f'stroke="{CONTRADICTION}" stroke-width="2" stroke-dasharray="6 3"'
            found += _line((begin[0] + ASIDE, begin[1]), (end[0] + ASIDE, end[1]), blue)
        return found

    def legend(self) -> str:
        shown = [(WORDS[kind], name) for kind, name in self.kinds.items()]
        if self.judged is not None:
            shown += [(ERROR, "wrong, error path"), (CONTRADICTION, "contradicts itself")]
        places = [MARGIN + LEGEND * at + (30 if at == len(self.kinds) + 1 else 0) for at in range(len(shown))]
        return "".join(
            f'<text x="{x}" y="{self.height - 10:.1f}" fill="{colour}">{name}</text>'
            for x, (colour, name) in zip(places, shown, strict=True)
        )


def _line(begin: tuple[float, float], end: tuple[float, float], stroke: str) -> str:
    return f'<line x1="{begin[0]:.1f}" y1="{begin[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" {stroke}/>'
