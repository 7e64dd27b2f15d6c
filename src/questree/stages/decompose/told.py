"""Contradictions between ways to know an answer, in words: both ways, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from questree.program import Array
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.propagate import GIVEN, LABEL, NO_ACTION, Contradiction, Propagation
from questree.stages.decompose.spoken import say
from questree.stages.decompose.texts import Texts

MOST = 20  # contradictions told in words per shard; all are counted
GIVEN_BY = {GIVEN: "asked", LABEL: "labelled", NO_ACTION: "no such action"}
GIVING = {GIVEN: "another question", LABEL: "a label", NO_ACTION: "an action that does not occur"}


@dataclass(frozen=True)
class Teller:
    """Says nodes of a shard with their answers."""

    forms: pl.DataFrame
    nodes: pl.DataFrame
    texts: Texts
    videos: Sequence[str]  # [video] its name

    def derived(self, made: Propagation) -> list[str]:
        """The first contradictions between answers that follow from each other."""
        return [self.line(made, clash) for clash in made.contradictions[:MOST]]

    def seen(self, nodes: Array) -> list[str]:
        """The first objects that were labelled absent although facts show them."""
        said = self.said(nodes[:MOST].tolist(), [])
        return [f"{self.place(at)}: {text} (executed) | but not so by {GIVING[LABEL]}" for at, text in said.items()]

    def line(self, made: Propagation, clash: Contradiction) -> str:
        one = made.derivation(clash.node)
        members = [at for at in made.members(clash.parent, clash.label) if at != clash.node]
        other = [step for at in members for step in made.derivation(at)]
        said = self.said([at for at, *_ in one], [at for at, *_ in other])
        first = "; ".join(step(said, at, by) for at, _, by in one)
        if clash.label >= len(VIDEO_DAGS.compositions):
            return f"{self.place(clash.node)}: {first} | but not so by {GIVING[clash.label]}"
        second = "; ".join(dict.fromkeys(step(said, at, by) for at, _, by in other))
        return (
            f"{self.place(clash.node)}: {first} | but not so by {VIDEO_DAGS.compositions[clash.label]} from: {second}"
        )

    def said(self, some: list[int], more: list[int]) -> dict[int, str]:
        """Node -> its text and answer."""
        rows = sorted({*some, *more})
        table = say(self.forms, self.nodes[rows], self.texts, executed=True).select("text", "answer")
        return {at: f"{text} {answer}" for at, (text, answer) in zip(rows, table.iter_rows(), strict=True)}

    def place(self, node: int) -> str:
        return f"video {self.videos[self.nodes['video'][node]]}"


def step(said: dict[int, str], node: int, by: int) -> str:
    names = dict(enumerate(VIDEO_DAGS.compositions)) | GIVEN_BY
    return f"{said[node]} ({names.get(by, 'unknown')})"
