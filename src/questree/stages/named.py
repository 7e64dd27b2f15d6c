"""How things are named in the videos of a shard, as columns: references, action references and time phrases."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import ACTION_REFERENCES
from questree.columns.joins import Ints, starts
from questree.stages.question_forms import ACTION_BITS, BY_OBJECT, REFERENCE_BITS
from questree.tables.questions import NOTHING16, time_actions, time_kind
from questree.vocabulary.words import Vocabulary

DIRECT, LONGEST, SHORTEST, INDIRECT = range(len(ACTION_REFERENCES))


@dataclass(frozen=True)
class Named:
    """How things are named in the videos of a shard: its side tables, and what their rows stand for."""

    vocabulary: Vocabulary
    sides: dict[str, pl.DataFrame]
    first: int  # video
    videos: int

    @cached_property
    def start(self) -> dict[str, Ints]:
        """side table -> [video from `first` on] where its rows begin."""
        return {name: starts(self.video(name), self.videos) for name in self.sides}

    def video(self, side: str) -> Ints:
        """[row] counted from the shard's first."""
        return self.sides[side]["video"].to_numpy().astype(np.int64) - self.first

    def column(self, side: str, name: str) -> Ints:
        return self.sides[side][name].to_numpy().astype(np.int64)

    @property
    def phrases(self) -> int:
        return len(self.sides["phrases"])

    @cached_property
    def inner(self) -> Ints:
        """[action reference] the row of the reference that stands for its object; -1 for none."""
        own, row = self.video("action_references"), self.column("action_references", "reference")
        base = self.start["references"][np.clip(own, 0, self.videos)]
        return np.where(self.column("action_references", "kind") == INDIRECT, base + row, -1)

    def actions_of(self, side: str) -> Ints:
        """[phrase] the row of the action reference that names its action a or b; -1 for none."""
        base = self.start["action_references"][np.clip(self.video("phrases"), 0, self.videos)]
        number = self.column("phrases", side)
        return np.where(number != NOTHING16, base + number, -1)

    @cached_property
    def shapes(self) -> dict[str, Ints]:
        """side table -> [row] how it is worded, as forms number it; one more row for nothing."""
        kind = self.column("references", "kind")
        if "time" in self.sides["references"].columns:
            kind = kind | time_kind(self.column("references", "time")) << REFERENCE_BITS
        references, own = np.append(kind, 0), self.column("action_references", "kind")
        actions = np.append(np.where(own == INDIRECT, BY_OBJECT + references[self.inner], own), 0)
        times = self.column("phrases", "kind")
        for side in "ab":
            times = times << ACTION_BITS | actions[self.actions_of(side)]
        return {"references": references, "action_references": actions, "phrases": times}

    @cached_property
    def words(self) -> dict[str, Ints]:
        """What is said inside a reference or an action reference -> [row] its word; one more row for nothing."""
        refs = {name: np.append(self.column("references", name), 0) for name in ("relation", "object")}
        action = self.column("action_references", "action")
        found = {
            "relation": refs["relation"],
            "verb": np.append(self.vocabulary.verb_of[action], 0),
            "object": refs["object"][np.append(self.inner, -1)],
            "object.relation": refs["relation"][np.append(self.inner, -1)],
        }
        if "time" in self.sides["references"].columns:
            own = np.append(self.column("references", "time"), 0)
            found |= dict(zip(("time.a", "time.b"), time_actions(own), strict=True))
        return found
