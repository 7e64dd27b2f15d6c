"""Shards of a stage, made anywhere and in any order: finished ones are kept beside their place until all are there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

from questree.extensions import digests
from questree.faults import BadInput
from questree.places import Place
from questree.tables.owners import remove, sweep, take_place
from questree.tables.store import new_folder, scratch
from questree.workers import in_parallel

PLAN, NOTES, STATE = "plan.json", "notes", "state"


@dataclass(frozen=True)
class ShardFolders:
    """`.NAME.part` beside `target`; its notes say what shards depend on, and what was counted about finished ones."""

    target: Path
    plan: bytes  # what shards depend on, as it is kept beside them

    @property
    def work(self) -> Path:
        return self.target.with_name(f".{self.target.name}.part")

    @property
    def state(self) -> str:
        plugins = "".join(f"{name} {digest}\n" for name, digest in sorted(digests().items()))
        return blake2b(b"\0".join([self.plan, plugins.encode()]), digest_size=16).hexdigest()

    def start(self) -> None:
        """Throw away shards that depend on something else, and what dead workers left."""
        sweep(self.target)
        without_halves(self.work)
        if state_of(self.work) != self.state:
            remove(self.work)
            (self.work / NOTES).mkdir(parents=True)
            (self.work / NOTES / STATE).write_text(self.state)

    @contextmanager
    def begun(self, names: Sequence[str]) -> Iterator[None]:
        """Work at these shards: where it fails before the first one is finished, nothing is left."""
        try:
            self.start()
            yield
        except Exception:
            if not any((self.work / name).exists() for name in names):
                remove(self.work)
            raise

    def shards(self, names: Sequence[str]) -> list["NewShard"]:
        return [NewShard(self.work / name, self.state, self.work / NOTES / f"{name}.json") for name in names]

    def kept(self, names: Sequence[str], *helps: str) -> str:
        """What is there of these shards after a failure, and what helps beside fewer workers."""
        done = sum((self.work / name).exists() for name in names)
        return f"{done:,} of {len(names):,} shards are kept; rerun, with {' or '.join(['--workers 1', *helps])}"

    def finish(self, planned: bool = True) -> None:
        """All shards are there: they take their place, with the plan beside them."""
        if planned:
            (self.work / PLAN).write_bytes(self.plan)
        without_halves(self.work)
        (self.work / NOTES / STATE).unlink(missing_ok=True)  # killed among the notes, nobody takes these for whole
        remove(self.work / NOTES)
        take_place(self.work, self.target)


@dataclass(frozen=True)
class NewShard:
    """A shard to be made; small enough to send anywhere that sees the run."""

    out: Path
    state: str  # what the work was begun with
    note: Path  # for counts: written before the shard is finished

    @property
    def name(self) -> str:
        return self.out.name

    @property
    def done(self) -> bool:
        return self.out.is_dir()

    @contextmanager
    def made(self) -> Iterator[Path]:
        """A folder to fill, which becomes the shard unless the work was begun anew with something else: a worker that
        a cluster has given up may still be at it."""
        self._check()
        with new_folder(self.out) as folder:
            yield folder
            self._check()

    def _check(self) -> None:
        found = state_of(self.out.parent)
        if found != self.state and not (isinstance(self.out, Place) and not found):  # which others see at the end
            raise BadInput.at(self.out, "no longer wanted: the work was begun anew")


def state_of(work: Path) -> str:
    note = work / NOTES / STATE
    return note.read_text() if note.is_file() else ""


def without_halves(folder: Path) -> None:
    """Remove what workers that are given up or dead have half-written among shards."""
    for half_written in folder.glob(".*"):
        remove(half_written)


@contextmanager
def where_workers_see(beside: Path) -> Iterator[Path]:
    """A folder for what is gone at the end; beside this one only if workers elsewhere must see it."""
    with scratch(beside) if in_parallel(1) else TemporaryDirectory() as made:
        yield Path(made) if isinstance(made, str) else made
