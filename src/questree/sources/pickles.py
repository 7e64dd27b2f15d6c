"""Pickles of other people, read without running anything: plain containers, numbers, strings and arrays of numbers."""

import copyreg
import gc
import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from questree.faults import BadInput
from questree.progress import report
from questree.sources.pickled_arrays import Array, Dtype, Refused, scalar

BUFFER = 1 << 20  # bytes
FREE_MEMORY, PER_BYTE = 1 << 32, 128  # what any pickle may take, and each of its bytes: `}` makes a dictionary
ALLOWED = "only plain containers, numbers, strings and arrays of numbers are read"


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
