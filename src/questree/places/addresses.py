"""URLs of places and their mirrors on this machine: each can be told from the other, and neither holds a secret."""

import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from questree.faults import BadInput

SCHEMES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "memory": "fsspec"}  # -> the package that speaks it
CACHE = "QUESTREE_CACHE"  # in the environment: where mirrors lie
MIRRORS = "questree-places"  # folder of the cache; what follows it in a path is the URL
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/+(.*)", re.DOTALL)
SECRETS = re.compile(r"KEY|SECRET|TOKEN|PASSWORD|PASSWD|SAS|CREDENTIAL|CONNECTION_STRING|FSSPEC_", re.IGNORECASE)
USER = re.compile(r"://[^/@\s]*:[^/@\s]*@")  # s3://key:secret@bucket
QUERY = re.compile(r"(://[^\s?'\"]*)\?[^\s'\"]*")  # of signed addresses
HIDDEN, SHORT = "...", 6  # shorter values of the environment are no secrets


def cache_folder() -> Path:
    """$QUESTREE_CACHE, $XDG_CACHE_HOME/questree, or where the system keeps what can be made or fetched again."""
    if given := os.environ.get(CACHE):
        return Path(given).absolute()
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or usual) / "questree"


def home() -> str:
    """A name of this machine's mirror, the same for all processes that share it."""
    return _named(cache_folder() / MIRRORS / ".home")


@lru_cache(maxsize=8)
def _named(file: Path) -> str:
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        drawn = file.with_name(f".home.{uuid4().hex}")
        drawn.write_text(uuid4().hex, "ascii")
        try:
            os.link(drawn, file)  # the first one stays
        except FileExistsError:
            pass
        finally:
            drawn.unlink()
    return file.read_text("ascii")


def scheme_of(text: str) -> str | None:
    """That of a URL; None if it is the name of a file. A single letter is a drive."""
    found = ADDRESS.match(text)
    return found[1].lower() if found and len(found[1]) > 1 else None


def may_be_path(text: str) -> bool:
    """Is this the name of a file, or a URL of a kind that stores have? Servers have others."""
    return scheme_of(text) in (None, "file", *SCHEMES)


def checked(text: str) -> str:
    """The URL of a store, as we write it; what is no such URL is refused without a word of what may be secret."""
    scheme, rest = scheme_of(text), ADDRESS.sub(r"\2", text).strip("/")
    shown = redacted(text)
    if USER.search(text) or QUERY.search(text):
        where = f"where {SCHEMES.get(scheme or '', 'its package')} looks for them: environment, profile, role"
        raise BadInput.at(shown, f"expected a URL without credentials; put them {where}")
    if scheme not in SCHEMES:
        raise BadInput.at(shown, f"expected a known scheme, got {scheme}; choose from file, {', '.join(SCHEMES)}")
    parts = [part for part in rest.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        wanted = "a bucket" if not parts else "no .."
        raise BadInput.at(shown, f"expected a URL with {wanted}, as in {scheme}://bucket/run")
    return f"{scheme}://{'/'.join(parts)}"


def mirror(url: str) -> Path:
    """Where the content of a URL lies on this machine; memory is of one process."""
    scheme, _, rest = url.partition("://")
    own = [str(os.getpid())] if scheme == "memory" else []
    return cache_folder().joinpath(MIRRORS, scheme, *own, *rest.split("/"))


def url_of(parts: tuple[str, ...]) -> str | None:
    """The URL of a mirrored path, given its parts."""
    parts = Path(os.path.normpath(Path(*parts))).parts if ".." in parts else parts
    if MIRRORS not in parts:
        return None
    scheme, *rest = parts[parts.index(MIRRORS) + 1 :] or ("",)
    rest = rest[1:] if scheme == "memory" else rest
    return f"{scheme}://{'/'.join(rest)}" if scheme in SCHEMES and rest else None


def redacted(text: str) -> str:
    """Without users and queries of URLs, and without what the environment keeps as secrets."""
    text = QUERY.sub(rf"\1?{HIDDEN}", USER.sub(f"://{HIDDEN}@", text))
    for name, value in os.environ.items():
        if SECRETS.search(name):
            for secret in sorted(_values(value), key=len, reverse=True):
                text = text.replace(secret, HIDDEN)
    return text


def _values(value: str) -> set[str]:
    """A secret of the environment, or the texts of a JSON object that holds some."""
    inside = re.findall(r'"((?:[^"\\]|\\.)*)"', value) if value.lstrip().startswith("{") else []
    return {each for each in (value, *inside) if len(each) > SHORT}
