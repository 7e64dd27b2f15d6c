"""DAGs of a folder of hierarchies, in groups of its files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import polars as pl

from questree.faults import Fault
from questree.formats.decomp_cache import kept, loaded
from questree.formats.decomp_choices import read_choices
from questree.formats.decomp_files import ISOLATED, read_files, read_texts
from questree.formats.decomp_groups import FileGroup, GroupedFiles, isolated_at
from questree.models.policies import QuestionTexts
from questree.scoring.compared import looked_up
from questree.scoring.dag_shards import answers_in
from questree.scoring.shard_tasks import ShardAnswers, ShardScores
from questree.tables.hierarchies import Hierarchies, HierarchyPart, together
from questree.tables.predictions import Stored


class SharedIds(Exception):
    """Files of several videos may have an id: to count it once, they must be read together."""


class FilePart(NamedTuple):
    hierarchies: Hierarchies
    files: list[Path]


class GroupSeen(NamedTuple):
    """What all groups must know of each other, or what is wrong with one."""

    types: Sequence[str] = ()
    apart: bool = True  # does every id name its video?
    faults: Sequence[Fault] = ()


@dataclass(frozen=True)
class FileDags:
    files: GroupedFiles
    scratch: Path  # where isolated questions are dealt
    types: tuple[str, ...] = ()  # of all files, once they are known: they tell what tables list

    def part(self, name: FileGroup, split: str | None) -> FilePart:
        """As it was read when its answers were looked at, with the isolated questions that were dealt to it."""
        own = self.files.dealt(name, self.scratch)
        parts, loose = [HierarchyPart({}, {"types": self.types}, [])], [path for path in own if path.name == ISOLATED]
        if not name.isolated:
            parts.append((loaded(self._read(name)) or self.files.read(name)).part)
        if loose:
            parts.append(read_files(loose, scan=False).part)
        return FilePart(together(parts), own)

    def _read(self, name: FileGroup) -> Path:
        return self.scratch / f"read-{name.number:06d}"

    def texts(self, asked: FilePart) -> QuestionTexts | None:
        return looked_up(partial(read_texts, asked.files))

    def options(self, asked: FilePart) -> pl.DataFrame:
        return read_choices([path for path in asked.files if path.name != ISOLATED])

    def late(self, asked: FilePart, ids: Sequence[str]) -> Sequence[tuple[str, int]]:
        """Questions without a DAG come after those of all videos."""
        if not ids:
            return ()
        place, dags = isolated_at(asked.files), asked.hierarchies
        known = {*dags.keys.gather(dags.nodes["key"].unique())}
        return [(id, place[id]) for id in ids if id not in known]

    def stored(self, name: FileGroup, model: str) -> Stored:
        raise LookupError(f"files have no stored models: {model}")

    def alone(self, name: FileGroup, asked: FilePart, split: str | None) -> None:
        """Questions have no records of their own."""

    def answers(self, name: FileGroup, split: str | None) -> ShardAnswers:
        """Isolated questions are dealt on the way."""
        found = self.files.checked(name)
        if isinstance(found, list):
            return ShardAnswers([], np.zeros(0, bool), more=GroupSeen(faults=found))
        if name.isolated:
            self.files.deal(self.scratch)
        else:
            kept(found, self._read(name))
        return answers_in(found)._replace(more=GroupSeen(found.types, ids_apart(found)))

    def looked(self, seen: Sequence[ShardAnswers]) -> Self:
        told: list[GroupSeen] = [own.more for own in seen]
        self.files.refuse(fault for own in told for fault in own.faults)
        if not all(own.apart for own in told):
            raise SharedIds
        return replace(self, types=tuple(dict.fromkeys(name for own in told for name in own.types)))

    def places(self, found: Sequence[ShardScores]) -> None:
        """Videos are in the order of their files, then come those that have none."""


def ids_apart(found: Hierarchies) -> bool:
    """Does every id of a node name its video, so that no other file has it?"""
    video = np.zeros(len(found.keys), np.int64)
    video[found.nodes["key"].to_numpy()] = found.node_video
    asked = found.nodes["key"].unique()
    names = pl.Series(found.videos, dtype=pl.String).gather(video[asked.to_numpy()])
    return bool((found.keys.gather(asked).str.replace("-[^-]*$", "") == names).all())
