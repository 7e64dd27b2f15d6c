"""`questree ingest`: raw files of many kinds -> facts in a run folder, with a table of what was found."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.catalogue import SOURCES, settings_of
from questree.api.ingesting import read_images, read_videos
from questree.cli.clusters import clustered
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, tell_made, watching
from questree.faults import at_least, refuse

Out = Annotated[Path, Parameter(help="Run folder to write.")]
Add = Annotated[bool, Parameter(negative="", help="Keep the images in the run and add these.")]
Words = Annotated[Path | None, Parameter(help="Vocabulary file. [default: AGQA's words]")]
Rate = Annotated[float | None, Parameter(help="Frames per second of videos that frame_rates.csv does not name.")]
Settings = Annotated[list[str] | None, Parameter(negative="", help="Setting of a plugin's source as NAME=VALUE.")]


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a shipped source, by its name with _ for -: the command line names them without importing."""
    known = {each.replace("-", "_"): each for each in SOURCES}
    if name not in known:
        raise AttributeError(name)
    return command(known[name])


def command(name: str) -> Callable[..., None]:
    """A command with the options that such a source has."""
    source = SOURCES[name]

    def images(
        folder: Path, /, *, out: Out, add: Add = False, set: Settings = None, workers: WorkersOption = 2
    ) -> None:
        given = settings_of(source, set or ())
        refuse(at_least(1, {"workers": workers}))
        with watching():
            made = read_images(name, folder, out, add, given, workers)
        tell_made(made)

    def videos(
        folder: Path,
        /,
        *,
        out: Out,
        fps: Rate = None,
        vocabulary: Words = None,
        set: Settings = None,
        workers: WorkersOption = 2,
    ) -> None:
        given = {"fps": fps} if source.rated else settings_of(source, set or ())
        refuse(at_least(1, {"workers": workers}))
        with watching():
            made = read_videos(name, folder, out, vocabulary, given, workers)
        tell_made(made)

    made = images if source.medium == "images" else videos
    made.__annotations__["folder"], made.__doc__ = Annotated[Path, Parameter(help=source.takes)], source.says
    if not source.rated:
        made.__annotations__["fps"] = Annotated[float | None, Parameter(parse=False)]
    listed = "; ".join(f"{each} ({setting})" for each, setting in source.settings.items())
    told = Parameter(negative="", help=f"Setting as NAME=VALUE, repeatable: {listed}.")
    made.__annotations__["set"] = Annotated[list[str] | None, told if listed else Parameter(parse=False)]
    return output(clustered(made))
