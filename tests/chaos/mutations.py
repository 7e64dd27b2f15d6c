"""Damage done to a valid file, the same for the same seed: bytes, encodings, numbers, structure, compression."""

import gzip
import re
from collections.abc import Callable
from random import Random

NUMBER = re.compile(rb"-?\d+(\.\d+)?")
TEXT = re.compile(rb'"[^"\\]{0,40}"')
ODD_NUMBERS = (
    b"-1",
    b"0",
    b"1e999",
    b"9" * 40,
    b"0.1",
    b"null",
    b'"7"',
    b"[]",
    b"{}",
    b"true",
    b"NaN",
    b"18446744073709551616",
)
ODD_TEXTS = (
    b'""',
    b"0",
    b"null",
    b"[]",
    b'"\\u0000"',
    b'"\\ud800"',
    b'"../x"',
    b'"' + b"a" * 5000 + b'"',
    b'{"a": 1}',
    b'"\xff"',
)
DEEP = 20_000  # brackets


def cut(data: bytes, draw: Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def flipped(data: bytes, draw: Random) -> bytes:
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 3, 20))):
        if found:
            found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    return bytes(found)


def removed(data: bytes, draw: Random) -> bytes:
    begin = draw.randrange(len(data) + 1)
    return data[:begin] + data[begin + draw.choice((1, 4, 50, 2000)) :]


def repeated(data: bytes, draw: Random) -> bytes:
    begin = draw.randrange(len(data) + 1)
    end = begin + draw.choice((1, 10, 500))
    return data[:end] + data[begin:end] * draw.choice((1, 3)) + data[end:]


def inserted(data: bytes, draw: Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    odd = draw.choice(
        (b"\xff\xfe", b"\x80", b"\0", b"\xed\xa0\x80", b"\r", b'"', b"\\x41", b"{{", b"," * 200, b"\n" * 9)
    )
    return data[:at] + odd + data[at:]


def odd_number(data: bytes, draw: Random) -> bytes:
    return _another(data, NUMBER, ODD_NUMBERS, draw)


def odd_text(data: bytes, draw: Random) -> bytes:
    return _another(data, TEXT, ODD_TEXTS, draw)


def _another(data: bytes, pattern: "re.Pattern[bytes]", odd: tuple[bytes, ...], draw: Random) -> bytes:
    """One of the first matches after a place is exchanged."""
    begin = draw.randrange(len(data) + 1)
    found = pattern.search(data, begin) or pattern.search(data)
    return data if found is None else data[: found.start()] + draw.choice(odd) + data[found.end() :]


def other_encoding(data: bytes, draw: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return draw.choice((text.encode("utf-16"), text.encode("latin-1", "replace") + b"\xe9", b"\xef\xbb\xbf" * 2 + data))


def compressed(data: bytes, draw: Random) -> bytes:
    whole = gzip.compress(data, 1, mtime=0)
    return draw.choice((whole, cut(whole, draw), flipped(whole, draw), whole + b"more", whole + whole))


def nested(data: bytes, draw: Random) -> bytes:
    sign = draw.choice((b"[", b'{"a":', b"(", b"- "))
    at = draw.choice((0, len(data) // 2))
    return data[:at] + sign * DEEP + data[at:]


def another_thing(data: bytes, draw: Random) -> bytes:
    return draw.choice(
        (b"", b"\n", b"null", b"[]", b"{}", b"[[]]", b'{"": {}}', b"0", b'"x"', b"PAR1", b"\x80\x04.", b"<html>")
    )


KINDS: dict[str, Callable[[bytes, Random], bytes]] = {
    each.__name__.replace("_", " "): each
    for each in (
        cut,
        flipped,
        removed,
        repeated,
        inserted,
        odd_number,
        odd_text,
        other_encoding,
        compressed,
        nested,
        another_thing,
    )
}


def mutated(data: bytes, seed: str) -> tuple[str, bytes]:
    """What was done to the data, and what came of it; most often one kind of damage, sometimes two."""
    draw = Random(f"questree chaos {seed}")
    names = [draw.choice(list(KINDS)) for _ in range(draw.choice((1, 1, 1, 2)))]
    for name in names:
        data = KINDS[name](data, draw)
    return ", ".join(names), data
