"""Which videos share a file, and the memory: as many as give so many questions, by what their facts let expect."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from questree.columns.joins import Ints, starts
from questree.tables.facts import ACTIONS, TRACKS
from questree.tables.run import Run

SHARD = 5_000_000  # questions expected of the videos of a file, unless it is one video
CHUNK, TOGETHER = 64, SHARD // 2  # videos whose columns are in memory together, and the questions expected of them

Cuts = tuple[int, ...]  # of a shard: where its chunks of videos begin, and its end


def cut(expected: Ints, most: int) -> list[Cuts]:
    """A video goes into the shard, and the chunk, of the one before it if there is room."""
    shards = list[list[int]]()
    in_shard = in_chunk = 0
    for video, questions in enumerate(expected.tolist()):
        if not shards or video - shards[-1][0] == most or in_shard + questions > SHARD:
            shards.append([video])
            in_shard = in_chunk = 0
        elif video - shards[-1][-1] == CHUNK or in_chunk + questions > TOGETHER:
            shards[-1].append(video)
            in_chunk = 0
        in_shard, in_chunk = in_shard + questions, in_chunk + questions
    begins = [*(shard[0] for shard in shards), len(expected)]
    return [(*shard, end) for shard, end in zip(shards, begins[1:], strict=True)]


def regular(shards: Sequence[Cuts], most: int) -> bool:
    """Has every shard but the last one `most` videos?"""
    return all(later[0] - shard[0] == most for shard, later in pairwise(shards))


def expected(run: Run) -> Ints:
    """[video] roughly its questions, by a factor of three: most of them ask for a relation and two objects in a time.

    So for every relation of the video: the pairs of objects of the video that the corpus has with it, in every time.
    """
    facts, pairs = run.stored("facts"), TRACKS.only("video", "relation", "object")
    seen = pl.concat([rows.select("relation", "object").unique() for *_, rows in facts.ranges(pairs)]).unique()
    own = [(relation, np.array(things)) for relation, things in seen.group_by("relation").agg("object").iter_rows()]
    paired = [_paired(rows, end - begin, own) for begin, end, rows in facts.ranges(pairs)]
    return np.asarray(np.concatenate(paired) * times(run), np.int64)


def _paired(facts: pl.DataFrame, videos: int, own: Sequence[tuple[int, Ints]]) -> Ints:
    """[video] pairs of its objects, for every relation it has those that the corpus has with it."""
    things = facts.select("video", "object").unique()
    video, thing = things["video"].to_numpy(), things["object"].to_numpy()
    having = facts.select("video", "relation").unique().partition_by("relation", as_dict=True)
    pairs = np.zeros(videos)
    for relation, corpus in own:
        if (relation,) in having:
            there = np.bincount(video[np.isin(thing, corpus)], minlength=videos)
            with_it = having[relation,]["video"].to_numpy()
            pairs[with_it] += there[with_it] ** 2
    return pairs


def related(run: Run) -> Ints:
    """[video] the relations that hold in it."""
    columns = TRACKS.only("video", "relation")
    return np.concatenate(
        [
            np.bincount(rows.unique()["video"], minlength=end - begin)
            for begin, end, rows in run.stored("facts").ranges(columns)
        ]
    )


def times(run: Run) -> Ints:
    """[video] the whole video; before, after and while an action; between two actions."""
    columns = ACTIONS.only("video", "action", "start", "first", "last")
    return np.concatenate([_times(rows, end - begin) for begin, end, rows in run.stored("facts").ranges(columns)])


def _times(actions: pl.DataFrame, videos: int) -> Ints:
    first = pl.col("first").sort_by("start", "first").first()
    last = pl.col("last").sort_by("start", "first").first()
    done = actions.drop_nulls().group_by("video", "action").agg(first=first, last=last).sort("video", "first")
    video = done["video"].to_numpy().astype(np.int64)
    begin, end = (video << 32 | done[name].to_numpy() for name in ("first", "last"))
    later = starts(video, videos)[video + 1] - np.searchsorted(begin, end, side="right")
    return np.asarray(1 + 3 * np.bincount(video, minlength=videos) + np.bincount(video, later, minlength=videos))
