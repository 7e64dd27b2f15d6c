"""Pictures as requests carry them: made smaller, encoded once, with parts painted grey where they are to be hidden."""

import asyncio
import io
from base64 import b64encode
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from questree.ask.films import SUFFIXES as FILMS
from questree.ask.films import film_size, frame_at, is_film
from questree.faults import BadInput
from questree.show.frames import SUFFIXES
from questree.show.tags import Box

ROOM = 1 << 28  # bytes of encoded pictures that are kept
MANY = 1 << 16  # files that are remembered
GUESS = (1024, 1024)
GREY = (128, 128, 128)


@dataclass(frozen=True)
class Shot:
    """A file that is shown; of a picture some boxes may be hidden, others stay visible in any case.

    With seconds a video file stands for its frame then, without for itself.
    """

    path: Path
    number: int = 0  # of the frame, or the place in a set of images
    seconds: float | None = None
    hidden: tuple[Box, ...] = ()
    kept: tuple[Box, ...] = ()
    size: tuple[int, int] | None = None  # in which boxes are given


@dataclass(frozen=True)
class Encoding:
    size: int = 512  # the longer side has at most so many pixels; 0: files are sent as they are
    quality: int = 85  # of JPEG


class Pictures:
    """Parts of messages by shot: the questions about a video share them."""

    def __init__(self, how: Encoding):
        self.how, self.taken = how, 0
        self.ready = OrderedDict[Shot, bytes]()
        self.making = dict[Shot, asyncio.Future[bytes]]()
        self.file_digest, self.file_size = lru_cache(MANY)(file_digest), lru_cache(MANY)(file_size)

    def digest(self, shot: Shot) -> bytes:
        """Of what is sent, without making it."""
        more = [self.how.size, self.how.quality, shot.hidden, shot.kept, shot.size if shot.hidden else None]
        more += [shot.seconds] if is_film(shot.path) else []
        return self.file_digest(shot.path) + msgspec.json.encode(more)

    async def part(self, shot: Shot) -> bytes:
        """As JSON."""
        if (found := self.ready.get(shot)) is not None:
            self.ready.move_to_end(shot)
            return found
        if shot in self.making:
            return await self.making[shot]
        self.making[shot] = asyncio.get_running_loop().create_future()
        try:
            made = await asyncio.to_thread(encoded, shot, self.how)
        except BaseException as error:
            self.making.pop(shot).set_exception(error)
            raise
        self._keep(shot, made)
        self.making.pop(shot).set_result(made)
        return made

    def size(self, shot: Shot) -> tuple[int, int]:
        """Width and height of what is sent; of a video a guess."""
        if is_film(shot.path) and shot.seconds is None:
            return GUESS
        return self.file_size(shot.path, self.how.size)

    def _keep(self, shot: Shot, made: bytes) -> None:
        self.ready[shot] = made
        self.taken += len(made)
        while self.taken > ROOM:
            self.taken -= len(self.ready.popitem(last=False)[1])


def file_digest(path: Path) -> bytes:
    with opened(path) as file:
        digest = blake2b(digest_size=16)
        while some := file.read(1 << 20):
            digest.update(some)
    return digest.digest()


def opened(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror})") from error


def encoded(shot: Shot, how: Encoding) -> bytes:
    """A part of a message."""
    if is_film(shot.path):
        if shot.seconds is None:
            return _part("video_url", FILMS[shot.path.suffix.lower()], shot.path.read_bytes())
    elif not how.size and not shot.hidden:
        return _part("image_url", SUFFIXES[shot.path.suffix.lower()], shot.path.read_bytes())
    return _part("image_url", "image/jpeg", jpeg(shot, how))


def _part(name: str, kind: str, data: bytes) -> bytes:
    return b'{"type":"%s","%s":{"url":"data:%s;base64,%s"}}' % (
        name.encode(),
        name.encode(),
        kind.encode(),
        b64encode(data),
    )


def jpeg(shot: Shot, how: Encoding) -> bytes:
    image = hidden(opened_picture(shot, how.size), shot)
    if how.size:
        image.thumbnail((how.size, how.size))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=how.quality)
    return out.getvalue()


def opened_picture(shot: Shot, most: int) -> Any:
    """As Pillow has it; no larger than needed for so many pixels, 0 for all."""
    image_of = pillow()
    if shot.seconds is not None and is_film(shot.path):
        return frame_at(shot.path, shot.seconds)
    try:
        with image_of.open(shot.path) as file:
            if most:
                file.draft("RGB", (most, most))  # a JPEG is decoded no larger than needed
            return file.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise BadInput.at(shot.path, f"expected a picture, got what cannot be read as one ({error})") from error


def hidden(image: Any, shot: Shot) -> Any:
    """With boxes painted grey, but for what is to be seen in any case."""
    if not shot.hidden:
        return image
    whole, (width, height) = image.copy(), shot.size or image.size
    by = image.width / width, image.height / height
    for box in shot.hidden:
        image.paste(GREY, _pixels(box, by))
    for box in shot.kept:
        at = _pixels(box, by)
        image.paste(whole.crop(at), at)
    return image


def _pixels(box: Box, by: tuple[float, float]) -> tuple[int, int, int, int]:
    x1, y1, x2, y2 = (round(value * by[at % 2]) for at, value in enumerate(box))
    return x1, y1, max(x2, x1 + 1), max(y2, y1 + 1)


def pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        wanted = "expected the package pillow, got none installed; run `pip install 'questree[ask]'`"
        raise BadInput.at("--media", wanted) from None
    return Image


def file_size(path: Path, most: int) -> tuple[int, int]:
    width, height = film_size(path) if is_film(path) else _picture_size(path)
    scale = min(1.0, most / max(width, height)) if most else 1.0
    return max(1, round(width * scale)), max(1, round(height * scale))


def _picture_size(path: Path) -> tuple[int, int]:
    try:
        with pillow().open(path) as file:
            width, height = file.size
            return width, height
    except (OSError, ValueError, SyntaxError) as error:
        raise BadInput.at(path, f"expected a picture, got what cannot be read as one ({error})") from error
