"""How many questions and bytes are coming: counted where they are few, else told from a few videos and time phrases."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from questree.benchmarks import Said
from questree.benchmarks.agqa.editions import edition_of
from questree.columns.hashing import seed_of
from questree.columns.joins import Ints
from questree.progress import watch
from questree.stages.generate.layout import cut, expected, times
from questree.stages.generate.localised import VideoChunk
from questree.stages.generate.sampling import dense, fewer
from questree.stages.generate.shards import (
    GenerateOptions,
    asked,
    corpus,
    loaded,
    questions,
    side_tables,
    with_plugins,
)
from questree.stages.generate.text import texts
from questree.stages.questions import Shard
from questree.tables.facts import VIDEOS
from questree.tables.questions import QUESTIONS, TABLES, TEXT
from questree.tables.run import Run

COUNTED = 3_000_000  # questions expected of a corpus, up to which they are counted one by one
SAMPLED = 1_000_000  # questions expected of the videos that stand for the others
PHRASES = 24  # of each of the videos that stand for the others
LEAST, MOST = 8, 24  # such videos
ERRORS = 2.3  # standard errors to either side: 95 % with eight videos, by Student's t


@dataclass(frozen=True)
class Estimate:
    questions: int
    low: int
    high: int
    videos: int  # that were looked at
    of: int
    shards: int
    bytes: int  # of all tables, without text
    text_bytes: int  # of the texts
    counted: bool  # one by one; the ends of what is told from a single video are not known


def estimate(run: Run, options: GenerateOptions) -> Estimate:
    """Nothing is written but into a folder that is removed at the end."""
    run.vocabulary()
    options = with_plugins(options)
    weight, large = np.minimum(expected(run), options.most_per_video) + 1, dense(run, options.most_per_video)
    shards = cut(expected(run), options.shard)
    facts, known, phrases, bare = corpus(
        run.folder, options.rare_below, edition_of(asked(options)), options.closed_world
    )
    whole = int(weight.sum()) <= COUNTED
    looked = [pair for cuts in shards for pair in pairwise(cuts)] if whole else chosen(run, weight, options.seed)
    counts, tables = list[float](), list[dict[str, pl.DataFrame]]()
    for begin, end in watch(looked, "estimate", len(looked)):
        part = loaded(facts.between(begin, end), known, bare[begin:end], options, large)
        part, share = (part, np.ones(1)) if whole else thinned(part, options.seed)
        found, sides = pl.concat(questions(part, {}, begin)), side_tables(part, begin)
        said = Shard.of(known.vocabulary, facts.videos["id"].to_list(), options.seed, found, sides, known.edition)
        counts.append(float(share[np.minimum(found["phrase"].to_numpy(), len(share) - 1)].sum()))
        tables.append(sides | {QUESTIONS.name: found, TEXT.name: texts(said, phrases).to_frame()})
    own = np.array([weight[begin:end].sum() for begin, end in looked])
    total, error = (sum(counts), 0.0) if whole else ratio(np.array(counts), own, weight)
    low, high = max(total - ERRORS * error, 0), total + ERRORS * error
    made = sum(len(each[QUESTIONS.name]) for each in tables)
    size, text = (round(size * total / max(made, 1)) for size in sizes(tables, options))
    videos = sum(end - begin for begin, end in looked)
    return Estimate(round(total), round(low), round(high), videos, len(weight), len(shards), size, text, whole)


def chosen(run: Run, weight: Ints, seed: int) -> list[tuple[int, int]]:
    """Some videos, by a keyed hash: as many as give no more questions than may be counted, few phrases of each."""
    names = run.table("facts", VIDEOS)["id"]
    order = np.argsort([seed_of(seed, f"estimate {name}") for name in names])
    thin = weight * np.minimum(1, PHRASES / times(run))
    count = int(np.searchsorted(np.cumsum(thin[order]), SAMPLED))
    return [(at, at + 1) for at in sorted(order[: min(max(count, LEAST), MOST)].tolist())]


def thinned(part: VideoChunk, seed: int) -> tuple[VideoChunk, Ints]:
    """One video with few of its phrases, and [phrase] how many of its kind each of them stands for."""
    seeds = np.array([seed_of(seed, name) for name in part.world.ids], np.uint64)
    few = replace(part, passes=fewer(part.spans, part.passes, seeds, PHRASES))
    every, kept = (
        np.concatenate([2 * each.spans.kind[phrases.span] + at for at, phrases in enumerate(each.passes)])
        for each in (part, few)
    )
    return few, (np.bincount(every) / np.maximum(np.bincount(kept, minlength=every.max(initial=0) + 1), 1))[kept]


def ratio(counts: Ints, weight: Ints, every: Ints) -> tuple[float, float]:
    """The total of all videos, in proportion to what is expected of them, and its standard error.

    As if there were many more videos than were looked at, because of each of these only some phrases were.
    """
    share, n = counts.sum() / weight.sum(), len(counts)
    spread = np.square(counts - share * weight).sum() / max(n - 1, 1)
    error = len(every) * sqrt(spread / n)
    return float(share * every.sum()), error * float(every.mean() / weight.mean())


def sizes(parts: list[dict[str, pl.DataFrame]], options: GenerateOptions) -> tuple[int, int]:
    """Bytes of the tables, and of the text."""
    if not parts:
        return 0, 0
    with TemporaryDirectory() as place:
        for table in (*TABLES[options.edition].values(), TEXT):
            table.write(pl.concat([part[table.name] for part in parts]), Path(place))
        found = {path.stem: path.stat().st_size for path in Path(place).iterdir()}
    text = found.pop(TEXT.name)
    return sum(found.values()), text


def forecast(found: Estimate) -> Iterator[Said]:
    if found.counted:
        yield f"{found.questions:,} questions, counted"
    else:
        between = f"{rounded(found.low)} to {rounded(found.high)}, " if found.low < found.high else ""
        looked = f"from {found.videos} of {found.of:,} videos" if found.of > 1 else "from some of its time phrases"
        yield f"about {rounded(found.questions)} questions ({between}{looked})"
    plain, said = megabytes(found.bytes), megabytes(found.bytes + found.text_bytes)
    yield f"about {plain}, with text {said}, in {found.shards:,} shards"


def rounded(number: float) -> str:
    """To three digits, as more are not known."""
    digits = max(len(str(int(number))) - 3, 0)
    return f"{round(number, -digits):,.0f}"


def megabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{max(size / 1e6, 0.1):,.1f} MB"
