"""Which video or image a picture is of: the same file, or one that looks the same though it was made smaller."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.models.known_prompts import Ids

SIDE = 16  # cells along a side of what is compared
FAR = 16.0  # mean difference of colours, 0 to 255, beyond which a picture is none of ours
CLOSE = 1.25, 0.5  # others this many times and this much further than the nearest may be meant, too
KEPT = 1 << 16  # pictures whose owners are remembered
Colours = NDArray[np.float32]


@dataclass
class SeenPictures:
    files: dict[bytes, Ids] = field(default_factory=dict)  # digest of a file -> whom it may be of
    looks: Colours = field(default_factory=lambda: np.zeros((0, SIDE * SIDE * 3), np.float32))  # [picture, colour]
    names: list[str] = field(default_factory=list)  # [picture]
    others: dict[bytes, Ids | None] = field(default_factory=dict)  # that were asked about

    @classmethod
    def of(cls, given: Iterable[tuple[str, Path]]) -> "SeenPictures":
        """(id of a video or an image, file)"""
        files, looks, names = dict[bytes, set[str]](), list[Colours](), list[str]()
        for id, path in given:
            content = path.read_bytes()
            files.setdefault(digest(content), set()).add(id)
            if (look := colours(content)) is not None:
                looks.append(look)
                names.append(id)
        every = np.array(looks, np.float32).reshape(len(looks), SIDE * SIDE * 3)
        return cls({name: frozenset(ids) for name, ids in files.items()}, every, names)

    def __bool__(self) -> bool:
        return bool(self.files)

    def owners(self, content: bytes) -> Ids | None:
        """Whom it may be of; None if nothing here looks like it."""
        name = digest(content)
        if name in self.files:
            return self.files[name]
        if name not in self.others:
            if len(self.others) >= KEPT:
                self.others.clear()
            self.others[name] = self.alike(content)
        return self.others[name]

    def alike(self, content: bytes) -> Ids | None:
        look = colours(content) if self.names else None
        if look is None:
            return None
        far = np.abs(self.looks - look).mean(axis=1)
        nearest = float(far.min())
        if nearest > FAR:
            return None
        times, more = CLOSE
        return frozenset(self.names[at] for at in np.flatnonzero(far <= times * nearest + more).tolist())


def digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def colours(content: bytes) -> Colours | None:
    """The mean colours of SIDE x SIDE cells; None if it is no picture, or nobody here can open one."""
    try:
        import skia
    except ImportError:
        return None
    image: Any = skia.Image.MakeFromEncoded(skia.Data.MakeWithCopy(content))
    if image is None or min(image.width(), image.height()) < SIDE:
        return None
    pixels = image.toarray(colorType=skia.kRGBA_8888_ColorType)[..., :3]
    rows, columns = (np.arange(SIDE) * size // SIDE for size in pixels.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(pixels, rows, axis=0, dtype=np.float32), columns, axis=1)
    high, wide = (
        np.diff(np.append(begin, size)) for begin, size in zip((rows, columns), pixels.shape[:2], strict=True)
    )
    return np.asarray(sums / (high[:, None, None] * wide[:, None]), np.float32).reshape(-1)
