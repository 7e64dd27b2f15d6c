"""`questree show`: one video of a run, to look at."""

import shutil
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, say, write_json
from questree.cli.timeline import timeline
from questree.faults import BadInput
from questree.tables.facts import Facts
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary


def show(
    run: Path,
    video: str = "",
    /,
    *,
    stage: Annotated[Literal["raw", "facts", "truth", "newest"], Parameter(help="Which facts.")] = "newest",
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Show one video of a run: its actions and relations on a timeline.

    Parameters
    ----------
    run
        Run folder.
    video
        Id of a video; the first one if none is given.
    """
    place = Run(run)
    vocabulary = place.vocabulary()
    facts = place.load(("facts" if place.facts.is_dir() else "raw") if stage == "newest" else stage)
    at = find(facts, video, run)
    if not quiet:
        for text in timeline(facts, at, vocabulary, shutil.get_terminal_size((120, 40)).columns):
            say(text)
    if json:
        write_json(json, record(facts, at, vocabulary))


def find(facts: Facts, video: str, run: Path) -> int:
    ids = facts.videos["id"].to_list()
    if not ids:
        raise BadInput.at(run, "this run has no videos")
    if not video:
        return 0
    if video not in ids:
        near = get_close_matches(video, ids, 3, 0.0)
        raise BadInput.at(run, f"no video {video!r} among its {len(ids):,}; there are {', '.join(near)}, ...")
    return ids.index(video)


def record(facts: Facts, at: int, vocabulary: Vocabulary) -> dict[str, object]:
    """The video as data: actions with seconds, relations with the numbers of their frames."""
    one = facts.choose(np.array([at]))
    number = one.frames["number"].to_list()
    tracks = one.relations.group_by("relation", "object", maintain_order=True).agg("frame")
    return {
        **one.videos.row(0, named=True),
        "frames": one.frames.select("number", "seconds").to_dicts(),
        "actions": [
            {"id": vocabulary.actions[row["action"]].id, "phrase": vocabulary.actions[row["action"]].phrase}
            | {name: row[name] for name in ("instance", "start", "end")}
            for row in one.actions.iter_rows(named=True)
        ],
        "relations": [
            {
                "relation": vocabulary.relations[relation].name,
                "object": vocabulary.objects[thing].name,
                "frames": [number[frame] for frame in frames],
            }
            for relation, thing, frames in tracks.sort("relation", "object").iter_rows()
        ],
    }
