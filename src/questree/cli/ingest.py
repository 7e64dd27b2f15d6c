"""`questree ingest`: raw files of many kinds -> facts in a run folder, with a table of what was found."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.faults import BadInput
from questree.sources.action_genome import read_action_genome
from questree.sources.agqa import read_agqa
from questree.sources.assemble import Reading
from questree.sources.own_json import read_own_json
from questree.sources.runs import check_target, summary, write_run
from questree.sources.star import read_star
from questree.tables.facts import Facts
from questree.tables.images import Images
from questree.tables.lock import lock
from questree.tables.run import Run
from questree.vocabulary.load import default_text, parse
from questree.vocabulary.words import Vocabulary

Source = Annotated[Path, Parameter(help="Folder with the raw files.")]
Out = Annotated[Path, Parameter(name="--out", help="Run folder to write.")]
Add = Annotated[bool, Parameter(name="--add", negative="", help="Keep the images that are in the run; add these.")]
Words = Annotated[Path | None, Parameter(name="--vocabulary", help="Vocabulary file; AGQA's words without it.")]
Rate = Annotated[
    float | None, Parameter(name="--fps", help="Frames per second of videos that frame_rates.csv does not name.")
]


def action_genome(
    folder: Source, /, *, out: Out, fps: Rate = None, vocabulary: Words = None, quiet: Quiet = False, json: Json = None
) -> None:
    """Action Genome pickles and Charades CSV files; a folder `truth` with the same files becomes RUN/truth."""
    text, words = _words(vocabulary)

    def read() -> tuple[Reading, Reading | None]:
        raw = read_action_genome(folder, words, fps)
        return raw, _truth(folder, raw.facts, words, fps)

    _ingest(folder, out, text, words, read, quiet, json)


def agqa(folder: Source, /, *, out: Out, vocabulary: Words = None, quiet: Quiet = False, json: Json = None) -> None:
    """AGQA's released scene graphs: AGQA_train_stsgs.pkl, AGQA_test_stsgs.pkl."""
    text, words = _words(vocabulary)
    _ingest(folder, out, text, words, lambda: (read_agqa(folder, words), None), quiet, json)


def star(
    folder: Source, /, *, out: Out, fps: Rate = None, vocabulary: Words = None, quiet: Quiet = False, json: Json = None
) -> None:
    """STAR questions with situations: STAR_train.json, STAR_val.json, STAR_test.json."""
    text, words = _words(vocabulary)
    _ingest(folder, out, text, words, lambda: (read_star(folder, words, fps), None), quiet, json)


def gqa(folder: Source, /, *, out: Out, add: Add = False, quiet: Quiet = False, json: Json = None) -> None:
    """GQA or Visual Genome scene graphs: image facts."""
    from questree.sources.gqa import read_files, scene_graph_files

    _ingest_images(lambda: (read_files(scene_graph_files(folder)), {}), folder, out, add, quiet, json)


def imsitu(folder: Source, /, *, out: Out, add: Add = False, quiet: Quiet = False, json: Json = None) -> None:
    """imSitu: imsitu_space.json, and train.json, dev.json, test.json: image facts."""
    from questree.sources.imsitu import read_imsitu

    _ingest_images(lambda: read_imsitu(folder), folder, out, add, quiet, json)


def images(
    source: Annotated[Path, Parameter(help="A JSON file, or a folder of them.")],
    /,
    *,
    out: Out,
    add: Add = False,
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Your own images, in the form docs/images.md describes."""
    from questree.sources.own_images import read_own_images

    _ingest_images(lambda: (read_own_images(source), {}), source, out, add, quiet, json)


def _ingest_images(
    read: Callable[[], tuple[Images, Mapping[str, int]]],
    source: Path,
    out: Path,
    add: bool,
    quiet: bool,
    json: Path | None,
) -> None:
    from questree.sources.image_runs import write_image_run

    check_target(out)
    with watching(quiet):
        found, skipped = read()
        counts = write_image_run(found, source, out, add)
    print_table(f"image facts in {out / 'images'}", [counts], quiet)
    print_table("left out or odd", [{"times": n, "what": what} for what, n in skipped.items()], quiet)
    write_json(json, counts | {"skipped": dict(skipped)})


def json(
    source: Annotated[Path, Parameter(help="A JSON file, or a folder of them.")],
    /,
    *,
    out: Out,
    vocabulary: Words = None,
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Your own videos, in the form docs/ingest.md describes."""
    text, words = _words(vocabulary)
    _ingest(source, out, text, words, lambda: (read_own_json(source, words), None), quiet, json)


def _words(path: Path | None) -> tuple[str, Vocabulary]:
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


def _truth(folder: Path, raw: Facts, words: Vocabulary, fps: float | None) -> Reading | None:
    """The clean facts of a made-up world, about the same videos and frames."""
    inside = folder / "truth"
    if not inside.is_dir():
        return None
    truth = read_action_genome(inside, words, fps, rates_in=folder)
    for table in ("videos", "frames"):
        if not getattr(truth.facts, table).equals(getattr(raw, table)):
            raise BadInput.at(inside, f"its {table} are not those of {folder}; the truth is about the same ones")
    return truth


def _ingest(
    source: Path,
    out: Path,
    text: str,
    words: Vocabulary,
    read: Callable[[], tuple[Reading, Reading | None]],
    quiet: bool,
    json: Path | None,
) -> None:
    check_target(out)
    with watching(quiet):
        raw, truth = read()
        if raw.facts.videos.is_empty():
            why = "".join(f"; {what}: {times:,}" for what, times in raw.skipped.items())
            raise BadInput.at(source, f"no video found in these files{why}")
        write_run(out, text, raw.facts, truth.facts if truth else None)
        lock(Run(out), "raw", "truth")
    result: dict[str, Any] = {"run": str(out), "splits": summary(raw.facts, words), "skipped": dict(raw.skipped)}
    print_table(f"facts in {out / 'raw'}", result["splits"], quiet)
    print_table("left out or odd", [{"times": n, "what": what} for what, n in raw.skipped.items()], quiet)
    if truth:
        say(f"the truth beside it is in {out / 'truth'}", quiet)
    write_json(json, result)
