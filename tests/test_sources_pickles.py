"""Pickles of others are read without running anything of them."""

import builtins
import collections
import copyreg
import importlib
import io
import os
import pickle
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from questree.faults import BadInput
from questree.sources.pickles import Array, flattened, read_pickle

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "given.pkl"
    path.write_bytes(content)
    return path


def refusal(tmp_path: Path, content: bytes) -> str:
    """The one line with which this content is refused."""
    with pytest.raises(BadInput) as caught:
        read_pickle(written(tmp_path, content))
    (fault,) = caught.value.faults
    assert "\n" not in str(fault)
    assert fault.place.endswith("given.pkl")
    return fault.message


class Call:
    """Pickles as a call of anything."""

    def __init__(self, function: Any, *args: Any, state: Any = None):
        self.call = (function, args, state)

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plain_values_come_back_as_they_were(tmp_path: Path, protocol: int) -> None:
    value = {"a": [1, 2.5, None, True, "é", b"\xff", b""], (1, 2): {3, 4}, "f": frozenset({5}), "big": 1 << 80}
    assert read_pickle(written(tmp_path, pickle.dumps(value, protocol))) == value


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_ordered_and_default_dictionaries_become_plain_ones(tmp_path: Path, protocol: int) -> None:
    value = [collections.OrderedDict(a=1), collections.defaultdict(list, {1: [2]}), bytearray(b"x")]
    found = read_pickle(written(tmp_path, pickle.dumps(value, protocol)))
    assert found == [{"a": 1}, {1: [2]}, b"x"]
    assert [type(each) for each in found] == [dict, dict, bytes if protocol < 5 else bytearray]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
        np.zeros((0, 4), np.float32),
        np.arange(3, dtype=">i4"),
        np.array([True, False]),
        np.array(["ab", "c"]),
        np.array(5),
    ],
    ids=["rows", "columns", "turned", "empty", "big-endian", "bool", "text", "single"],
)
def test_arrays_come_back_as_they_were(tmp_path: Path, protocol: int, array: np.ndarray[Any, Any]) -> None:
    found = read_pickle(written(tmp_path, pickle.dumps(array, protocol)))
    assert isinstance(found, Array)
    assert np.asarray(found).dtype == array.dtype
    assert np.asarray(found).tolist() == array.tolist()
    assert np.asarray(found).shape == array.shape


def test_arrays_of_numpy_1_are_read(tmp_path: Path) -> None:
    content = pickle.dumps([np.float32(1.5), np.arange(3)], 2).replace(b"numpy._core", b"numpy.core")
    number, array = read_pickle(written(tmp_path, content))
    assert number == 1.5
    assert isinstance(number, float)
    assert list(array) == [0, 1, 2]


def test_cyclic_links_are_read(tmp_path: Path) -> None:
    vertex: dict[str, Any] = {"id": "o4/000105"}
    vertex["next"] = vertex
    found = read_pickle(written(tmp_path, pickle.dumps(vertex)))
    assert found["next"] is found


@pytest.mark.parametrize(
    "function",
    [os.system, os.popen, subprocess.check_output, subprocess.Popen],
    ids=["system", "popen", "check_output", "Popen"],
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_that_starts_a_program_does_not_start_it(tmp_path: Path, protocol: int, function: Any) -> None:
    mark = tmp_path / "mark"
    message = refusal(tmp_path, pickle.dumps({"frames": [Call(function, f"touch {mark}")]}, protocol))
    assert message.startswith("refused: it holds ")
    assert function.__name__ in message
    assert not mark.exists()


@pytest.mark.parametrize(
    "function",
    [eval, exec, getattr, setattr, compile, open, print, builtins.__import__, type, object, map, zip, range, slice],
    ids=lambda function: function.__name__,
)
def test_built_in_functions_are_refused(tmp_path: Path, function: Any) -> None:
    message = refusal(tmp_path, pickle.dumps(Call(function, "1", "2", "3")))
    assert f".{function.__name__}; only" in message


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (copyreg._reconstructor, "copyreg._reconstructor"),  # type: ignore[attr-defined]
        (importlib.import_module, "importlib.import_module"),
        (np.load, "numpy.load"),
        (np.fromfile, "fromfile"),
        (np.memmap, "numpy.memmap"),
        (np.frombuffer, "frombuffer"),
        (np.zeros, "zeros"),
        (np.vectorize, "numpy.vectorize"),
        (io.FileIO, "_io.FileIO"),
        (Path, "pathlib"),
        (pickle.loads, "_pickle.loads"),
        (collections.Counter, "collections.Counter"),
        (collections.deque, "collections.deque"),
    ],
)
def test_every_other_callable_is_refused(tmp_path: Path, function: Any, name: str) -> None:
    assert name in refusal(tmp_path, pickle.dumps(Call(function, "x", "y", None)))


