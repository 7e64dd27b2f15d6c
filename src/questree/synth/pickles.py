"""Pickle streams written piece by piece: dictionaries of any size, with repeated words stored once."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

START, END = b"\x80\x04", b"."
NONE, TRUE, FALSE = b"N", b"\x88", b"\x89"
_REMEMBER = b"\x940"  # into the memo, off the stack
_FLOAT4, _ORDER = "f4", "<"
_NUMPY = ("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")  # as in released files


def text(value: str) -> bytes:
    raw = value.encode()
    return b"\x8c" + bytes([len(raw)]) + raw if len(raw) < 256 else b"X" + struct.pack("<I", len(raw)) + raw


def integer(value: int) -> bytes:
    return b"K" + bytes([value]) if 0 <= value < 256 else b"J" + struct.pack("<i", value)


def number_tuples(values: NDArray[Any]) -> NDArray[Any]:
    """[..., number] -> [..., byte]: the last axis as a tuple of floats."""
    raw = values.astype(">f8")[..., None].view(np.uint8)  # [..., number, 8]
    coded = np.concatenate([np.full((*values.shape, 1), ord("G"), np.uint8), raw], -1)
    flat = coded.reshape(*values.shape[:-1], -1)
    edge = np.ones((*values.shape[:-1], 1), np.uint8)
    return np.concatenate([edge * ord("("), flat, edge * ord("t")], -1)


def several(parts: Iterable[bytes]) -> bytes:
    """A tuple."""
    return b"(" + b"".join(parts) + b"t"


def listing(parts: Iterable[bytes]) -> bytes:
    return b"](" + b"".join(parts) + b"e"


def items(parts: Iterable[bytes]) -> bytes:
    """Alternating keys and values, to be added to the dictionary before them."""
    return b"(" + b"".join(parts) + b"u"


def mapping(parts: Iterable[bytes]) -> bytes:
    return b"}" + items(parts)


class Memo:
    """Words, and what numpy arrays need, stored once at the head of the stream and referred to by two bytes."""

    def __init__(self, words: Sequence[str]):
        names = list(dict.fromkeys(words))
        if len(names) + len(_NUMPY) + 1 > 256:
            raise ValueError("a memo holds at most 252 words")
        globals_ = [text(module) + text(name) + b"\x93" for module, name in _NUMPY]
        self._at = {name: b"h" + bytes([place]) for place, name in enumerate(names)}
        reconstruct, ndarray, dtype = (b"h" + bytes([len(names) + k]) for k in range(3))
        state = several([integer(3), text(_ORDER), NONE, NONE, NONE, integer(-1), integer(-1), integer(0)])
        kind = dtype + text(_FLOAT4) + FALSE + TRUE + b"\x87R" + state + b"b"
        self._kind = b"h" + bytes([len(names) + 3])
        self._empty = reconstruct + ndarray + integer(0) + b"\x85" + b"C\x01b" + b"\x87R"
        self.head = START + b"".join(part + _REMEMBER for part in [*map(text, names), *globals_, kind])

    def __getitem__(self, word: str) -> bytes:
        return self._at[word]

    def array(self, shape: Sequence[int], data: bytes) -> bytes:
        """A numpy array of 32-bit floats in this order of bytes (little end first)."""
        size = b"C" + bytes([len(data)]) if len(data) < 256 else b"B" + struct.pack("<I", len(data))
        return self._empty + several([integer(1), several(map(integer, shape)), self._kind, FALSE, size + data]) + b"b"
