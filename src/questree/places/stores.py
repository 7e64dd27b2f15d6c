"""Object stores through fsspec: what we ask of them, and what went wrong in one line."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from questree.faults import BadInput
from questree.places.addresses import SCHEMES, redacted
from questree.places.moved import count

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

FINGERPRINTS = ("ETag", "etag", "md5Hash", "content_md5", "generation", "created", "mtime")  # the first that is told
SPAN = 1 << 60  # identities are times of files as well, in nanoseconds
KNOWN = set[str]()  # URLs of buckets that are there
LENGTH = 200  # of what a library says


class Entry(NamedTuple):
    """A file in a store."""

    size: int
    identity: int  # another one whenever the content was put anew


def store_of(url: str) -> "AbstractFileSystem":
    return _store(url.partition("://")[0], os.getpid())


@lru_cache(maxsize=8)
def _store(scheme: str, process: int) -> "AbstractFileSystem":
    """One per process: connections do not survive a fork."""
    try:
        import fsspec

        return fsspec.filesystem(scheme, use_listings_cache=False)
    except ImportError:
        package = SCHEMES[scheme]
        told = f"needs the package {package}, which is not installed; `pip install {package}`"
        raise BadInput.at(f"{scheme}://", told) from None
    except Exception as error:
        raise BadInput.at(f"{scheme}://", f"cannot be used ({said(error)})") from None


def said(error: BaseException) -> str:
    """The first line of what a library says, without secrets."""
    text = " ".join(str(error).split()) or type(error).__name__
    named = "" if isinstance(error, OSError) else f"{type(error).__name__}: "
    return redacted(f"{named}{text}")[:LENGTH]


@contextmanager
def told(url: str, missing: str = "no such bucket") -> Iterator[None]:
    """Whatever keeps a store from doing what it is asked is one line, without the chain of what libraries raised."""
    try:
        yield
    except BadInput:
        raise
    except PermissionError as error:
        raise BadInput.at(url, f"no access ({said(error)})") from None
    except FileNotFoundError:
        raise BadInput.at(url, missing) from None
    except FileExistsError:
        raise
    except Exception as error:
        why = "no credentials" if type(error).__name__ == "NoCredentialsError" else "the store does not answer"
        raise BadInput.at(url, f"{why} ({said(error)})") from None


def _entry(info: Mapping[str, Any]) -> Entry:
    mark = next((str(info[name]).strip('"') for name in FINGERPRINTS if info.get(name) is not None), "")
    size = int(info.get("size") or 0)
    digest = blake2b(f"{size} {mark}".encode(), digest_size=8).digest()
    return Entry(size, int.from_bytes(digest, "big") % SPAN)


def _relative(name: str, inside: str) -> str:
    return name.strip("/")[len(inside) :].strip("/")


def _plain(name: str) -> bool:
    """Keys of others may be anything; those that are no names of files stay where they are."""
    return not {"", ".", ".."} & {*name.split("/")} or not name


def files_below(url: str) -> dict[str, Entry]:
    """Relative name -> file, of all below; of a file itself the name is empty."""
    store, inside = store_of(url), _stripped(url)
    with told(url):
        try:
            found = store.find(inside, detail=True)
            if isinstance(found, list):  # Azure's, of a file itself
                found = {name: store.info(name) for name in found}
        except FileNotFoundError:
            found = {}
        if not found:  # not every store says so if there is no such bucket
            _check_bucket(store, url)
    count(1 + len(found) // 1000)
    return {
        _relative(name, inside): _entry(info)
        for name, info in found.items()
        if info["type"] == "file" and not name.endswith("/") and _plain(_relative(name, inside))
    }


def entries_in(url: str) -> tuple[dict[str, Entry], set[str]]:
    """Files and names of folders right in a folder; of a file itself the name is empty."""
    store, inside = store_of(url), _stripped(url)
    with told(url):
        try:
            found = store.ls(inside, detail=True)
        except FileNotFoundError:
            found = []
        if not found:
            _check_bucket(store, url)
    count(1 + len(found) // 1000)
    named = [(name, info) for info in found if _plain(name := _relative(info["name"], inside))]
    files = {name: _entry(info) for name, info in named if info["type"] == "file" and not info["name"].endswith("/")}
    return files, {name for name, info in named if info["type"] == "directory" and name}


def file_entry(url: str) -> Entry | None:
    """One file, if it is there."""
    count()
    with told(url):
        try:
            return _entry(store_of(url).info(_stripped(url)))
        except FileNotFoundError:
            return None


def _stripped(url: str) -> str:
    return url.partition("://")[2].strip("/")


def _check_bucket(store: "AbstractFileSystem", url: str) -> None:
    """Nothing is there: because the bucket is not?"""
    bucket = _stripped(url).partition("/")[0]
    name = f"{url.partition('://')[0]}://{bucket}"
    if name not in KNOWN and "memory" not in store.protocol and not store.exists(bucket):
        raise FileNotFoundError(bucket)
    KNOWN.add(name)


def get(url: str, target: Path) -> None:
    """Into a file; that it is gone is a FileNotFoundError."""
    try:
        with told(url):
            try:
                store_of(url).get_file(_stripped(url), str(target))
            except FileNotFoundError:
                raise FileExistsError from None  # not a missing bucket: passed on as it is
    except FileExistsError:
        raise FileNotFoundError(url) from None
    count(down=target.stat().st_size)


def put(files: Sequence[tuple[Path, str]]) -> None:
    """Files to their URLs, several at a time where the store can; each is there whole or not at all."""
    if not files:
        return
    with told(files[0][1]):
        store = store_of(files[0][1])
        store.put([str(path) for path, _ in files], [_stripped(url) for _, url in files])
    count(len(files), up=sum(path.stat().st_size for path, _ in files))


def put_bytes(url: str, data: bytes, new: bool = False) -> bool:
    """Small content; with `new` only if nothing is there yet, which is told."""
    store = store_of(url)
    count(up=len(data))
    with told(url):
        try:
            store.pipe_file(_stripped(url), data, mode="create" if new else "overwrite")
        except FileExistsError:
            return False
        except Exception as error:
            if new and _refused(error):
                return False
            raise
    return True


def _refused(error: Exception) -> bool:
    """Did the store say that something is there already, in its own way?"""
    text = f"{type(error).__name__} {error}"
    return any(
        sign in text for sign in ("PreconditionFailed", "ConditionalRequestConflict", "412", "BlobAlreadyExists")
    )


def get_bytes(url: str) -> bytes | None:
    """Small content; None if it is not there."""
    with told(url):
        try:
            found: bytes = store_of(url).cat_file(_stripped(url))
        except FileNotFoundError:
            found = b""
            count()
            return None
    count(down=len(found))
    return found


def copy(pairs: Sequence[tuple[str, str]]) -> None:
    """Inside a store, without moving bytes to this machine."""
    if not pairs:
        return
    with told(pairs[0][1]):
        store_of(pairs[0][0]).copy([_stripped(one) for one, _ in pairs], [_stripped(other) for _, other in pairs])
    count(len(pairs))


def delete(urls: Sequence[str]) -> None:
    """What is there of these files."""
    if not urls:
        return
    store, names = store_of(urls[0]), [_stripped(url) for url in urls]
    with told(urls[0]):
        try:
            store.rm(names)
        except FileNotFoundError:
            for name in names:
                if store.exists(name):
                    store.rm_file(name)
    count(len(urls))
