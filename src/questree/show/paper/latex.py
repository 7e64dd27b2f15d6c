"""A table as LaTeX that is no wider than a column of text: what does not fit beside goes on below."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from questree.show.report.document import Entry, Grid, Number

Intervals = Literal["below", "beside", "none"]
MEANT = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "²": "$^2$",
} | {sign: f"\\{sign}" for sign in "&%$#_"}
CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
HEAD = "% needs the packages booktabs and textcomp\n"
COLUMN = 219.0  # points: the column of an ACL paper, the narrowest of the usual ones
SIZE, SMALL = 8.0, 5.0  # points of \footnotesize and \tiny in a paper of 10 points
GAP = 5.0  # points between columns
HIGHEST = 46  # lines of one float
BOLD, WIDER = 1.27, 1.28  # against upright letters; letters of \tiny are wider than they are high
WIDTHS = {  # of Computer Modern, which is wider than Times, in sizes of the letters
    0.3: " !',.:;[]_`il", 0.36: "fj-", 0.42: "I()rts", 0.48: "cez", 0.54: '"$*/0123456789^ago{}~?\\J',
    0.6: "kqvxySbdhnpu",
    0.78: "ZLFEPBCTwR<>|", 0.84: "AHNUVXYD&+=@GKOQ", 0.98: "#%mM", 1.1: "W",
}  # fmt: skip
WIDTH = {letter: width for width, letters in WIDTHS.items() for letter in letters}
HEADS = 0.3  # largest share of the column for the names of lines
ITALIC = 1.1  # against upright letters
BREAK = re.compile(r"(?<=[-_/ .])")


@dataclass(frozen=True)
class Look:
    """How tables are written."""

    ci: Intervals = "below"
    width: float = COLUMN  # points


@dataclass(frozen=True)
class Cell:
    """Lines of one cell: what is written, and how wide it is."""

    lines: tuple[tuple[str, float], ...] = ()

    @property
    def width(self) -> float:
        return max((width for _, width in self.lines), default=0.0)


def escaped(text: str) -> str:
    """Any text as text."""
    return "".join(MEANT.get(sign, sign) for sign in CONTROL.sub(" ", text))


def wide(text: str, size: float = SIZE) -> float:
    """Points a text takes, rather too many than too few."""
    return size * sum(WIDTH.get(letter, 1.0) for letter in text) * (1.0 if size > SMALL else WIDER)


def latex(grid: Grid, look: Look | None = None) -> str:
    """One float, or several where one would be higher than a page."""
    look, grid = look or Look(), grouped(grid)
    floats = list(_packed(list(_tabulars(grid, look))))
    return HEAD + "\n".join(_float(grid, own, at) for at, own in enumerate(floats))


def grouped(grid: Grid) -> Grid:
    """What several lines have in common stands above them, which leaves more room for numbers."""
    if len(grid.corners) < 2:
        return grid
    above = {at: grid.blocks.get(at, "") for at, (_, reach, _) in enumerate(grid.rows()) if reach}
    blocks = {at: ": ".join(filter(None, (over, grid.lines[at].heads[0]))) for at, over in above.items()}
    lines = tuple(replace(line, heads=line.heads[1:]) for line in grid.lines)
    return replace(grid, corners=grid.corners[1:], lines=lines, blocks=blocks)


def _float(grid: Grid, tabulars: Sequence[str], at: int) -> str:
    caption = f"{grid.title}, continued." if at else f"{grid.title}. {grid.caption}".strip()
    label = f"tab:{grid.name}" + (f"-{at + 1}" if at else "")
    body = "\n\\par\\smallskip\n".join(tabulars)
    return (
        "\\begin{table}\n\\centering\n\\footnotesize\n"
        "\\setlength{\\tabcolsep}{2.5pt}\\setlength{\\emergencystretch}{3em}\n"
        f"\\caption{{{escaped(caption)}}}\n\\label{{{label}}}\n{body}\n\\end{{table}}\n"
    )


def _packed(tabulars: Sequence[tuple[int, str]]) -> Iterator[list[str]]:
    """As many below each other as a page holds."""
    own, high = list[str](), 0
    for height, text in tabulars:
        if own and high + height > HIGHEST:
            yield own
            own, high = [], 0
        own.append(text)
        high += height
    if own:
        yield own


def _tabulars(grid: Grid, look: Look) -> Iterator[tuple[int, str]]:
    """(lines, text) of blocks of columns and of lines that fit."""
    heads = _heads(grid, look.width)
    titles = [_wrapped(column.title, look.width / 4) for column in grid.columns]
    entries = [[_entry(entry, look) for entry in line.entries] for line in grid.lines]
    widths = [max(cell.width for cell in own) for own in zip(titles, *entries, strict=True)]
    lead = sum(max(cell.width for cell in own) + GAP for own in zip(*heads, strict=True))
    each = [counted(grid, own) for own in (range(len(grid.columns)), *([at] for at in range(len(grid.columns))))]
    said = [text for title, numbers in each if any(numbers) for text in (title, *numbers)]  # whichever n has to fit
    last = max((min(wide(text), look.width / 8) for text in said), default=-GAP) + GAP
    for block in _blocks(grid, widths, look.width - lead - last):
        title, numbers = counted(grid, block)
        n = [_wrapped(title, last - GAP), *(_wrapped(text, look.width) for text in numbers)] if any(numbers) else []
        top = _top(grid, block, titles, widths, heads[0], n[:1])
        yield from _parts(grid, look, top, block, heads, entries, n[1:])


def _blocks(grid: Grid, widths: Sequence[float], room: float) -> Iterator[list[int]]:
    """Neighbouring columns that fit beside each other; those under one title stay together where they can."""
    block, used = list[int](), 0.0
    for _, own in groupby(range(len(widths)), key=lambda at: grid.columns[at].over or at):
        under = list(own)
        if block and used + sum(widths[at] + GAP for at in under) > room:
            yield block
            block, used = [], 0.0
        for at in under:
            if block and used + widths[at] + GAP > room:
                yield block
                block, used = [], 0.0
            block.append(at)
            used += widths[at] + GAP
    if block:
        yield block


def _parts(
    grid: Grid,
    look: Look,
    top: Sequence[str],
    block: Sequence[int],
    heads: Sequence[Sequence[Cell]],
    entries: Sequence[Sequence[Cell]],
    n: Sequence[Cell],
) -> Iterator[tuple[int, str]]:
    """Some columns of a table; a part is not higher than a page."""
    columns = "l" * len(grid.corners) + "".join("l" if grid.columns[at].text else "r" for at in block) + "r" * bool(n)
    rows, high, group, strong = list[str](), 0, "", False

    def over_all(text: str) -> list[str]:
        lines = _wrapped(text, look.width / ITALIC).lines
        return [rf"\multicolumn{{{len(columns)}}}{{@{{}}l@{{}}}}{{\textit{{{own}}}}} \\" for own, _ in lines]

    for at, (above, _, line) in enumerate(grid.rows()):
        written = _lines([*heads[at + 1], *(entries[at][column] for column in block), *n[at : at + 1]])
        over, group = over_all(above), above or group
        rule = [r"\midrule"] if rows and (above or line.strong > strong) else []
        strong = line.strong
        if rows and high + len(written) + len(over) > HIGHEST - 6:
            yield high + len(top), _tabular(columns, top, rows)
            rows, high, rule, over = [], 0, [], over_all(group)  # the group goes on
        rows += [*rule, *over, *written]
        high += len(written) + len(over)
    yield high + len(top), _tabular(columns, top, rows)


def _tabular(columns: str, top: Sequence[str], rows: Sequence[str]) -> str:
    body = "\n".join([r"\toprule", *top, r"\midrule", *rows, r"\bottomrule"])
    return f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n{body}\n\\end{{tabular}}"


def _top(
    grid: Grid,
    block: Sequence[int],
    titles: Sequence[Cell],
    widths: Sequence[float],
    corners: Sequence[Cell],
    n: Sequence[Cell],
) -> list[str]:
    """Names of columns, what stands above several of them first."""
    spans, at = list[tuple[int, Cell, str]](), len(corners) + 1
    for text, own in groupby(block, key=lambda column: grid.columns[column].over):
        under = list(own)
        room = sum(widths[column] + GAP for column in under) - GAP
        rule = rf"\cmidrule(lr){{{at}-{at + len(under) - 1}}}" if text else ""
        spans.append((len(under), _wrapped(text, room), rule))
        at += len(under)
    rows = list[str]()
    for number in range(max(len(cell.lines) for _, cell, _ in spans)):
        said = [cell.lines[number][0] if number < len(cell.lines) else "" for _, cell, _ in spans]
        over = [rf"\multicolumn{{{count}}}{{c}}{{{text}}}" for (count, _, _), text in zip(spans, said, strict=True)]
        rows.append(" & ".join([*[""] * len(corners), *over, *[""] * len(n)]) + r" \\")
    rules = " ".join(rule for _, _, rule in spans if rule)
    return [*rows, *filter(None, [rules]), *_lines([*corners, *(titles[column] for column in block), *n])]


def _lines(cells: Sequence[Cell]) -> list[str]:
    high = max(len(cell.lines) for cell in cells)
    found = [
        " & ".join(cell.lines[number][0] if number < len(cell.lines) else "" for cell in cells) + r" \\"
        for number in range(high)
    ]
    return [line.removesuffix(r"\\") + (r"\\[-2pt]" if at + 1 < high else r"\\") for at, line in enumerate(found)]


def _heads(grid: Grid, width: float) -> list[list[Cell]]:
    """[line, the corners first][corner]"""
    rows = [grid.corners, *(line.heads for line in grid.lines)]
    natural = [max(wide(text) for text in own) for own in zip(*rows, strict=True)]
    room, share = HEADS * width, sum(natural)
    fitted = [own if share <= room else max(room * own / share, 24.0) for own in natural]
    return [[_wrapped(text, own) for text, own in zip(row, fitted, strict=True)] for row in rows]


def _wrapped(text: str, width: float) -> Cell:
    """Broken at blanks and hyphens, and where nothing else helps anywhere."""
    lines, line = list[str](), ""
    for piece in BREAK.split(text):
        if line and wide((line + piece).rstrip()) > width + 0.01:
            lines.append(line)
            line = ""
        while wide(piece.rstrip()) > width + 0.01 and len(piece) > 1:
            at = max(next(n for n in range(len(piece), 0, -1) if n == 1 or wide(piece[:n]) <= width), 1)
            lines.append(piece[:at])
            piece = piece[at:]
        line += piece
    return Cell(tuple((escaped(own.strip()), wide(own.strip())) for own in [*lines, line] if own.strip()))


def _entry(entry: Entry, look: Look) -> Cell:
    if not isinstance(entry, Number):
        text = f"{entry:,}" if isinstance(entry, int) else entry or ""
        return _wrapped(text, look.width / 3)
    value = re.sub("^-", "$-$", entry.text)
    size = wide(entry.text) * (BOLD if entry.best else 1) + 3 * entry.text.startswith("-")
    shown = (rf"\textbf{{{value}}}" if entry.best else value) + (rf"\rlap{{{entry.mark}}}" if entry.mark else "")
    if not entry.room or look.ci == "none":
        return Cell(((shown, size),))
    room = entry.room.replace("-", "$-$").replace(", ", r",\,")
    small = wide(f"[{entry.room}]", SMALL) + 3 * entry.room.count("-")
    if look.ci == "below":
        return Cell(((shown, size), (rf"{{\tiny [{room}]}}", small)))
    return Cell(((rf"{shown} {{\tiny [{room}]}}", size + small + 3),))


def counted(grid: Grid, block: Sequence[int] | None = None) -> tuple[str, list[str]]:
    """[line] the n of its first number that has one; its title says of which where others of a line have another."""
    at = range(len(grid.columns)) if block is None else block
    found, alike, first = list[str](), True, ""
    for line in grid.lines:
        own = [(column, entry.n) for column in at if isinstance(entry := line.entries[column], Number)]
        alike &= len({n for _, n in own}) < 2
        column, number = next(((column, n) for column, n in own if n is not None), (None, None))
        found.append("" if number is None else f"{number:,}")
        if column is not None and not first:
            first = f"{grid.columns[column].over} {grid.columns[column].title}".strip()
    return ("n" if alike else f"n of {first}"), found
