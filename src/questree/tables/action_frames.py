"""Which annotated frames an action has: those at which it is going on, at or after its start and before its end."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.facts import ACTIONS

SLACK = 1e-6  # a frame number over a frame rate does not hit a stamp to the last bit
REACH = 0.5  # seconds between an action without a frame and one that shows it all the same
FAR = float("inf")
RADIX = 1 << 40  # microseconds of more than a video


def inside(actions: pl.DataFrame, frames: pl.DataFrame, closed: bool = False) -> pl.DataFrame:
    """The actions with `first` and `last` set to the frames at start <= seconds < end, null when none shows them.

    One between two frames is shown by the nearest within REACH, if nothing that has frames begins or ends between the
    two; of several that are not done at once, the nearest has it. `closed`, as in released graphs: the end is inside,
    and nothing else shows an action.
    """
    stamps = frames.select("video", "seconds", at="seconds", frame="frame").sort("video", "seconds")
    asked = actions.drop("first", "last", strict=False).with_row_index("row")
    first = _nearest(asked, pl.col("start") - SLACK, stamps, "forward")
    last = _nearest(asked, pl.col("end") + (SLACK if closed else -SLACK), stamps, "backward")
    near = asked.join(first, on="row").join(last, on="row", suffix="_before").sort("row")
    some = (pl.col("frame") <= pl.col("frame_before")).fill_null(False)
    shown = near.with_columns(first=pl.when(some).then("frame"), last=pl.when(some).then("frame_before"), shown=some)
    if not closed and not shown["shown"].all():
        beside = _beside(shown.filter(~pl.col("shown")), shown.filter("shown"))
        shown = shown.join(beside, on="row", how="left", suffix="_beside").sort("row")
        shown = shown.with_columns(pl.coalesce(name, "frame_beside").alias(name) for name in ("first", "last"))
    return ACTIONS.frame(shown)


def _nearest(asked: pl.DataFrame, moment: pl.Expr, stamps: pl.DataFrame, way: str) -> pl.DataFrame:
    wanted = asked.select("row", "video", seconds=moment).sort("video", "seconds")
    found = wanted.join_asof(stamps, on="seconds", by="video", strategy=way, check_sortedness=False)  # type: ignore[arg-type]
    return found.select("row", "frame", "at")


def _beside(bare: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    """row, frame of actions between two frames that one of them shows."""
    later = (pl.col("at") - pl.col("end")).clip(0, None).fill_null(FAR)
    earlier = (pl.col("start") - pl.col("at_before")).fill_null(FAR)
    ahead = later <= earlier
    near = bare.with_columns(
        ahead=ahead,
        away=pl.min_horizontal(later, earlier),
        frame=pl.when(ahead).then("frame").otherwise("frame_before"),
        at=pl.when(ahead).then("at").otherwise("at_before"),
    ).filter(pl.col("away") <= REACH)
    first, at = near["ahead"].to_numpy(), _keys(near, "at") + 1
    start = _keys(near, "start") + 1
    end = np.maximum(_keys(near, "end"), start)
    starts, ends = (np.sort(_keys(shown, name)) for name in ("start", "end"))
    begun = _between(starts, np.where(first, end, at), np.where(first, at, end))
    ended = _between(ends, np.where(first, start, at), np.where(first, at, start))
    alone = near.filter(pl.Series(begun + ended == 0, dtype=pl.Boolean)).sort("away", "start", "end", "action")
    nearest = (pl.col(name) == pl.col(name).first().over("video", "frame") for name in ("start", "end"))
    return alone.filter(*nearest).select("row", "frame")


def _keys(actions: pl.DataFrame, moment: str) -> NDArray[np.int64]:
    """Video and microsecond as one number."""
    micro = np.rint(actions[moment].to_numpy() * 1e6).astype(np.int64)
    return np.asarray(actions["video"].to_numpy().astype(np.int64) * RADIX + micro)


def _between(ordered: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many lie at begin <= key < end."""
    return np.asarray(np.maximum(np.searchsorted(ordered, end) - np.searchsorted(ordered, begin), 0))