def test_a_dotted_name_does_not_reach_through_an_allowed_one(tmp_path: Path) -> None:
    for module, name in (
        ("numpy", "dtype.type"),
        ("collections", "OrderedDict.fromkeys"),
        ("builtins", "set.__class__"),
    ):
        stack_global = b"\x80\x04" + b"".join(b"\x8c" + bytes([len(x)]) + x.encode() for x in (module, name)) + b"\x93."
        assert f"refused: it holds {module}.{name}" in refusal(tmp_path, stack_global)


def test_an_allowed_callable_cannot_be_changed(tmp_path: Path) -> None:
    before = pickle.dumps({1, 2}, 2)
    for state in (b"}X\x04\x00\x00\x00makeK\x01s", b"N}X\x04\x00\x00\x00makeK\x01s\x86"):  # attributes, slots
        assert "a change of set" in refusal(tmp_path, b"\x80\x02cbuiltins\nset\n" + state + b"b.")
    assert read_pickle(written(tmp_path, before)) == {1, 2}


def test_an_allowed_callable_is_no_class_to_make_objects_of(tmp_path: Path) -> None:
    for name in (b"builtins\nset\n", b"numpy\nndarray\n", b"numpy\ndtype\n", b"collections\nOrderedDict\n"):
        refusal(tmp_path, b"\x80\x02c" + name + b")\x81.")  # NEWOBJ


def test_default_dictionaries_cannot_call_their_kind(tmp_path: Path) -> None:
    content = pickle.dumps(collections.defaultdict(list), 2)
    assert read_pickle(written(tmp_path, content)) == {}
    assert "unusual arguments" in refusal(tmp_path, b"\x80\x02cbuiltins\nlist\n]\x85R.")


def test_arrays_of_objects_are_refused(tmp_path: Path) -> None:
    for protocol in PROTOCOLS:
        assert "objects" in refusal(tmp_path, pickle.dumps(np.array([{}, None], object), protocol))


def test_arrays_of_records_and_of_dates_are_refused(tmp_path: Path) -> None:
    refusal(tmp_path, pickle.dumps(np.zeros(2, [("a", "i4"), ("b", "f8")])))
    refusal(tmp_path, pickle.dumps(np.zeros(2, "M8[s]")))


def test_an_element_type_with_a_doctored_state_is_refused(tmp_path: Path) -> None:
    good = (3, "<", None, None, None, -1, -1, 0)
    for state in ((3, "<", ("i4", 2), None, None, -1, -1, 0), (3, "?", *good[2:]), (3,), {"names": 1}):
        refusal(tmp_path, pickle.dumps(Call(np.dtype, "f8", False, True, state=state)))


def test_an_array_needs_the_bytes_of_its_shape(tmp_path: Path) -> None:
    reconstruct = np.zeros(1).__reduce__()[0]
    for shape, data in (((3,), b"x"), ((1 << 62,), b""), ((-1,), b""), ((0, 1 << 61), b""), ("ab", b"")):
        state = (1, shape, np.dtype("f8"), False, data)
        refusal(tmp_path, pickle.dumps(Call(reconstruct, np.ndarray, (0,), b"b", state=state)))


