"""What a question rests on, as a table: frames of a video in seconds, or things of images with their boxes."""

from typing import Any

import polars as pl

from questree.notation.own import show
from questree.readings.evidence import roles
from questree.show.image_view import ImageView
from questree.show.video_view import VideoScene, VideoView
from questree.show.views import Posed, View
from questree.tables.facts import BOX

OF_VIDEOS: dict[str, Any] = {
    "program": pl.String,
    "role": pl.String,
    "window": pl.Boolean,
    "frames": pl.List(pl.UInt32),
    "seconds": pl.List(pl.Float64),
}
OF_IMAGES: dict[str, Any] = {"program": pl.String, "role": pl.String, "image": pl.String, "thing": pl.String, **BOX}


def evidence(view: View, posed: Posed) -> pl.DataFrame:
    """A row per part of the program, or per part and thing."""
    if isinstance(view, ImageView):
        return pl.DataFrame(list(_things(view, posed)), schema=OF_IMAGES, orient="row")
    assert isinstance(view, VideoView)
    return pl.DataFrame(list(_frames(view, posed)), schema=OF_VIDEOS, orient="row")


def _frames(view: VideoView, posed: Posed) -> Any:
    facts = view.facts.between(posed.stored.video, posed.stored.video + 1)
    if not facts.told or posed.program is None:
        return
    scene = view.scene(posed, None)
    assert isinstance(scene, VideoScene)
    number, seconds = facts.frames["number"].to_list(), facts.frames["seconds"].to_list()
    for own in scene.evidence(posed.program):
        yield own.program, own.role, own.window, [number[at] for at in own.at], [seconds[at] for at in own.at]


def _things(view: ImageView, posed: Posed) -> Any:
    scene = view.scene(posed, None)
    things, ids = view.things, view.facts.images["id"]
    needed = {show(node): role for node, role in roles(posed.program).items()} if posed.program else {}
    for part in scene.parts:
        for row in things[sorted(part.things)].iter_rows(named=True):
            yield part.program, needed[part.program], ids[row["image"]], row["name"], *(row[side] for side in BOX)
