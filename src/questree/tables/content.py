"""The bytes of a file that somebody gives us, unpacked if it is gzipped."""

import gzip
import zlib
from codecs import BOM_UTF8
from pathlib import Path

from questree.faults import BadInput

GZIP = b"\x1f\x8b"


def content(path: Path) -> bytes:
    """Without a byte order mark; what cannot be read is told in one line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadInput.at(path, "no such file") from None
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror})") from error
    try:
        return (gzip.decompress(data) if data[:2] == GZIP else data).removeprefix(BOM_UTF8)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput.at(path, "a damaged gzip file") from error
