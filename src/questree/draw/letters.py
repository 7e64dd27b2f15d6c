"""Words in letters of our own, so that they look the same wherever they are drawn."""

from functools import cache
from typing import Any

import skia

from questree.draw.canvas import Canvas, stroke

STEP = 0.85  # from letter to letter, of their height
# strokes on a grid of 4 x 6, lines of points x y from the upper left
STROKES = {
    "A": "062046 1434", "B": "0006364544330333 0030413233", "C": "41301001051636 3645", "D": "0006364541300000",
    "E": "40000646 0333", "F": "400006 0333", "G": "41301001051636454323", "H": "0006 4046 0343",
    "I": "2026 1030 1636", "J": "4045361605", "K": "0006 4003 0346", "L": "000646",
    "M": "0600234046", "N": "06004640", "O": "100105163645413010", "P": "06003041423303",
    "Q": "100105163645413010 2546", "R": "06003041423303 2346", "S": "4130100102134344453616 1605", "T": "0040 2026",
    "U": "000516364540", "V": "002640", "W": "0016233640", "X": "0046 4006",
    "Y": "002340 2326", "Z": "00400646", "0": "100105163645413010 4006", "1": "112026 1636",
    "2": "01103041420646", "3": "0040234344453616 1605", "4": "36300444", "5": "400003334445361605",
    "6": "4130100105163645441303", "7": "004026", "8": "103041423313020110 1304051636454433",
    "9": "0516364541301001021343",
    "-": "0343", "?": "01103041422324 2626", "/": "0640", ".": "2526",
    "'": "2021", ",": "2507", "&": "4610204104051626", " ": "",
}  # fmt: skip


def written(canvas: Canvas, text: str, x: float, y: float, size: float, ink: str = "#222222") -> float:
    """Letters as tall as `size`, from the upper left; how wide they are."""
    step = size * STEP
    for at, letter in enumerate(text.upper()):
        canvas.save()
        canvas.translate(x + at * step, y)
        canvas.scale(size / 6, size / 6)
        canvas.drawPath(_letter(letter), stroke(ink, 0.9))
        canvas.restore()
    return len(text) * step


@cache
def _letter(letter: str) -> Any:
    path = skia.Path()
    for line in STROKES.get(letter, STROKES["?"]).split():
        points = [(int(line[at]), int(line[at + 1])) for at in range(0, len(line), 2)]
        path.moveTo(*points[0])
        for point in points[1:]:
            path.lineTo(*point)
    return path
