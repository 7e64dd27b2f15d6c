"""Arrays and numbers of numpy as pickles spell them, checked and kept as bytes: numpy itself never sees a pickle."""

import math
import pickle
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1 << 40  # bytes an array may claim, also with a side of zero
NUMBERS = re.compile(r"b1|[iu][1248]|f[248]|[SU][1-9]\d{0,6}")  # type codes of plain elements


class Refused(pickle.UnpicklingError):
    """Something in a pickle that we do not read."""


class Dtype:
    """The type of an array's elements. numpy's own would take a state from the pickle that breaks its memory."""

    __slots__ = ("code", "itemsize", "order")

    def __init__(self, code: Any, align: Any = False, copy: Any = True):
        if not isinstance(code, str) or not NUMBERS.fullmatch(code):
            raise Refused(f"an array of {'objects' if code == 'O8' else f'elements {code!r}'}")
        self.code, self.order = code, "="
        self.itemsize = np.dtype(code).itemsize

    def __setstate__(self, state: Any) -> None:
        """(version, byte order, sub-array, names, fields, ...)"""
        if not isinstance(state, tuple) or len(state) < 5 or state[2:5] != (None, None, None):
            raise Refused("an array of records")
        if state[1] not in ("<", ">", "|", "="):
            raise Refused(f"an array of unknown byte order {state[1]!r}")
        self.order = state[1]

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype(self.order + self.code)


BYTES = Dtype("u1")


class Array:
    """Shape, element type and bytes of an array; `numpy.asarray` makes it one."""

    __slots__ = ("axes", "data", "dtype", "order", "shape")

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = (0,)
        self.dtype, self.order = BYTES, "C"
        self.data: bytes | bytearray = b""
        self.axes: tuple[int, ...] | None = None

    def __setstate__(self, state: Any) -> None:
        """(version, shape, element type, column order, bytes)"""
        if not isinstance(state, tuple) or len(state) != 5:
            raise Refused("an array in a form that numpy does not write")
        _, shape, dtype, columns, data = state
        self._fill(shape, dtype, data.encode("latin1") if isinstance(data, str) else data, "F" if columns else "C")

    @classmethod
    def from_buffer(cls, data: Any, dtype: Any, shape: Any, order: Any, axes: Any = None) -> "Array":
        """How protocol 5 writes arrays."""
        if order == "K" and _counts(axes) and _counts(shape) and sorted(axes) == list(range(len(shape))):
            order = "C"
        elif order not in ("C", "F") or axes is not None:
            raise Refused("an array in an unusual order")
        array = cls()
        array._fill(shape, dtype, data, order)
        array.axes = axes
        return array

    def _fill(self, shape: Any, dtype: Any, data: Any, order: str) -> None:
        if not isinstance(dtype, Dtype) or not isinstance(data, bytes | bytearray) or not _counts(shape):
            raise Refused("an array in a form that numpy does not write")
        claimed = math.prod(max(side, 1) for side in shape) * dtype.itemsize
        if len(data) != math.prod(shape) * dtype.itemsize or claimed > LARGEST or len(shape) > 32:
            raise Refused(f"an array of shape {shape} with {len(data)} bytes")
        self.shape, self.dtype, self.data, self.order = shape, dtype, data, order

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        kind = self.dtype.numpy
        flat = np.frombuffer(self.data, kind) if self.data else np.zeros(0, kind)
        array = flat.reshape(self.shape, order="F" if self.order == "F" else "C")
        array = array if self.axes is None else array.transpose(self.axes)
        return array.copy() if dtype is None else array.astype(dtype)

    def __len__(self) -> int:
        return len(np.asarray(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self).tolist())


def scalar(dtype: Any, data: Any) -> Any:
    """A number of numpy as a Python number."""
    if not isinstance(dtype, Dtype) or not isinstance(data, bytes | str):
        raise Refused("a number in a form that numpy does not write")
    raw = data.encode("latin1") if isinstance(data, str) else data
    if len(raw) != dtype.itemsize:
        raise Refused(f"a number of type {dtype.code} with {len(raw)} bytes")
    return np.frombuffer(raw, dtype.numpy)[0].item()


def flattened(arrays: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """All numbers of many small arrays one after the other, and how many each holds. # [number], [array]"""
    plain = [each if isinstance(each, Array) else None for each in arrays]
    kinds = {(each.dtype.code, each.dtype.order) if each is not None else None for each in plain}
    if len(kinds) == 1 and None not in kinds:  # one file, one element type: no array needs to be made
        whole = [each for each in plain if each is not None]
        if all(each.order == "C" and each.axes is None for each in whole):
            numbers = np.frombuffer(b"".join([each.data for each in whole]), whole[0].dtype.numpy)
            sizes = np.array([len(each.data) for each in whole], np.int64) // whole[0].dtype.itemsize
            return numbers.astype(np.float64), sizes
    ready = [np.asarray([] if each is None else each, np.float64).ravel() for each in arrays]
    return np.concatenate([*ready, np.zeros(0)]), np.array([len(each) for each in ready], np.int64)


def _counts(values: Any) -> bool:
    return isinstance(values, tuple) and all(type(value) is int and value >= 0 for value in values)
