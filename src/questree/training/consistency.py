"""A loss for answers that break a rule between a question and its sub-questions, from the rules that scores use.

A rule reads what is said and tells which answers cannot stand together. What a network says are probabilities: the
loss of a composition is -log(1 - p), where p is the sum, over the likeliest answers of its members, of the products
of their probabilities wherever the rule is broken. p is exact if each member has no more answers than are looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from questree.columns.hashing import mix, seed_of
from questree.metrics.answered import Answered, beside, members, node_columns
from questree.rules import Members, NodeColumns, Rule
from questree.tables.hierarchies import NOTHING, Hierarchies
from questree.training.examples import Examples
from questree.training.words import Ints

TOGETHER = 64  # most combinations of answers of one composition that are looked at
MOST = 6  # members of a composition; larger ones have no loss
DRAWN = 16  # compositions of a step
SMALLEST = 1e-6


@dataclass(frozen=True)
class RuledQuestions:
    """A rule and the questions it is about, each with its parts."""

    rule: Rule
    nodes: Ints  # [row, member] the question first


def broken(rule: Rule, columns: NodeColumns, nodes: Ints, said: NDArray[Any]) -> NDArray[np.bool_]:
    """[row, combination] do these answers [row, combination, member] to nodes [row, member] break the rule?"""
    flat = np.repeat(nodes[:, None], said.shape[1], 1).reshape(-1, nodes.shape[1])
    node = flat.ravel()
    own = NodeColumns(
        columns.words,
        said.ravel(),
        columns.about[node],
        columns.yes_no[node],
        columns.scored[node],
        columns.inner[node],
        lambda: columns.option[node],
    )
    places = np.arange(len(node)).reshape(flat.shape)
    case = rule.reads(Members(own, tuple(places.T)))
    wrong = [applies & ~passes for applies, passes in rule.checks(case).values()]
    return np.asarray(np.logical_or.reduce(wrong)).reshape(said.shape[:2])


def chance_broken(rule: Rule, columns: NodeColumns, nodes: Ints, chances: Tensor, words: Ints) -> Tensor:
    """[row] the probability that a rule is broken, given those of answers [row, member, answer]; words [answer]."""
    count = chances.shape[1]
    each = max(2, int(TOGETHER ** (1 / count) + 1e-9))
    likely = chances.topk(min(each, chances.shape[2]), 2)
    combined = np.array(list(product(range(likely.indices.shape[2]), repeat=count)))  # [combination, member]
    place = torch.from_numpy(combined).to(chances.device)
    member = torch.arange(count, device=chances.device)
    answer = likely.indices.cpu().numpy()[:, np.arange(count), combined]  # [row, combination, member]
    together = likely.values[:, member, place].prod(2)  # [row, combination]
    wrong = torch.from_numpy(broken(rule, columns, nodes, words[answer])).to(chances.device)
    return (together * wrong).sum(1)


class RuleLoss:
    """Of the DAGs of a split: in every step some compositions, drawn by its number, are answered and judged."""

    def __init__(self, dags: Hierarchies, nodes: Examples, answers: list[str], weight: float, seed: int):
        """`nodes`: the questions and sub-questions of the DAGs, by id."""
        number = {word: at for at, word in enumerate(dags.words)}
        self.words = np.array([number.setdefault(word, len(number)) for word in answers], np.int64)  # [answer]
        model = beside(dags, np.full(len(dags.keys), NOTHING, np.int32), number)
        self.columns, self.nodes, self.weight, self.seed = node_columns(model), nodes, weight, seed
        self.groups = list(groups(model))
        row = pl.DataFrame({"id": nodes.ids}).with_row_index("row")
        of_key = pl.DataFrame({"id": dags.keys}).join(row, on="id", how="left", maintain_order="left")["row"]
        self.example = of_key.fill_null(0).to_numpy().astype(np.int64)[model.column("key")]  # [node]
        size = [len(group.nodes) for group in self.groups]
        self.which = np.repeat(np.arange(len(size)), size)  # [composition] its group
        self.place = np.arange(len(self.which)) - np.repeat(np.cumsum(size) - size, size)

    def __len__(self) -> int:
        return len(self.which)

    def drawn(self, epoch: int, step: int) -> Ints:
        """RuledQuestions of a step."""
        hashes = mix(seed_of(self.seed, f"rules {epoch} {step}"), np.arange(DRAWN))
        return np.unique(hashes % np.uint64(len(self))).astype(np.int64)

    def __call__(self, network: nn.Module, epoch: int, step: int) -> Tensor:
        chosen = self.drawn(epoch, step)
        asked = [self.groups[self.which[at]].nodes[self.place[at]] for at in chosen]
        examples = np.unique(self.example[np.concatenate(asked)])
        device = next(network.parameters()).device
        chances = torch.softmax(network(self.nodes.batch(examples).to(device)), 1)
        losses = [self.loss(group, nodes, chances, examples) for group, nodes in self.gathered(chosen)]
        return self.weight * torch.cat(losses).mean()

    def gathered(self, chosen: Ints) -> Iterator[tuple[RuledQuestions, Ints]]:
        """Groups with those of their compositions that were drawn."""
        for at in np.unique(self.which[chosen]).tolist():
            yield self.groups[at], self.groups[at].nodes[self.place[chosen[self.which[chosen] == at]]]

    def loss(self, group: RuledQuestions, nodes: Ints, chances: Tensor, examples: Ints) -> Tensor:
        """[row]"""
        place = torch.from_numpy(np.searchsorted(examples, self.example[nodes])).to(chances.device)
        wrong = chance_broken(group.rule, self.columns, nodes, chances[place], self.words)
        return -torch.log((1 - wrong).clamp(min=SMALLEST))


def groups(model: Answered) -> Iterator[RuledQuestions]:
    """By rule and number of parts."""
    for rule, _, nodes in members(model):
        if len(nodes) <= MOST:
            yield RuledQuestions(rule, np.stack([np.asarray(each, np.int64) for each in nodes], 1))


def rule_loss(dags: Hierarchies, nodes: Examples, answers: Any, weight: float, seed: int) -> RuleLoss | None:
    """None where no rule is about any question."""
    found = RuleLoss(dags, nodes, list(answers), weight, seed)
    return found if len(found) else None
