"""Plots as files: SVG, and PDF with its letters inside, where the extra is installed."""

import re
from collections.abc import Iterable
from pathlib import Path

from questree.tables.store import new_folder

MADE = re.compile(rb"/CreationDate \(D:\d{14}")
ALWAYS = b"/CreationDate (D:20000101000000"  # the same plot is the same bytes


def pdf(svg: str) -> bytes | None:
    """None without `questree[pdf]`."""
    try:
        from cairosvg import svg2pdf
    except (ModuleNotFoundError, OSError):  # the package, or the library cairo
        return None
    return MADE.sub(ALWAYS, svg2pdf(bytestring=svg.encode()))


def write_plots(folder: Path, found: Iterable[tuple[str, str]]) -> tuple[int, bool]:
    """NAME.svg and NAME.pdf of every picture; how many, and whether PDF could be written."""
    count, printed = 0, True
    with new_folder(folder) as work:
        for name, svg in found:
            safe = re.sub(r"[^\w.-]+", "-", name)
            (work / f"{safe}.svg").write_text(svg, "utf-8")
            page = pdf(svg)
            if page is not None:
                (work / f"{safe}.pdf").write_bytes(page)
            count, printed = count + 1, page is not None
    return count, printed
