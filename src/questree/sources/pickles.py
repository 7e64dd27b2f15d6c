"""Pickles of other people, read without running anything: plain containers, numbers, strings and arrays of numbers."""

import copyreg
import gc
import io
import math
import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.faults import BadInput
from questree.progress import report
from questree.tables.store import MORE_UNPACKED, USUAL_TIMES, unpack_times

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


BUFFER = 1 << 20  # bytes
FREE_MEMORY, PER_BYTE = 1 << 32, 128  # what any pickle may take, and each of its bytes: `}` makes a dictionary
UNFOLDED = 1 << 20  # items that any pickle may unfold to, whatever its size; larger ones to one for each byte
ALLOWED = "only plain containers, numbers, strings and arrays of numbers are read"


class Unfolding:
    """Counts what is taken out of a pickle: one that names a container again and again holds far more than bytes."""

    def __init__(self, path: Path):
        self.path = path
        self.most = self.left = max(path.stat().st_size * unpack_times() // USUAL_TIMES, UNFOLDED)

    def take(self, items: int) -> None:
        self.left -= items
        if self.left < 0:
            what = f"the containers it repeats unfold to more than {self.most:,} items"
            raise BadInput.at(self.path, f"refused: {what}; {MORE_UNPACKED}")


def read_pickle(path: Path) -> Any:
    """What the file holds; numpy arrays come as `Array`, numpy numbers as Python numbers."""
    # A code of the extension registry that was used before would come from this cache, past `find_class`.
    copyreg.clear_extension_cache()
    try:
        with collector_paused(), memory_bounded(path.stat().st_size), io.BufferedReader(_Watched(path), BUFFER) as file:
            return _Unpickler(file, encoding="latin1").load()
    except Refused as error:
        raise BadInput.at(path, f"refused: it holds {error}; {ALLOWED}") from error
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror})") from error
    except MemoryError as error:
        raise BadInput.at(path, "refused: it asks for far more memory than a file of its size needs") from error
    except Exception as error:  # a damaged pickle raises nearly anything
        message = str(error).replace("\n", " ")
        raise BadInput.at(path, f"not a pickle, cut short, or refused ({message}); {ALLOWED}") from error


@contextmanager
def collector_paused() -> Iterator[None]:
    """Millions of new containers would make the cyclic collector walk over all of them again and again."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@contextmanager
def memory_bounded(size: int) -> Iterator[None]:
    """A few bytes of a pickle can ask for gigabytes: let that fail, where the system can be told so."""
    try:
        import resource

        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = taken + FREE_MEMORY + size * PER_BYTE
    if soft == resource.RLIM_INFINITY or most < soft:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class _Watched(io.FileIO):
    """A file that tells the progress reporter how far it is read."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.label, self.size, self.done = f"reading {path.name}", path.stat().st_size, 0

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        self.done += count
        report(self.label, self.done, self.size)
        return count


class _Maker:
    """Stands for a callable named in a pickle; an object of ours, so that a pickle cannot change it either."""

    __slots__ = ("make", "name")

    def __init__(self, name: str, make: Callable[..., Any]):
        self.name, self.make = name, make

    def __call__(self, *args: Any) -> Any:
        try:
            return self.make(*args)
        except (TypeError, ValueError, OverflowError) as error:
            raise Refused(f"a call of {self.name} with unusual arguments") from error

    def __setstate__(self, state: Any) -> None:
        raise Refused(f"a change of {self.name}")


def _reconstruct(kind: Any, shape: Any, code: Any) -> Array:
    """The empty array whose contents follow; the arguments say nothing more in all numpy versions."""
    if kind is not NDARRAY:
        raise Refused("an array of an unusual class")
    return Array()


def _latin1(text: str, encoding: str) -> bytes:
    """How protocol 2 writes bytes."""
    if encoding != "latin1":
        raise Refused(f"bytes encoded as {encoding}")
    return text.encode("latin1")


def _no_bytes() -> bytes:
    return b""


def _byte_array(content: bytes = b"") -> bytes:
    if not isinstance(content, bytes):  # a number would ask for that much memory
        raise Refused("a byte array that is not made of bytes")
    return content


def _dictionary(*args: Any) -> dict[Any, Any]:
    """Ordered and default dictionaries become plain ones; a default dictionary names the kind of its values."""
    pairs = [value for value in args if not isinstance(value, _Maker)]
    return dict(*pairs)


def _nothing() -> None:
    """Kinds of values of default dictionaries; they are named, never called."""


NDARRAY = _Maker("numpy.ndarray", _nothing)
BUILTINS: dict[str, Callable[..., Any]] = {"set": set, "frozenset": frozenset, "bytes": _no_bytes}
BUILTINS |= {"bytearray": _byte_array} | dict.fromkeys(
    ("list", "dict", "int", "float", "str", "tuple", "bool"), _nothing
)
MAKERS: dict[tuple[str, str], _Maker] = {
    ("numpy", "ndarray"): NDARRAY,
    ("numpy", "dtype"): _Maker("numpy.dtype", Dtype),
}
for _module in ("builtins", "__builtin__"):
    MAKERS |= {(_module, name): _Maker(name, make) for name, make in BUILTINS.items()}
for _name in ("OrderedDict", "defaultdict"):
    MAKERS["collections", _name] = _Maker(_name, _dictionary)
for _core in ("numpy.core", "numpy._core"):  # numpy 1, numpy 2
    MAKERS[f"{_core}.multiarray", "_reconstruct"] = _Maker("numpy's _reconstruct", _reconstruct)
    MAKERS[f"{_core}.multiarray", "scalar"] = _Maker("numpy's scalar", scalar)
    MAKERS[f"{_core}.numeric", "_frombuffer"] = _Maker("numpy's _frombuffer", Array.from_buffer)
MAKERS["_codecs", "encode"] = _Maker("encode", _latin1)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        maker = MAKERS.get((module, name))
        if maker is None:
            raise Refused(f"{module}.{name}")
        return maker

    def persistent_load(self, key: Any) -> Any:
        raise Refused("a reference to something outside the file")
