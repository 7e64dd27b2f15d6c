"""The question-only bot: what words give away, learnt from training videos alone."""

from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from questree.faults import BadInput
from questree.models.asked import AskedNodes
from questree.models.blind import ANSWERS, BlindReader, common, learn, look, read
from questree.rules import VIDEO_DAGS
from questree.tables.hierarchies import NOTHING
from questree.terms import Array

NUMBER = {"no": 0, "yes": 1, "cup": 2, "bed": 3, "nothing": 4}
Node = tuple[str, str, str, bool, bool]  # text, sort, published answer, of train, a question


def asked(*nodes: Node) -> AskedNodes:
    names = ("text", "sort", "answer", "train", "top")
    table = pl.DataFrame(dict(zip(names, map(list, zip(*nodes, strict=True)), strict=True)))
    said = np.array([NUMBER.get(word, NOTHING) for word in table["answer"]])

    def drawn(seed: int, purpose: str) -> Array:
        return np.arange(len(nodes), dtype=np.uint64)

    unused: dict[str, Any] = {"said": pl.DataFrame, "known": lambda: said, "groups": [], "about": said}
    spoken = table.drop("answer")
    return AskedNodes(
        VIDEO_DAGS,
        NUMBER,
        types=table["sort"],
        scope=said,
        published=said,
        spoken=lambda: spoken,
        drawn=drawn,
        **unused,
    )


TRAIN: list[Node] = [
    *[("What did they drink from?", "object", "cup", True, True), ("Where did they lie?", "object", "bed", True, True)]
    * 9,
    *[("Did they sit?", "yes or no", "yes", True, False), ("Did they sit?", "yes or no", "no", True, True)] * 9,
]
TEST: list[Node] = [
    ("What did they drink from last?", "object", "bed", False, True),
    ("Did they sit?", "yes or no", "no", False, False),
    ("Did they sit?", "yes or no", "yes", False, True),
    ("Which action was first?", "action", "cup", False, True),
]


def learnt(shards: list[AskedNodes], seed: int) -> BlindReader:
    """As workers do it: what every shard tells is a file."""
    with TemporaryDirectory() as made:
        files = [f"{made}/{at}.arrow" for at in range(len(shards))]
        for file, shard in zip(files, shards, strict=True):
            look(SimpleNamespace(asked=lambda _, own=shard: own), "", seed).write_ipc(file)
        learn(files, Path(made))
        return read(Path(made))


def test_words_give_answers_away_and_questions_are_learnt_apart_from_their_parts() -> None:
    reader = learnt([asked(*TRAIN), asked(*TEST)], seed=0)
    said = [name for at in reader.answers(asked(*TEST)) for name, number in NUMBER.items() if number == at]
    assert said == ["cup", "yes", "no", "nothing"]  # nobody learnt to name an action


def test_nothing_of_test_is_learnt() -> None:
    other: list[Node] = [(text, sort, "nothing", train, top) for text, sort, _, train, top in TEST]
    readers = [learnt([asked(*TRAIN), asked(*nodes)], seed=0) for nodes in (TEST, other)]
    first, second = (reader.answers(asked(*TEST, *TRAIN)) for reader in readers)
    assert (first == second).all()
    with pytest.raises(BadInput, match="expected questions of train to learn from, got none"):
        learnt([asked(*TEST)], seed=0)


def test_answers_that_are_not_published_are_not_learnt() -> None:
    hidden: list[Node] = [("Did they sit?", "yes or no", "?", True, False)] * 30
    shown, other = learnt([asked(*TRAIN)], seed=0), learnt([asked(*TRAIN, *hidden)], seed=0)
    assert (shown.answers(asked(*TEST)) == other.answers(asked(*TEST))).all()


def test_the_rarest_answers_of_a_sort_are_left_out() -> None:
    words = [*range(ANSWERS + 5), *range(ANSWERS)]
    table = pl.DataFrame({"sort": ["object"] * len(words), "word": words})
    assert common(table)["word"].to_list() == [*range(ANSWERS)] * 2
