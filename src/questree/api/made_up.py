"""Raw files of made-up worlds, videos or rooms, with the truth beside them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import fspath
from typing import TYPE_CHECKING, Any

from questree.api.made import Made
from questree.faults import BadInput
from questree.places import path_of
from questree.synth.corpora import CorpusPlan as CorpusPlan
from questree.synth.video import Rates as Rates

if TYPE_CHECKING:
    from questree.api.runs import StrPath


def synthesize(
    out: "StrPath",
    *,
    videos: int | None = None,
    images: int | None = None,
    situations: int | None = None,
    seed: int = 1,
    drawn: bool = False,
    workers: int | None = None,
    **rates: float,
) -> Made:
    """Write raw files of a made-up world, as `questree synth` does: so many videos, images or situations.

    Parameters
    ----------
    out
        Folder to write; an earlier world there is replaced.
    videos
        People doing things at home: Charades tables and Action Genome pickles, with noise; the truth in truth/.
    images
        Rooms with objects, attributes and relations: scene graphs in the format of GQA.
    situations
        Somebody doing something to something: images in the format of imSitu.
    seed
        Seed of the world.
    drawn
        Also draw every frame of the videos, or every image (extra `questree[draw]`).
    workers
        Number of processes; one per processor if left out.
    rates
        Of videos: how often things are noisy, by name; `questree synth --help` lists them.

    >>> questree.synthesize("home", videos=2, workers=1)
    <Made by synth: wrote home: 2 videos>
    """
    sizes = {"videos": videos, "images": images, "situations": situations}
    given = {name: size for name, size in sizes.items() if size is not None}
    if len(given) != 1:
        raise BadInput.at("synthesize", f"expected one of {'=, '.join(sizes)}=, got {', '.join(given) or 'none'}")
    ((kind, size),) = given.items()
    strange = [name for name in rates if name not in Rates.__dataclass_fields__]
    if strange or (rates and kind != "videos"):
        known = ", ".join(Rates.__dataclass_fields__) if kind == "videos" else "none"
        raise BadInput.at(next(iter(strange or rates)), f"expected a rate of {kind}; choose from {known}")
    record: dict[str, Any]
    if kind == "videos":
        own = Rates(**rates)
        record = made_up_videos(out, size, seed=seed, rates=own, frames=drawn, workers=workers)
    elif kind == "images":
        record = dict(made_up_images(out, size, seed=seed, pixels=drawn, workers=workers))
    else:
        record = dict(made_up_situations(out, size, seed=seed))
    return Made("synth", [f"wrote {fspath(out)}: {size:,} {kind}"], record)


def made_up_videos(
    out: "StrPath",
    videos: int = 200,
    *,
    seed: int = 1,
    rates: Rates | None = None,
    frames: bool = False,
    frame_size: str = "",
    workers: int | None = None,
) -> dict[str, Any]:
    """People doing things at home: Charades tables and Action Genome pickles, with noise; the truth in truth/.

    `frames` draws every frame, fitting into `frame_size` as 320x240; as `questree synth` does.

    >>> from questree.api.made_up import made_up_videos
    >>> made_up_videos("home", 2, workers=1)["videos"]
    2
    """
    from questree.synth.world import write_world

    most, place = frame_size_of(frame_size), path_of(out)
    if frames:
        with drawing("questree synth --frames"):
            from questree.draw.frames import write_frames
    made = write_world(place, videos, seed, rates or Rates(), workers)
    if frames:
        made["drawn"] = write_frames(place / "frames", videos, seed, most, workers)
    return made


def frame_size_of(text: str) -> tuple[int, int] | None:
    """WIDTHxHEIGHT; nothing of nothing."""
    found = re.fullmatch(r"([1-9]\d{0,3})x([1-9]\d{0,3})", text)
    if text and found is None:
        raise BadInput.at("--frame-size", f"expected WIDTHxHEIGHT in pixels, as 320x240, got {text}")
    return (int(found[1]), int(found[2])) if found else None


@contextmanager
def drawing(command: str) -> Iterator[None]:
    """Around imports of what draws: the extra may be missing, or a library of the system that it needs."""
    try:
        yield
    except ImportError as missing:
        wanted = f"expected what draws, got: {missing}; run `pip install 'questree[draw]'`"
        raise BadInput.at(command, wanted) from None


def made_up_images(
    out: "StrPath", images: int = 100, *, seed: int = 1, pixels: bool = False, workers: int | None = None
) -> dict[str, int]:
    """Rooms with objects, attributes and relations: scene graphs in the format of GQA; `pixels` draws them."""
    from questree.synth.images import PIXELS, write_images

    if not pixels:
        return write_images(path_of(out), images, seed)
    with drawing("questree synth images --pixels"):
        from questree.draw.images import write_pixels
    made = write_images(path_of(out), images, seed)
    return made | {"drawn": write_pixels(path_of(out) / PIXELS, images, seed, workers)}


def made_up_situations(out: "StrPath", images: int = 100, *, seed: int = 1) -> dict[str, int]:
    """Somebody doing something to something: situations in the format of imSitu."""
    from questree.synth.situations import write_situations

    return write_situations(path_of(out), images, seed)


def made_up_corpus(out: "StrPath", plan: CorpusPlan, *, seed: int = 1) -> dict[str, int]:
    """A corpus of any size with words of its own: videos.json for `ingest json`, and its vocabulary.toml."""
    from questree.synth.corpora import write_corpus

    return write_corpus(path_of(out), plan, seed)
