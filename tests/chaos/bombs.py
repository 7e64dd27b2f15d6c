"""Small files that ask for all of memory or time: every reader refuses them, or takes them, soon and in little room."""

import gzip
import pickle
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from chaos.fuzz import Failure, broken
from chaos.readers import READERS

ROOM = 1 << 20  # KiB that a reader may take more than before
COLUMNS, DEEP, SAME = 1_000_000, 1_000_000, 300


def packed(data: bytes) -> bytes:
    """Much of it, twice compressed: as many zeros as the readers allow, and more."""
    return gzip.compress(b"[" + b" " * (1 << 28) + b"]", 9, mtime=0)


def columns(data: bytes) -> bytes:
    """A header with very many columns."""
    head, _, rest = data.partition(b"\n")
    return head.rstrip(b"\r") + b"".join(b",c%d" % at for at in range(COLUMNS)) + b"\n" + rest


def keys(data: bytes) -> bytes:
    """A JSON object with very many members."""
    return b"{" + b",".join(b'"k%d":%d' % (at, at) for at in range(COLUMNS)) + b"}"


def deep(data: bytes) -> bytes:
    return b"[" * DEEP + b"]" * DEEP


def repeated_frames(data: bytes) -> bytes:
    """Frames that all have the same list of the same object: small as a pickle, and very many objects."""
    whole: dict[str, Any] = pickle.loads(data)
    one = next(objects for objects in whole.values() if objects)[0]
    many = [one] * (SAME * SAME)
    name = next(iter(whole)).split("/")[0]
    return pickle.dumps({f"{name}/{at:06d}.png": many for at in range(SAME)})


def repeated_vertices(data: bytes) -> bytes:
    """Actions that all have the same frames."""
    frames = ["000001"] * (SAME * SAME)
    actions = {f"c076/{at}": {"start": 0.0, "end": 1.0, "all_f": frames} for at in range(SAME)}
    return pickle.dumps({"038T4": {"000001": {"secs": 0.5}} | actions})


BOMBS: dict[str, tuple[str, str, Callable[[bytes], bytes]]] = {  # what it is -> reader, file, damage
    "packed scene graphs": ("gqa", "pictures/train_sceneGraphs.json", packed),
    "packed predictions": ("predictions", "said.jsonl", packed),
    "columns of Charades": ("charades", "charades/Charades_v1_train.csv", columns),
    "columns of predictions": ("predictions, CSV", "said.csv", columns),
    "columns of absent objects": ("absent", "absent.csv", columns),
    "members of scene graphs": ("gqa", "pictures/train_sceneGraphs.json", keys),
    "members of AGQA's questions": ("score agqa", "agqa/AGQA_balanced/test_balanced.txt", keys),
    "members of predictions": ("score agqa", "flat.json", keys),
    "members of own videos": ("own videos", "own/videos.json", keys),
    "nested scene graphs": ("gqa", "pictures/train_sceneGraphs.json", deep),
    "nested predictions": ("score decomp", "flat.json", deep),
    "nested splits": ("splits", "splits.yaml", deep),
    "nested vocabulary": ("vocabulary", "words.toml", deep),
    "repeated objects": ("action-genome", "world/object_bbox_and_relationship.pkl", repeated_frames),
    "repeated frames": ("agqa graphs", "graphs/AGQA_test_stsgs.pkl", repeated_vertices),
}


def bombs(corpus: Path) -> Iterator[Failure | None]:
    """One item per file."""
    for name, (reader, file, damage) in BOMBS.items():
        path = corpus / file
        data, before = damage(path.read_bytes()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        why = broken(corpus, READERS[reader], path, data)
        taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if not why and taken > ROOM:
            why = f"takes {taken / ROOM:.1f} GiB for a file of {len(data):,} bytes"
        yield Failure("bombs", name, why) if why else None