def test_an_array_of_another_class_is_refused(tmp_path: Path) -> None:
    reconstruct = np.zeros(1).__reduce__()[0]
    assert "numpy.matrix" in refusal(tmp_path, pickle.dumps(Call(reconstruct, np.matrix, (0,), b"b")))
    assert "unusual class" in refusal(tmp_path, pickle.dumps(Call(reconstruct, "ndarray", (0,), b"b")))


def test_bytes_in_another_encoding_are_refused(tmp_path: Path) -> None:
    content = b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00xX\x03\x00\x00\x00hex\x86R."
    assert "encoded as hex" in refusal(tmp_path, content)


def test_references_outside_the_file_are_refused(tmp_path: Path) -> None:
    assert "outside the file" in refusal(tmp_path, b"Psome id\n.")
    assert "outside the file" in refusal(tmp_path, b"\x80\x02X\x01\x00\x00\x00xQ.")


def test_codes_of_the_extension_registry_are_refused_even_when_they_were_used_before(tmp_path: Path) -> None:
    module = os.system.__module__
    copyreg.add_extension(module, "system", 240)
    try:
        content = pickle.dumps(os.system, 2)
        assert content == b"\x80\x02\x82\xf0."
        assert pickle.loads(content) is os.system  # now the registry's cache holds the function itself
        assert f"{module}.system" in refusal(tmp_path, content)
    finally:
        copyreg.remove_extension(module, "system", 240)
    refusal(tmp_path, content)


def test_what_is_no_pickle_gives_one_line(tmp_path: Path) -> None:
    whole = pickle.dumps({"a": np.arange(100)})
    for content in (b"", b"hello", b"\x00", whole[:-1], whole[: len(whole) // 2], b"\x80\x09.", b"{}", b"."):
        assert "not a pickle" in refusal(tmp_path, content)


def test_a_length_that_the_file_does_not_have_gives_one_line(tmp_path: Path) -> None:
    for opcode in (b"\x8e", b"\x8d", b"\x96"):  # bytes, text, byte array with a length of eight bytes
        refusal(tmp_path, b"\x80\x05" + opcode + struct.pack("<Q", 1 << 62) + b"x.")
    assert "unusual arguments" in refusal(tmp_path, b"\x80\x02cbuiltins\nbytes\nJ\xff\xff\xff\x7f\x85R.")
    assert "not made of bytes" in refusal(tmp_path, b"\x80\x02cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory can only be bounded on Linux")
def test_a_few_bytes_cannot_take_all_memory(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    message = refusal(tmp_path, b"\x80\x02}r\xff\xff\xff\x7f.")  # remembers a value under the largest number
    assert message == "refused: it asks for far more memory than a file of its size needs"
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_missing_file_gives_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"absent.pkl: cannot be read \(No such file or directory\)"):
        read_pickle(tmp_path / "absent.pkl")


def test_many_small_arrays_are_joined_whatever_they_are() -> None:
    fast = [pickled(np.array([[1, 2], [3, 4]], np.float32)), pickled(np.zeros((0, 2), np.float32))]
    mixed = [*fast, pickled(np.asfortranarray(np.array([[5, 6], [7, 8]]))), [9, 10], None]
    assert [each.tolist() for each in flattened(fast)] == [[1, 2, 3, 4], [4, 0]]
    assert [each.tolist() for each in flattened(mixed)] == [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [4, 0, 4, 2, 0]]
    assert [each.tolist() for each in flattened([])] == [[], []]


def pickled(array: np.ndarray[Any, Any]) -> Array:
    made = Array.from_buffer(array.tobytes("A"), _dtype(array), array.shape, "F" if array.flags.fnc else "C")
    assert np.asarray(made).tolist() == array.tolist()
    return made


def _dtype(array: np.ndarray[Any, Any]) -> Any:
    from questree.sources.pickles import Dtype

    return Dtype(array.dtype.str[1:])
