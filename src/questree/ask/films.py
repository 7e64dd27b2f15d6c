"""Single frames of video files, by the second."""

from os import fspath
from pathlib import Path
from typing import Any

from questree.faults import BadInput

SUFFIXES = {".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime"}


def film_of(folder: Path, video: str) -> Path | None:
    """DIR/<video>.mp4 or alike; nothing outside of the folder."""
    paths = (folder / f"{video}{suffix}" for suffix in SUFFIXES)
    return next((path for path in paths if path.is_file() and path.resolve().is_relative_to(folder.resolve())), None)


def is_film(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES


def frame_at(path: Path, seconds: float) -> Any:
    """What is seen then, as a picture of Pillow; after the end the last frame."""
    av = _library()
    try:
        with av.open(fspath(path)) as file:
            stream = file.streams.video[0]
            file.seek(int(seconds * av.time_base), backward=True)
            found = None
            for frame in file.decode(stream):
                if found is not None and frame.time is not None and frame.time > seconds:
                    break
                found = frame
            if found is None:
                raise BadInput.at(path, "expected a film, got one without frames")
            return found.to_image()
    except (av.FFmpegError, IndexError, OSError) as error:
        raise BadInput.at(path, f"expected a film, got what cannot be read as one ({error})") from error


def film_size(path: Path) -> tuple[int, int]:
    av = _library()
    try:
        with av.open(fspath(path)) as file:
            stream = file.streams.video[0]
            return int(stream.width), int(stream.height)
    except (av.FFmpegError, IndexError, OSError) as error:
        raise BadInput.at(path, f"expected a film, got what cannot be read as one ({error})") from error


def _library() -> Any:
    try:
        import av
    except ModuleNotFoundError:
        wanted = "expected the package av to take frames from films, got none; run `pip install 'questree[draw]'`"
        raise BadInput.at("--media", wanted) from None
    return av
