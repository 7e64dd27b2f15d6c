"""Plots of an audit: answer distributions, first words of questions, shares of structures; before and after."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from questree import svg
from questree.stages.audit.guesses import SETS
from questree.stages.balance.levelling import SHARES

TOP = 10  # answers that are drawn on their own
RINGS = 4  # words
LETTERS, ROOM = 8, 72  # pixels: of the letters in a ring; room for them
LEFT, RIGHT, HIGH = 190.0, 20.0, 18.0
WIDE = 850.0


def answers(counts: pl.DataFrame, groups: list[str], words: Mapping[int, str], wide: float = WIDE) -> str:
    """The shares of the most frequent answers before and after balancing; groups: [template]."""
    named = counts.with_columns(group=pl.Series(groups).gather(counts["template"]))
    bars: list[tuple[str, list[tuple[str, float]]]] = []
    for group in dict.fromkeys(groups):
        own = named.filter(pl.col("group") == group).group_by("answer").agg(pl.col(*SETS).sum())
        for column in SETS:
            table = own.sort([column, "answer"], descending=[True, False])
            total = int(table[column].sum())
            top = [(words[a], n / total) for a, n in table.select("answer", column).rows()[:TOP] if n]
            bars.append((f"{group}: {column} ({total:,})", top))
    return stacked("Answers, most frequent first", bars, wide=wide)


def structures(counts: pl.DataFrame, structure: list[str], wide: float = WIDE) -> str:
    """structure: [template]"""
    own = counts.group_by(structure=pl.Series(structure).gather(counts["template"])).agg(pl.col(*SETS).sum())
    bars = []
    for column in SETS:
        total = max(int(own[column].sum()), 1)
        by_name = dict(own.select("structure", column).rows())
        bars.append((f"{column} ({total:,})", [(name, by_name.get(name, 0) / total) for name in SHARES]))
    return stacked("Structures", [*bars, ("target", list(SHARES.items()))], by_name=True, wide=wide)


def stacked(
    title: str, bars: list[tuple[str, list[tuple[str, float]]]], by_name: bool = False, wide: float = WIDE
) -> str:
    """One bar per row, its shares side by side; what is not named is grey."""
    room = wide - LEFT - RIGHT
    shapes = [svg.words(10, 16, title, 14)]
    names = list(dict.fromkeys(name for _, own in bars for name, _ in own))
    for row, (label, own) in enumerate(bars):
        x, y = LEFT, 32 + row * (HIGH + 4) + (row // 2) * 6
        shapes.append(svg.words(LEFT - 6, y + HIGH / 2, label, 10, "end"))
        for at, (name, share) in enumerate(own):
            fill = svg.colour(names.index(name) if by_name else at)
            shapes.append(svg.box(x, y, share * room, HIGH, fill, f"{name}: {100 * share:.1f} %"))
            if share * room > 6 * len(name):
                shapes.append(svg.words(x + share * room / 2, y + HIGH / 2, name, 9, "middle"))
            x += share * room
        shapes.append(svg.box(x, y, LEFT + room - x, HIGH, svg.REST, "all others"))
    height = 44 + len(bars) * (HIGH + 4) + (len(bars) // 2) * 6
    return svg.drawing(wide, height, shapes)


def first_words(texts: dict[str, pl.Series], size: int = LETTERS) -> str:
    """How questions begin: the first word in the inner ring, the next words outside, in letters of this size."""
    shapes = []
    for side, (name, series) in enumerate(texts.items()):
        centre = (230.0 + side * 460, 240.0)
        shapes += [svg.words(centre[0], 14, f"First words, {name} ({len(series):,})", 14, "middle")]
        lower = series.str.to_lowercase().str.replace_all("[?,]", "").str.split(" ")
        table = pl.DataFrame({f"w{n}": lower.list.get(n, null_on_oob=True) for n in range(RINGS)})
        shapes += ring(table.group_by(pl.all()).agg(n=pl.len()).rows(), 0, (0.0, 1.0), centre, "", size)
    return svg.drawing(460 * len(texts), 470, shapes)


Beginning = tuple[Any, ...]  # the first words of questions, None where they are shorter, and how many begin so


def ring(
    begins: list[Beginning], depth: int, turns: tuple[float, float], centre: tuple[float, float], fill: str, size: int
) -> list[str]:
    """The pieces of one word and of all that follow it; pieces too thin to see are left out."""
    if depth == RINGS:
        return []
    after: dict[str, list[Beginning]] = {}
    for own in begins:
        if own[depth] is not None:
            after.setdefault(own[depth], []).append(own)
    parts = sorted((-counted(inside), text) for text, inside in after.items())
    shapes, begin, total = [], turns[0], counted(begins)
    for at, (less, text) in enumerate(parts):
        n = -less
        end = begin + (turns[1] - turns[0]) * n / max(total, 1)
        if end - begin < 0.002:
            break
        own_fill = fill or svg.colour(at)
        inner = 50.0 + depth * 42
        shapes.append(svg.arc(centre, (inner, inner + 42), (begin, end), own_fill, f"{text}: {n:,}"))
        if end - begin > 0.0015 * size:
            x, y = svg.point(*centre, inner + 21, (begin + end) / 2)
            turn = ((begin + end) / 2 * 360) % 180 - 90
            shapes.append(svg.words(x, y, text[: ROOM // size], size, "middle", turn))
        shapes += ring(after[text], depth + 1, (begin, end), centre, own_fill, size)
        begin = end
    return shapes


def counted(begins: list[Beginning]) -> int:
    return sum(own[-1] for own in begins)
