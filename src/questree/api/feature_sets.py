"""What models see of a run, made from its facts or by a backbone from pictures, as `questree features` does."""

from typing import Any, Literal

from questree.api.made import Made, Said
from questree.api.runs import StrPath
from questree.api.stored_answers import plain_name
from questree.benchmarks import chosen
from questree.faults import BadInput, Fault, at_least, refuse
from questree.features.making import FactsOfImages, FactsOfVideos, FeatureSource, write_features
from questree.features.options import FeatureOptions
from questree.places import path_of
from questree.tables import run as tables
from questree.tables.owners import writing

ALONE = "expected it with --detections, got it alone"
UNSEEN = "expected it with --from-facts, got it with --media"


def make_features(
    run: StrPath,
    *,
    from_facts: bool = False,
    media: StrPath | None = None,
    backbone: StrPath | None = None,
    motion: StrPath | None = None,
    name: str = "",
    format: Literal["safetensors", "parquet"] = "safetensors",
    width: int | None = None,
    frames: int = 32,
    clips: int = 8,
    object_frames: int = 8,
    objects: int = 36,
    noise: float = 0.0,
    miss: float = 0.0,
    confuse: float = 0.0,
    detections: bool = False,
    jitter: float | None = None,
    spurious: int | None = None,
    seed: int = 1,
    shard: int = 64,
    benchmark: str = "",
    workers: int = 2,
) -> Made:
    """Make what models see of a run: appearance, motion and objects of videos, or objects of images.

    Written to RUN/features/NAME. Work that was interrupted goes on where it stopped.

    Parameters
    ----------
    run
        Run folder with facts about videos (`questree augment`) or images (`questree ingest`).
    from_facts
        Make them from the run's facts: no pictures and no weights are needed.
    media
        Folder with frames, films or images, for a `backbone`.
    backbone
        With `media`: folder of a model of transformers (config.json), or with weights of torchvision (NAME-....pth).
    motion
        With `media`, videos: folder of a model as above that looks at clips. [default: how appearance changes]
    name
        Name of the features. [default: facts, or the name of the backbone]
    format
        Form of the files.
    width
        From facts: numbers per frame, clip or object. [128; a backbone has its own]
    frames
        Videos: number of frames, evenly over the video.
    clips
        Videos: number of clips.
    object_frames
        Videos: number of frames whose objects are shown.
    objects
        Largest number of objects of a frame or an image.
    noise
        Noise on every number, where 1 is as much as a word adds.
    miss
        Share of objects that are not seen.
    confuse
        From facts: share of classes, relations and actions that are taken for others.
    detections
        Objects are boxes of a made-up detector, near annotated ones, which are also written as detections.json.
    jitter
        With `detections`: largest shift of a side of a box, as a share of the box. [0.1]
    spurious
        With `detections`: boxes per frame or image where there is nothing. [2]
    seed
        Seed of noise and draws.
    shard
        Number of videos or images per file.
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    workers
        Number of processes.

    >>> questree.make_features("images", from_facts=True, workers=1)
    <Made by features: wrote images/features/facts>
    """
    place = tables.Run.at(run)
    own = chosen(place, benchmark, "facts")
    of_detector = {"--jitter": jitter is not None, "--spurious": spurious is not None}
    of_facts = {"--width": width is not None, "--confuse": confuse > 0}
    found = [Fault(option, ALONE) for option, given in of_detector.items() if given and not detections]
    found += [Fault(option, UNSEEN) for option, given in of_facts.items() if given and media is not None]
    if motion is not None and own.of_images:
        found.append(Fault("--motion", "expected a run of videos, got image sets"))
    options = FeatureOptions(
        128 if width is None else width, frames, clips, object_frames, objects, noise, miss, confuse, detections,
        (0.1 if jitter is None else jitter) * detections, (2 if spurious is None else spurious) * detections,
        seed,
    )  # fmt: skip
    found += [*options.faults(), *at_least(1, {"shard": shard, "workers": workers})]
    refuse([*found, *(plain_name("--name", name, "features") if name else [])])
    if from_facts == (media is not None) or (media is None) != (backbone is None) or (motion and media is None):
        raise BadInput.at("features", "expected --from-facts, or --media DIR with --backbone DIR")
    source: FeatureSource
    if media is None or backbone is None:
        source = (FactsOfImages if own.of_images else FactsOfVideos)(place.folder, options)
    else:
        watcher = None if motion is None else path_of(motion)
        source = looking(own.of_images)(place.folder, options, path_of(media), path_of(backbone), watcher)
        source.check()
    called = name or source.called
    with writing(place.folder, "features"):
        note = write_features(source, options, place, called, format, shard, workers)
    rows = [{"stream": stream, **shape} for stream, shape in note["streams"].items()]
    told: list[Said] = [
        ("Features", rows),
        f"{note['places']:,} {own.counted}",
        f"wrote {place.folder / 'features' / called}",
    ]
    return Made("features", told, {"name": called, **note})


def looking(images: bool) -> Any:
    """Who looks at pictures; what it needs is imported when it does."""
    from questree.features.from_media import MediaOfImages, MediaOfVideos

    return MediaOfImages if images else MediaOfVideos
