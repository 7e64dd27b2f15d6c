"""A DAG of sub-questions as SVG: rows by depth, words coloured by what they name."""

from html import escape

from questree.cli.dag import Dag, Piece

COLOURS = {"object": "#1b7837", "relation": "#b35806", "action": "#762a83", "time": "#2166ac", "": "#222222"}
LINES = "#8a8a8a"
WIDTH, GAP, MARGIN = 230, 26, 24  # of a box; between boxes; around everything
LETTER, LINE, PAD = 6.3, 15, 10  # pixels per character and per line of text; inside a box
ROW_GAP, LABEL = 56, 14  # between rows; from a box to the name of the edge that ends there


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


def drawn(dag: Dag) -> str:
    """The picture."""
    depths = dag.depths()
    rows = [[node for node in range(len(dag.rows)) if depths[node] == depth] for depth in range(max(depths) + 1)]
    rows = ordered(dag, rows)
    texts = [wrapped(_with_punctuation(pieces)) for pieces in dag.pieces]
    heights = [len(text) * LINE + LINE + 2 * PAD for text in texts]  # one more line for the answer
    width = max(len(row) for row in rows) * (WIDTH + GAP) - GAP + 2 * MARGIN
    place: dict[int, tuple[float, float]] = {}
    y = float(MARGIN)
    for row in rows:
        left = (width - len(row) * (WIDTH + GAP) + GAP) / 2
        for at, node in enumerate(row):
            place[node] = (left + at * (WIDTH + GAP), y)
        y += max(heights[node] for node in row) + ROW_GAP
    height = y - ROW_GAP + MARGIN + 24
    parts = [_arrow(dag, node, place, heights) for node in place]
    parts += [_box(dag, node, place[node], heights[node], texts[node]) for node in place]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{"".join(parts)}{_legend(height)}</svg>\n'
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


def _box(dag: Dag, node: int, at: tuple[float, float], height: int, text: list[list[Piece]]) -> str:
    x, y = at
    answer = dag.rows[node]["answer"] or "undefined"
    said = "".join(
        f'<text x="{x + PAD:.1f}" y="{y + PAD + LINE * (line + 0.75):.1f}" xml:space="preserve">'
        + "".join(f'<tspan fill="{COLOURS.get(kind, COLOURS[""])}">{escape(word)}</tspan>' for kind, word in words)
        + "</text>"
        for line, words in enumerate(text)
    )
    below = y + PAD + LINE * (len(text) + 0.85)
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{WIDTH}" height="{height}" rx="6" fill="#fbfbfb" '
        f'stroke="{LINES}"/>{said}'
        f'<text x="{x + PAD:.1f}" y="{below:.1f}" font-weight="bold">{escape(answer)}</text>'
        f'<text x="{x + WIDTH - PAD:.1f}" y="{below:.1f}" text-anchor="end" font-size="10" fill="{LINES}">'
        f"{escape(dag.rows[node]['type'])}</text>\n"
    )


def _arrow(dag: Dag, node: int, place: dict[int, tuple[float, float]], heights: list[int]) -> str:
    """Lines to the sub-questions, each composition named once per child."""
    x, y = place[node][0] + WIDTH / 2, place[node][1] + heights[node]
    found = []
    for label, child in dag.edges.get(node, ()):
        to_x, to_y = place[child][0] + WIDTH / 2, place[child][1]
        middle = 'text-anchor="middle" font-size="10"'
        near = max(1 - LABEL / max(to_y - y, LABEL), 0.5)  # the name stands near the sub-question
        found.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{LINES}"/>'
            f'<text x="{x + near * (to_x - x):.1f}" y="{y + near * (to_y - y):.1f}" {middle} '
            f'fill="{LINES}" stroke="white" stroke-width="3" paint-order="stroke">{escape(label)}</text>\n'
        )
    return "".join(found)


def _legend(height: float) -> str:
    names = {"object": "objects", "relation": "relationships", "action": "actions", "time": "time"}
    return "".join(
        f'<text x="{MARGIN + 100 * at}" y="{height - 10:.1f}" fill="{COLOURS[kind]}">{name}</text>'
        for at, (kind, name) in enumerate(names.items())
    )
