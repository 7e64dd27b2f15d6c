"""What is drawn, by keyed hashes: shapes of programs, pairs of terms, and the examples that stay in train."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.benchmarks.covr.splits import HELD_OUT_SHAPES
from questree.columns.hashing import mix, seed_of
from questree.columns.joins import Ints
from questree.stages.split.program_rows import ImageRows
from questree.stages.split.rows import Truth

Pair = tuple[str, str]  # in order of their spelling: a pair is not ordered


@dataclass(frozen=True)
class Lexical:
    """Which pairs of terms may be held out, and how many are."""

    pairs: int = 65
    alone: int = 50  # questions of train with one term and without the other, of each
    together: int = 15  # questions of the evaluated side with both


def drawn_shapes(rows: ImageRows, seed: int) -> list[str]:
    """A fifth of the different shapes of all questions, rounded up."""
    texts = sorted({rows.shapes[code].text for code, _ in rows.by_shape})
    count = -int(-len(texts) * HELD_OUT_SHAPES // 1)
    return sorted(sorted(texts, key=lambda text: (seed_of(seed, f"shape {text}"), text))[:count])


def candidates(rows: ImageRows, train: Truth, judged: Truth, lexical: Lexical) -> list[Pair]:
    """Pairs whose terms are seen apart often enough in train, and together on the evaluated side."""
    names = rows.terms[0]
    single = np.bincount(_terms(rows, train)[1], minlength=len(names))
    seen, seen_count = pairs_in(rows, train)
    pair, count = pairs_in(rows, judged)
    pair = pair[count >= lexical.together]
    place = np.searchsorted(seen, pair)
    found = np.append(seen, -1)[place] == pair
    both = np.where(found, np.append(seen_count, 0)[place], 0)  # questions of train with both
    a, b = pair // len(names) if len(names) else pair, pair % max(1, len(names))
    fits = (single[a] - both >= lexical.alone) & (single[b] - both >= lexical.alone)
    return [(names[x], names[y]) for x, y in zip(a[fits].tolist(), b[fits].tolist(), strict=True)]


def drawn_pairs(rows: ImageRows, train: Truth, judged: Truth, lexical: Lexical, seed: int) -> list[Pair]:
    """As many pairs as are wanted, or all there are."""
    found = candidates(rows, train, judged, lexical)
    return sorted(sorted(found, key=lambda pair: (seed_of(seed, "pair {}\0{}".format(*pair)), pair))[: lexical.pairs])


def _terms(rows: ImageRows, inside: Truth) -> tuple[Ints, Ints]:
    _, question, term = rows.terms
    return question[inside[question]], term[inside[question]]


def pairs_in(rows: ImageRows, inside: Truth) -> tuple[Ints, Ints]:
    """Pairs a < b of terms as a * terms + b, ascending, and how many questions have both."""
    names = rows.terms[0]
    question, term = _terms(rows, inside)
    table = pl.DataFrame({"question": question, "term": term})
    both = table.join(table, on="question", suffix="_2").filter(pl.col("term") < pl.col("term_2"))
    key = both["term"].to_numpy() * len(names) + both["term_2"].to_numpy()
    found = np.unique(key, return_counts=True)
    return found[0], found[1]


def drawn_questions(ids: pl.Series, count: int, seed: int, name: str) -> frozenset[str]:
    """So many of the questions, whatever their order."""
    hashed = np.array([seed_of(seed, id) for id in ids.to_list()], np.uint64)
    order = np.argsort(mix(seed_of(seed, f"few {name}"), hashed), kind="stable")[:count]
    return frozenset(ids.gather(order).to_list())
