"""Which videos share a file, and the memory: as many as give so many questions, by what their facts let expect."""

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from questree.columns.joins import Ints, starts
from questree.tables.facts import ACTIONS, TRACKS, VIDEOS
from questree.tables.run import Run

SHARD = 5_000_000  # questions expected of the videos of a file, unless it is one video
CHUNK, TOGETHER = 64, SHARD // 2  # videos whose columns are in memory together, and the questions expected of them

LARGEST = 200_000_000  # questions expected of a video; one of which more are expected is left out, unless told
ROWS = 1 << 25  # relations times times of a video: what they do then is in memory for all of these at once

Cuts = tuple[int, ...]  # of a shard: where its chunks of videos begin, and its end


def layout(run: Run, most: int, alone: Collection[str] = ()) -> list[Cuts]:
    """The shards of a run, of at most so many videos each; some videos have one for themselves."""
    questions = expected(run)
    if alone:
        questions[run.table("facts", VIDEOS)["id"].is_in(list(alone)).to_numpy()] = SHARD + 1
    return cut(questions, most)


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


def too_large(run: Run, phrases: int | None, largest: int = LARGEST) -> dict[str, int]:
    """Videos that would take all of memory and time, and the questions that are expected of each."""
    questions = expected(run)
    when = times(run, len(questions))
    related = run.table("facts", TRACKS.only("video", "relation")).unique()["video"].to_numpy()
    fewer = np.minimum(1, (phrases if phrases is not None else np.inf) / np.maximum(when, 1))
    left = (questions * fewer > largest) | (np.bincount(related, minlength=len(when)) * when > ROWS)
    ids = run.table("facts", VIDEOS)["id"].to_list() if left.any() else []
    return {ids[at]: int(questions[at]) for at in np.flatnonzero(left)}


def regular(shards: Sequence[Cuts], most: int) -> bool:
    """Has every shard but the last one `most` videos?"""
    return all(later[0] - shard[0] == most for shard, later in pairwise(shards))


def expected(run: Run) -> Ints:
    """[video] roughly its questions, by a factor of three: most of them ask for a relation and two objects in a time.

    So for every relation of the video: the pairs of objects of the video that the corpus has with it, in every time.
    """
    videos = len(run.table("facts", VIDEOS))
    facts = run.table("facts", TRACKS.only("video", "relation", "object")).unique()
    things = facts.select("video", "object").unique()
    video, thing = things["video"].to_numpy(), things["object"].to_numpy()
    pairs = np.zeros(videos)
    for relation in facts["relation"].unique().to_list():
        own = facts.filter(pl.col("relation") == relation)
        there = np.bincount(video[np.isin(thing, own["object"].to_numpy())], minlength=videos)
        with_it = own["video"].unique().to_numpy()
        pairs[with_it] += there[with_it] ** 2
    return np.asarray(pairs * times(run, videos), np.int64)


def times(run: Run, videos: int) -> Ints:
    """[video] the whole video; before, after and while an action; between two actions."""
    first = pl.col("first").sort_by("start", "first").first()
    last = pl.col("last").sort_by("start", "first").last()
    done = run.table("facts", ACTIONS.only("video", "action", "start", "first", "last")).drop_nulls()
    done = done.group_by("video", "action").agg(first=first, last=last).sort("video", "first")
    video = done["video"].to_numpy().astype(np.int64)
    begin, end = (video << 32 | done[name].to_numpy() for name in ("first", "last"))
    later = starts(video, videos)[video + 1] - np.searchsorted(begin, end, side="right")
    return np.asarray(1 + 3 * np.bincount(video, minlength=videos) + np.bincount(video, later, minlength=videos))
