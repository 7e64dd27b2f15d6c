"""Videos, programs and DAGs as lines of text: a timeline, a tree, the frames a part rests on."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary

if TYPE_CHECKING:  # a timeline needs no programs
    from questree.domains.video import Videos
    from questree.terms import Node

BAR, MARK, NOTHING = "━", "●", "·"
NEEDED = {"decides": MARK, "reference": "○", "time": "━", "searched": "─"}  # what evidence is for -> its mark
LABEL = 34  # characters for the words left of the line


def timeline(facts: Facts, video: int, vocabulary: Vocabulary, width: int = 100) -> Iterator[str]:
    """The lines to print; `video` is its row number in the facts."""
    one = facts.between(video, video + 1)
    seconds = one.frames["seconds"].to_numpy()
    head = one.videos.row(0, named=True)
    ends = one.actions["end"].to_list() + seconds.tolist() + [head["length"] or 0.0]
    room, end = max(width - LABEL, 20), max([*ends, 1.0])
    column = np.minimum((seconds / end * room).astype(int), room - 1)  # [frame] where it is drawn
    split = f", {head['split']}" if head["split"] else ""
    yield f"video {head['id']}{split}: {len(seconds)} annotated frames in {end:.1f} s"
    yield axis(end, room)
    yield from actions(one.actions, vocabulary, end, room)
    yield from tracks(one, vocabulary, column, room)


def actions(table: pl.DataFrame, vocabulary: Vocabulary, end: float, room: int) -> Iterator[str]:
    for row in table.sort("start", "end", "action").iter_rows(named=True):
        lo, hi = int(row["start"] / end * room), int(np.ceil(row["end"] / end * room))
        bar = " " * lo + BAR * max(hi - lo, 1)
        again = f" ({row['instance']})" if row["instance"] > 1 else ""
        yield line(vocabulary.actions[row["action"]].phrase + again, bar[:room])


def tracks(one: Facts, vocabulary: Vocabulary, column: NDArray[np.int64], room: int) -> Iterator[str]:
    """Rows by group of relations, objects in the vocabulary's order; attention is never asked about and not shown."""
    rows = one.relations.group_by("relation", "object").agg(pl.col("frame")).sort("relation", "object")
    for group in ("derived", "contact", "verb", "spatial"):
        kept = rows.filter(pl.col("relation").is_in(vocabulary.group(group).tolist()))
        for relation, thing, frames in kept.iter_rows():
            label = f"{vocabulary.relations[relation].name} {vocabulary.objects[thing].name}"
            yield line(label, marked(column, frames, room))


def marked(column: NDArray[np.int64], frames: Sequence[int], room: int, mark: str = MARK) -> str:
    """Frames as marks in their columns."""
    marks = np.full(room, " ")
    marks[column] = NOTHING
    marks[column[frames]] = mark
    return "".join(marks)


def axis(end: float, room: int) -> str:
    """Seconds above the columns, and what the marks say."""
    marks = [" "] * (room + 4)
    for second in range(0, int(end) + 1, max(5, round(end / 60) * 10)):
        at = int(second / end * room)
        marks[at : at + len(str(second))] = str(second)
    return line(f"{MARK} holds, {NOTHING} does not; seconds:", "".join(marks))


def line(label: str, drawn: str) -> str:
    label = label if len(label) < LABEL else label[: LABEL - 2] + "…"
    return f"{label:<{LABEL}}{drawn}".rstrip()


def grounded(program: "Node", world: "Videos", width: int = 120) -> Iterator[str]:
    """One line per sub-program, a mark per frame it rests on, by what the frame is needed for."""
    from questree.notation import own
    from questree.readings.evidence import roles
    from questree.show.timeline import grounds

    begin, count = int(world.frame_start[world.row[0]]), int(world.frames[0])
    seconds = world.seconds[begin : begin + count]
    room = max(width - LABEL, 20)
    column = np.minimum((seconds / max(seconds[-1], 1.0) * room).astype(int), room - 1)
    needed = roles(program)
    for part, frames in grounds(program, world).items():
        yield line(own.show(part), marked(column, frames, room, NEEDED[needed[part]]))
    said = {"decides": "decides", "reference": "tells what is meant", "time": "the time asked about"}
    yield line("", ", ".join(f"{NEEDED[role]} {text}" for role, text in said.items() if role in needed.values()))
