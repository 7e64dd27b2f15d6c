"""`questree synth`: raw files of a made-up world, videos or rooms, with the truth beside them."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from questree.api import made_up
from questree.api.made_up import Rates
from questree.cli.clusters import clustered
from questree.cli.shared_options import Whole, whole
from questree.cli.terminal import output, print_table, say, watching, write_json

app = App(name="synth", help="Raw files of a made-up world, with the truth beside them.")

Out = Annotated[Path, Parameter(help="Folder to write; an earlier world there is replaced.")]
Seed = Annotated[Whole, Parameter(help="Seed of the world.")]
Images = Annotated[Whole, Parameter(help="Number of images.")]
Workers = Annotated[
    int | None,
    Parameter(
        converter=whole, help="Number of processes, which does not change the files. [default: one per processor]"
    ),
]
USUAL = Rates()


@app.default
@output
@clustered
def videos(
    *,
    out: Out,
    videos: Annotated[Whole, Parameter(help="Number of videos.")] = 200,
    seed: Seed = 1,
    rates: Annotated[Rates, Parameter(name="*")] = USUAL,
    frames: Annotated[
        bool, Parameter(negative="", help="Also draw every frame, and a video file of each video, into OUT/frames.")
    ] = False,
    frame_size: Annotated[
        str, Parameter(help="Size that frames fit into, as 320x240. [default: that of each video]")
    ] = "",
    workers: Workers = None,
) -> None:
    """People doing things at home: Charades tables and Action Genome pickles, with noise; the clean truth in truth/."""
    with watching():
        made = made_up.made_up_videos(
            out, videos, seed=seed, rates=rates, frames=frames, frame_size=frame_size, workers=workers
        )
    _tell(made)
    say(f"wrote {out} and {out / 'truth'}")
    if frames:
        say(f"drew {made['drawn']['frames']:,} frames into {out / 'frames'}")
    write_json(made)


@app.command
@output
@clustered
def images(
    *,
    out: Out,
    images: Images = 100,
    seed: Seed = 1,
    pixels: Annotated[bool, Parameter(negative="", help="Also draw every image, into OUT/pixels.")] = False,
    workers: Workers = None,
) -> None:
    """Rooms with objects, attributes and relations: scene graphs in the format of GQA."""
    _write(lambda: made_up.made_up_images(out, images, seed=seed, pixels=pixels, workers=workers), out)


@app.command
@output
def situations(*, out: Out, images: Images = 100, seed: Seed = 1) -> None:
    """Somebody doing something to something, with, from or into something: situations in the format of imSitu."""
    _write(lambda: made_up.made_up_situations(out, images, seed=seed), out)


@app.command
@output
def corpus(
    *,
    out: Out,
    videos: Annotated[Whole, Parameter(help="Number of videos.")] = 20,
    objects: Annotated[Whole, Parameter(help="Classes of objects, with the person.")] = 40,
    relations: Annotated[Whole, Parameter(help="Relations, with the two derived ones.")] = 20,
    actions: Annotated[Whole, Parameter(help="Classes of actions.")] = 60,
    cast: Annotated[Whole, Parameter(help="Different actions in a video.")] = 6,
    instances: Annotated[Whole, Parameter(help="Number of times each of them happens.")] = 1,
    seconds: Annotated[float, Parameter(help="Mean length of a video.")] = 30.0,
    frames: Annotated[Whole, Parameter(help="Mean number of annotated frames of a video.")] = 30,
    seed: Seed = 1,
) -> None:
    """A corpus of any size with words of its own: videos.json for `ingest json`, and its vocabulary.toml."""
    plan = made_up.CorpusPlan(videos, objects, relations, actions, cast, instances, seconds, frames)
    _write(lambda: made_up.made_up_corpus(out, plan, seed=seed), out)


def _write(work: Callable[[], dict[str, int]], out: Path) -> None:
    with watching():
        made = work()
    print_table("made", [made])
    say(f"wrote {out}")
    write_json(made)


def _tell(made: dict[str, Any]) -> None:
    say(f"{made['videos']:,} videos, {made['frames']:,} frames, {made['entries']:,} annotations")
    tables = {
        "mean per video": {name: f"{value:.1f}" for name, value in made["per video"].items()},
        "% of videos": {name: f"{100 * share:.1f}" for name, share in made["features"].items()},
        "next to the statistics": {name: f"{value:.2f}" for name, value in made["closeness"].items()},
        "noise": {name: f"{n['changed']:,} of {n['of']:,}" for name, n in made["noise"]["counts"].items()},
    }
    for title, values in tables.items():
        print_table("", [{title: name, "": value} for name, value in values.items()])
