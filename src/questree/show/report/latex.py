"""A table as LaTeX with booktabs: value and interval in the cells, n as a comment beside the line."""

import re

from questree.show.report.grid import Column, Entry, Grid, Line, Number

MEANT = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "²": "$^2$",
} | {sign: f"\\{sign}" for sign in "&%$#_"}
CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
HEAD = "% needs the packages booktabs, textcomp and fontenc with T1; n stands beside each line\n"


def escaped(text: str) -> str:
    """Any text as text."""
    return "".join(MEANT.get(sign, sign) for sign in CONTROL.sub(" ", text))


def latex(grid: Grid) -> str:
    width = len(grid.corners) + len(grid.columns)
    kinds = "l" * len(grid.corners) + "".join("l" if column.text else "r" for column in grid.columns)
    head = [*_head(grid), r"\midrule"]
    rows = list(head)
    for above, reach, line in grid.rows():
        if above:
            rows += [r"\midrule"] * (len(rows) > len(head))
            rows.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escaped(above)}}}}} \\")
        elif line.strong and reach:
            rows.append(r"\midrule")
        rows.append(_line(line, reach))
    body = "\n".join(rows)
    return (
        f"{HEAD}\\begin{{table}}\n\\centering\n\\caption{{{escaped(f'{grid.title}. {grid.caption}')}}}\n"
        f"\\label{{tab:{grid.name}}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{body}\n"
        f"\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _head(grid: Grid) -> list[str]:
    rows, at = [], len(grid.corners) + 1
    if any(column.over for column in grid.columns):
        above, rules = [""] * len(grid.corners), []
        for text, count in grid.spans:
            above.append(rf"\multicolumn{{{count}}}{{c}}{{{escaped(text)}}}")
            rules.append(rf"\cmidrule(lr){{{at}-{at + count - 1}}}" if text else "")
            at += count
        rows = [" & ".join(above) + r" \\", " ".join(filter(None, rules))]
    return [*rows, " & ".join([*map(escaped, grid.corners), *map(_title, grid.columns)]) + r" \\"]


def _title(column: Column) -> str:
    return escaped(column.title)


def _line(line: Line, reach: int) -> str:
    heads = [escaped(head) for head in line.heads]
    heads[0] = heads[0] if reach else ""
    counted = ["" if not isinstance(e, Number) or e.n is None else str(e.n) for e in line.entries]
    n = f" % n: {', '.join(counted)}" if any(counted) else ""
    return " & ".join([*heads, *map(_entry, line.entries)]) + r" \\" + n


def _entry(entry: Entry) -> str:
    if isinstance(entry, Number):
        value = re.sub("^-", "$-$", entry.text)
        room = entry.room.replace("-", "$-$")
        return f"{value} {{\\scriptsize [{room}]}}" if room else value
    if isinstance(entry, int):
        return f"{entry:,}"
    return escaped(entry or "")
