"""Tables as lines of text: columns side by side while there is room, below each other where there is none."""

import re
from collections.abc import Sequence
from textwrap import wrap

FIGURE = re.compile(r"[-+±]?[\d.,]+( ?%)?( ?(\[.*\]|±[\d.,]+))?[?*]?|N/A( [a-z])?|\[.*\]|")
NARROW = 16  # a column of text is not made narrower by itself
LEAD = 1 / 3  # of the width, for what stands left of every block of columns


def width_of(text: str) -> int:
    """Columns on a screen; some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def laid_out(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], width: int) -> list[str]:
    """Lines without blanks at their ends. Text is wrapped, figures never are: too many columns become blocks."""
    cells = [[printable(cell) for cell in row] for row in (header, *rows)]
    columns = list(zip(*cells, strict=True))
    natural = [max(width_of(line) for cell in column for line in cell.split("\n")) for column in columns]
    text = [not all(map(FIGURE.fullmatch, column[1:])) for column in columns]
    widths = narrowed(natural, text, width)
    lead = max(text.index(False) if False in text else len(text), 1)
    if total(widths) > width:  # blocks: only what stands left of all of them has to be narrow
        head = narrowed(natural[:lead], text, int(LEAD * width))
        room = max(width - total(head), NARROW)
        rest = [min(own, room - 2) if text[at] else own for at, own in enumerate(natural) if at >= lead]
        widths = head + rest
    blocks = [list(range(lead))]
    for at in range(lead, len(widths)):
        if len(blocks[-1]) > lead and total([widths[n] for n in (*blocks[-1], at)]) > width:
            blocks.append(list(range(lead)))
        blocks[-1].append(at)
    found = [[line for row in cells for line in lines(row, block, widths, right)] for block in blocks]
    return [line for at, block in enumerate(found) for line in ([""] if at else []) + block]


def total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * len(widths)


def narrowed(widths: Sequence[int], text: Sequence[bool], width: int) -> list[int]:
    """The widest columns of text made narrower until all columns together fit, or there is nothing left to give."""
    found = list(widths)
    words = [at for at in range(len(found)) if text[at]]
    while words and total(found) > width:
        widest = max(words, key=lambda at: found[at])
        if found[widest] <= NARROW:
            break
        found[widest] -= 1
    return found


def lines(row: Sequence[str], block: Sequence[int], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    parts = [broken(row[at], widths[at]) for at in block]
    found = []
    for number in range(max(map(len, parts))):
        line = ""
        for at, part in zip(block, parts, strict=True):
            cell = part[number] if number < len(part) else ""
            gap = " " * (widths[at] - width_of(cell))
            line += f" {gap + cell if right[at] else cell + gap} "
        found.append(line.rstrip())
    return found


def broken(cell: str, width: int) -> list[str]:
    if width_of(cell) <= width and "\n" not in cell:
        return [cell]
    return [line for part in cell.split("\n") for line in wrap(part, max(width, 1)) or [""]]


def printable(cell: str) -> str:
    """Control characters would move the cursor, or worse."""
    return cell if cell.isprintable() else "".join(c if c.isprintable() or c == "\n" else " " for c in cell)
