"""Raw files of videos or images read into a run, and cleaned."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from questree.api.catalogue import SOURCES, source_of
from questree.api.made import Made, Said
from questree.faults import BadInput, Fault, at_least, refuse
from questree.places import path_of
from questree.sources.runs import check_target, note_left_out, summary, write_run
from questree.sources.shared_images import read_image_parts
from questree.sources.shared_videos import PiecedReading, Sharing, is_large, read_whole
from questree.tables.lock import lock
from questree.tables.owners import writing
from questree.tables.run import Run
from questree.tables.store import new_folder, scratch
from questree.vocabulary.load import default_text, parse
from questree.vocabulary.words import Vocabulary
from questree.workers import processes

StrPath = str | PathLike[str]


def ingest(
    folder: StrPath,
    *,
    out: StrPath,
    source: str | None = None,
    fps: float | None = None,
    vocabulary: StrPath | None = None,
    add: bool = False,
    settings: Mapping[str, Any] | None = None,
    workers: int = 2,
) -> Made:
    """Read raw files into a run, as `questree ingest SOURCE` does.

    Parameters
    ----------
    folder
        The raw files.
    out
        Run folder to write.
    source
        Kind of raw files, as `questree ingest --help` lists them; told by their names if left out.
    fps
        Frames per second of videos whose files do not say.
    vocabulary
        Videos: vocabulary file. AGQA's words if left out.
    add
        Images: keep those in the run and add these.
    settings
        Settings of a plugin's source by name.
    workers
        Number of processes.

    >>> questree.ingest("world", out="new").data()["splits"][0]
    {'split': 'train', 'videos': 9, 'frames': 270, 'objects': 1831, 'persons': 266, 'relations': 3691, 'actions': 64}
    """
    place = path_of(folder)
    name, own = source_of(source, place)
    more = dict(settings or {})
    strange = [each for each in more if each not in own.settings]
    known = ", ".join(own.settings) or "none"
    refuse([Fault("settings", f"expected a setting, got {each!r}; choose from {known}") for each in strange])
    refuse(at_least(1, {"workers": workers}))
    with writing(path_of(out), "ingest"):
        if own.medium == "images":
            return read_images(name, place, path_of(out), add, more, workers)
        more |= {"fps": fps} if own.rated else {}
        return read_videos(name, place, path_of(out), path_of(vocabulary) if vocabulary else None, more, workers)


def read_images(kind: str, folder: Path, out: Path, add: bool, more: Mapping[str, Any], workers: int) -> Made:
    """Of a source of images."""
    check_target(out)
    before = out if add and Run(out).images.is_dir() else None
    with scratch(out) as place:
        with processes(workers, tasks=workers if is_large(folder) else 1) as pool:
            found = read_image_parts(Sharing(pool, place), folder, image_tasks(kind, folder, more), before)
        with new_folder(Run(out).images) as work:
            found.save(work)
    note_left_out(Run(out).images, found.skipped)
    lock(Run(out), "images")
    said = [(f"image facts in {out / 'images'}", [found.counts]), odd(found.skipped)]
    return Made("ingest", said, {**found.counts, "skipped": dict(found.skipped)}, remarks(found.skipped))


def image_tasks(kind: str, folder: Path, more: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """What workers read: files that are shared out, or all of them."""
    share = SOURCES[kind].share
    if share is None:
        return {folder.name: (kind, None, folder, dict(more))}
    return {part.name: (kind, part, folder, {}) for part in share(folder)}


def odd(skipped: Mapping[str, int]) -> Said:
    """What was left out of raw files, or kept although it is odd."""
    return "left out or odd", [{"times": n, "what": what} for what, n in skipped.items()]


def remarks(skipped: Mapping[str, int]) -> list[str]:
    times = {what: "once" if n == 1 else f"{n:,} times" for what, n in skipped.items()}
    return [f"left out or odd: {what} ({often})" for what, often in times.items()]


def words_in(path: Path | None) -> tuple[str, Vocabulary]:
    """The vocabulary's text, which is copied into the run, and what it says."""
    if path is None:
        return default_text(), parse(default_text(), "agqa.toml")
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadInput.at(path, "not text in UTF-8") from error
    return text, parse(text, path)


def read_videos(
    kind: str, folder: Path, out: Path, vocabulary: Path | None, more: Mapping[str, Any], workers: int
) -> Made:
    """Of a source of videos."""
    text, words = words_in(vocabulary)
    check_target(out)
    with scratch(out) as place:
        with processes(workers, tasks=workers if is_large(folder) else 1) as pool:
            raw = shared_reading(Sharing(pool, place), kind, folder, words, more)
        splits = summary(raw.counts)
        every = splits[-1]
        if not every["videos"]:
            why = "".join(f"; {what}: {times:,}" for what, times in raw.skipped.items())
            raise BadInput.at(folder, f"no video found in these files{why}")
        if not any(every[what] for what in ("actions", "objects", "relations")):
            none = f"got none in {every['videos']:,} video{'s' * (every['videos'] != 1)}"
            raise BadInput.at(folder, f"expected annotated actions, objects or relations, {none}")
        write_run(out, text, raw.facts, raw.truth)
    note_left_out(Run(out).raw, raw.skipped)
    lock(Run(out), "raw", "truth")
    record: dict[str, Any] = {"run": str(out), "splits": splits, "skipped": dict(raw.skipped)}
    said: list[Any] = [(f"facts in {out / 'raw'}", splits), odd(raw.skipped)]
    said += [f"the truth beside it is in {out / 'truth'}"] if raw.truth else []
    return Made("ingest", said, record, remarks(raw.skipped))


def shared_reading(
    sharing: Sharing, kind: str, folder: Path, words: Vocabulary, more: Mapping[str, Any]
) -> PiecedReading:
    """Facts as pieces: of files that are shared out, or of all of them by one worker."""
    share = SOURCES[kind].share
    if share is None:
        return read_whole(sharing, kind, folder, words, more)
    found: PiecedReading = share(folder, words, sharing, **more)
    return found
