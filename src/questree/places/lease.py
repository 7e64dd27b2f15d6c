"""Who holds a place in a store: an object that only one can put, with signs of life."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

from questree.faults import BadInput
from questree.places.stores import delete, get_bytes, put_bytes

BEAT, STALE = 20.0, 120.0  # seconds between signs of life, and without one until its holder is taken for dead
PAUSE = 0.1  # between looks at another's


class Held(Exception):
    """Somebody else's, and alive."""

    def __init__(self, who: str):
        self.who = who


@contextmanager
def lease(url: str, who: str, wait: bool = False, stays: bool = False) -> Iterator[None]:
    """Hold `url`, or raise Held; with `wait` another's end is waited for.

    With `stays` it is left behind after an error, as a dead one's: what it stands for is not done.
    """
    token = uuid4().hex
    while (other := _taken(url, who, token)) is not None:
        if not wait:
            raise Held(other)
        time.sleep(PAUSE)
    ended = threading.Event()
    beating = threading.Thread(target=_beat, args=(url, who, token, ended), daemon=True)
    beating.start()
    done = not stays
    try:
        yield
        done = True
    finally:
        ended.set()
        beating.join()
        with suppress(BadInput):  # the store is gone: it will look dead soon
            if _token(get_bytes(url)) == token:
                delete([url]) if done else put_bytes(url, b"{}")


def _taken(url: str, who: str, token: str) -> str | None:
    """None if it is ours now, or who has it."""
    if put_bytes(url, _note(who, token), new=True):
        return None
    data = get_bytes(url)
    if data is None or _alive(data):
        return str(_read(data).get("who") or "another command") if data else "another command"
    put_bytes(url, _note(who, token))  # of a dead one: whoever writes last has it
    time.sleep(PAUSE)
    return None if _token(get_bytes(url)) == token else "another command"


def _note(who: str, token: str) -> bytes:
    own = {"who": who, "token": token, "host": socket.gethostname(), "process": os.getpid(), "time": time.time()}
    return json.dumps(own).encode()


def _read(data: bytes | None) -> dict[str, object]:
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _token(data: bytes | None) -> object:
    return _read(data).get("token")


def _alive(data: bytes) -> bool:
    """Its sign of life is young, and if it is a process of this machine, it runs."""
    found = _read(data)
    process, beat = found.get("process"), found.get("time")
    if found.get("host") == socket.gethostname() and isinstance(process, int) and not _runs(process):
        return False
    return isinstance(beat, int | float) and abs(time.time() - beat) < STALE


def _runs(process: int) -> bool:
    if os.name == "nt":  # where the question would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _beat(url: str, who: str, token: str, ended: threading.Event) -> None:
    while not ended.wait(BEAT):
        try:
            if _token(get_bytes(url)) == token:
                put_bytes(url, _note(who, token))
        except Exception:  # told by whoever works; the next beat may come through
            continue
