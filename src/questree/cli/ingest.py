"""`questree ingest`: raw files of many kinds -> facts in a run folder, with a table of what was found."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.catalogue import SOURCES, Source, settings_of
from questree.api.ingesting import read_images, read_videos
from questree.cli.terminal import output, tell_made, watching

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
        given = settings_of(source, set or ())
        with watching():
            made = read_images(source, folder, out, add, given)
        tell_made(made)

    @output
    def videos(folder: Path, /, *, out: Out, fps: Rate = None, vocabulary: Words = None, set: Settings = None) -> None:
        given = {"fps": fps} if source.rated else settings_of(source, set or ())
        with watching():
            made = read_videos(source, folder, out, vocabulary, given)
        tell_made(made)

    made = images if source.medium == "images" else videos
    made.__annotations__["folder"], made.__doc__ = Annotated[Path, Parameter(help=source.takes)], source.says
    if not source.rated:
        made.__annotations__["fps"] = Annotated[float | None, Parameter(parse=False)]
    listed = "; ".join(f"{name} ({setting})" for name, setting in source.settings.items())
    told = Parameter(negative="", help=f"Setting as NAME=VALUE, repeatable: {listed}.")
    made.__annotations__["set"] = Annotated[list[str] | None, told if listed else Parameter(parse=False)]
    return made
