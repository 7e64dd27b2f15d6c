"""`questree synth`: raw files of a made-up world, videos or rooms, with the truth beside them."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from questree.cli.shared_options import Whole, whole
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.synth.video import Rates

app = App(name="synth", help="Raw files of a made-up world, with the truth beside them.")

Out = Annotated[Path, Parameter(name="--out", help="Folder to write; an earlier world there is replaced.")]
Seed = Annotated[Whole, Parameter(name="--seed", help="Seed of the world.")]
USUAL = Rates()


@app.default
@output
def videos(
    *,
    out: Out,
    videos: Whole = 200,
    seed: Seed = 1,
    missing_relations: float = USUAL.missing_relations,
    overlapping_stamps: float = USUAL.overlapping_stamps,
    double_labels: float = USUAL.double_labels,
    flipped_heights: float = USUAL.flipped_heights,
    missing_takes: float = USUAL.missing_takes,
    workers: Annotated[int | None, Parameter(converter=whole)] = None,
) -> None:
    """People doing things at home: Charades tables and Action Genome pickles, with noise; the clean truth in truth/.

    Parameters
    ----------
    videos
        Number of videos.
    missing_relations
        Share of relation annotations left out.
    overlapping_stamps
        Share of takings next to holdings, and holdings next to puttings, whose stamps overlap.
    double_labels
        Share of objects that are also annotated as a similar class.
    flipped_heights
        Share of "above" and "beneath" that are the wrong way round.
    missing_takes
        Share of takings left out although a holding follows.
    workers
        Number of processes, which does not change the files. [default: one per processor]
    """
    from questree.synth.world import write_world

    rates = Rates(missing_relations, overlapping_stamps, double_labels, flipped_heights, missing_takes)
    with watching():
        made = write_world(out, videos, seed, rates, workers)
    _tell(made)
    say(f"wrote {out} and {out / 'truth'}")
    write_json(made)


@app.command
@output
def images(*, out: Out, images: Whole = 100, seed: Seed = 1) -> None:
    """Rooms with objects, attributes and relations: scene graphs in the format of GQA.

    Parameters
    ----------
    images
        Number of images.
    """
    from questree.synth.images import write_images

    with watching():
        made = write_images(out, images, seed)
    print_table("made", [made])
    say(f"wrote {out}")
    write_json(made)


@app.command
@output
def situations(*, out: Out, images: Whole = 100, seed: Seed = 1) -> None:
    """Somebody doing something to something, with, from or into something: situations in the format of imSitu.

    Parameters
    ----------
    images
        Number of images.
    """
    from questree.synth.situations import write_situations

    with watching():
        made = write_situations(out, images, seed)
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
