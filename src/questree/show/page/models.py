"""What models said to the questions in memory, and what is to be thought of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from questree.metrics.dags.answered import beside
from questree.metrics.dags.names import AGQA_DECOMP
from questree.show.judged import broken_rules
from questree.show.opened import Opened
from questree.show.page.below import below
from questree.tables.hierarchies import NOTHING, Hierarchies
from questree.tables.predictions import Stored, models
from questree.tables.run import Run

RIGHT, WRONG, UNKNOWN = 1, 0, -1
RULES = AGQA_DECOMP.all_rules


@dataclass(frozen=True)
class Judgement:
    """Per question; all arrays are [question]."""

    said: NDArray[np.int32]  # number of the predicted word, NOTHING without one
    right: NDArray[np.int8]  # RIGHT, WRONG, or UNKNOWN without a prediction or a truth
    wrong_below: NDArray[np.bool_]  # is a scored sub-question answered wrong?
    broken: NDArray[np.uint32]  # bit = position in RULES of a rule that is broken in its DAG

    @classmethod
    def joined(cls, parts: Sequence["Judgement"]) -> "Judgement":
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))

    def at(self, rows: NDArray[np.int64]) -> "Judgement":
        return Judgement(*(getattr(self, each.name)[rows] for each in fields(self)))


@dataclass
class Model:
    """One model's stored predictions."""

    name: str
    stored: Stored
    number: NDArray[np.int32]  # [word of the model] its number among all answers, and NOTHING at the end
    judgement: Judgement = field(init=False)

    @classmethod
    def all(cls, run: Run, number: dict[str, int]) -> Iterator["Model"]:
        """Every model of a run; its words are numbered like all answers, new ones after them."""
        for name in models(run, images=False):
            stored = Stored.of(run, name)
            own = [number.setdefault(word, len(number)) for word in stored.words]
            yield cls(name, stored, np.array([*own, NOTHING], np.int32))

    def said(self, shard: Opened) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Numbers of the predicted words: [node], [question in the order of `tops`]."""
        nodes = self.stored.shard(shard.name, len(shard.nodes))
        asked = self.stored.asked(shard.name, nodes[shard.tops["node"].to_numpy()])
        return self.number[nodes], self.number[asked]

    def judge(self, shard: Opened, asked: Hierarchies, number: dict[str, int]) -> Judgement:
        """Of all questions of a shard, in the order of `tops`; `asked` has a row per node, then one per question."""
        top = shard.tops["node"].to_numpy().astype(np.int64)
        said = np.concatenate(self.said(shard))  # [row]
        model = beside(asked, said, number)
        truth = asked.nodes["answer"].to_numpy()
        right = np.where((said == NOTHING) | (truth == NOTHING), UNKNOWN, said == truth).astype(np.int8)
        broken = np.zeros(len(said), np.uint32)
        parent = asked.composed["parent"].to_numpy()
        for rule, rows in broken_rules(model):  # one composition, one row per parent
            broken[parent[rows]] |= np.uint32(1 << RULES.index(rule))
        count = len(shard.nodes)
        wrong_below = below(shard, ((right == WRONG) & model.scored)[:count])[top]
        return Judgement(said[count:], right[count:], wrong_below, broken[count:] | below(shard, broken[:count])[top])
