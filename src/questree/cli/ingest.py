"""`questree ingest`: raw files of many kinds -> facts in a run folder, with a table of what was found."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput, Fault, refuse
from questree.sources.catalogue import SOURCES, Source
from questree.sources.runs import check_target, note_left_out, summary, write_image_run, write_run
from questree.tables.lock import lock
from questree.tables.run import Run
from questree.vocabulary.load import default_text, parse
from questree.vocabulary.words import Vocabulary

Out = Annotated[Path, Parameter(help="Run folder to write.")]
Add = Annotated[bool, Parameter(negative="", help="Keep the images in the run and add these.")]
Words = Annotated[Path | None, Parameter(help="Vocabulary file. [default: AGQA's words]")]
Rate = Annotated[float | None, Parameter(help="Frames per second of videos that frame_rates.csv does not name.")]
Settings = Annotated[list[str] | None, Parameter(negative="", help="Setting of a plugin's source as NAME=VALUE.")]


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a shipped source, by its name with _ for -: the command line names them without importing."""
    known = {each.replace("-", "_"): source for each, source in SOURCES.items()}
    if name not in known:
        raise AttributeError(name)
    return command(known[name])


def command(source: Source) -> Callable[..., None]:
    """A command with the options that such a source has."""

    @output
    def images(folder: Path, /, *, out: Out, add: Add = False, set: Settings = None) -> None:
        _ingest_images(source, folder, out, add, settings(source, set or []))

    @output
    def videos(folder: Path, /, *, out: Out, fps: Rate = None, vocabulary: Words = None, set: Settings = None) -> None:
        _ingest(source, folder, out, vocabulary, {"fps": fps} if source.rated else settings(source, set or []))

    made = images if source.medium == "images" else videos
    made.__annotations__["folder"], made.__doc__ = Annotated[Path, Parameter(help=source.takes)], source.says
    if not source.rated:
        made.__annotations__["fps"] = Annotated[float | None, Parameter(parse=False)]
    listed = "; ".join(f"{name} ({setting})" for name, setting in source.settings.items())
    told = Parameter(negative="", help=f"Setting as NAME=VALUE, repeatable: {listed}.")
    made.__annotations__["set"] = Annotated[list[str] | None, told if listed else Parameter(parse=False)]
    return made


def settings(source: Source, given: Iterable[str]) -> dict[str, Any]:
    """What --set says, as the values the reader takes; all faults at once."""
    found, faults = dict[str, Any](), list[Fault]()
    known = ", ".join(source.settings)
    for each in given:
        name, sign, value = each.partition("=")
        setting = source.settings.get(name)
        if setting is None or not sign:
            wanted = "a setting" if setting is None else "NAME=VALUE"
            got = f"got {name!r}; choose from {known}" if known else f"got {name!r}; this source has none"
            faults.append(Fault("--set", f"expected {wanted}, {got}"))
            continue
        if name in found:
            faults.append(Fault(f"--set {name}", f"expected one value, got {value!r}, too"))
        try:
            found[name] = msgspec.convert(value, setting.kind, strict=False)
        except msgspec.ValidationError:
            found[name] = None
            faults.append(Fault(f"--set {name}", f"expected {setting.kind.__name__}, got {value!r}"))
    refuse(faults)
    return found


def _ingest_images(source: Source, folder: Path, out: Path, add: bool, more: dict[str, Any]) -> None:
    check_target(out)
    with watching():
        found = source.read(folder, **more)
        images, skipped = found if isinstance(found, tuple) else (found, {})
        counts = write_image_run(images, folder, out, add)
        note_left_out(Run(out).images, skipped)
        lock(Run(out), "images")
    print_table(f"image facts in {out / 'images'}", [counts])
    print_table("left out or odd", [{"times": n, "what": what} for what, n in skipped.items()])
    write_json(counts | {"skipped": dict(skipped)})


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


def _ingest(source: Source, folder: Path, out: Path, vocabulary: Path | None, more: dict[str, Any]) -> None:
    text, words = _words(vocabulary)
    check_target(out)
    with watching():
        raw = source.read(folder, words, **more)
        if raw.facts.videos.is_empty():
            why = "".join(f"; {what}: {times:,}" for what, times in raw.skipped.items())
            raise BadInput.at(folder, f"no video found in these files{why}")
        if all(table.is_empty() for table in (raw.facts.actions, raw.facts.objects, raw.facts.tracks)):
            none = f"got none in {len(raw.facts.videos):,} video{'s' * (len(raw.facts.videos) > 1)}"
            raise BadInput.at(folder, f"expected annotated actions, objects or relations, {none}")
        write_run(out, text, raw.facts, raw.truth)
        note_left_out(Run(out).raw, raw.skipped)
        lock(Run(out), "raw", "truth")
    result: dict[str, Any] = {"run": str(out), "splits": summary(raw.facts, words), "skipped": dict(raw.skipped)}
    print_table(f"facts in {out / 'raw'}", result["splits"])
    print_table("left out or odd", [{"times": n, "what": what} for what, n in raw.skipped.items()])
    if raw.truth:
        say(f"the truth beside it is in {out / 'truth'}")
    write_json(result)
