"""The nodes of questions about image sets for whoever answers them."""

from functools import cached_property
from itertools import pairwise
from zlib import crc32

import numpy as np
import polars as pl

from questree.columns.hashing import mix, seed_of
from questree.models.asked import NOT_SEEN, AskedNodes, NodeGroup, Option, parts_of
from questree.program import Array
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.hierarchies import decomposed
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import EDGES, FORMS
from questree.tables.run import Run

ALWAYS = {"yes", "no", "0", "1"}  # words somebody may need although nobody said them


class ImageShard:
    """The decomposed questions of a run."""

    def __init__(self, run: Run):
        self.tables = read_sets(decomposed(run))
        self.nodes = spoken_sets(self.tables, asked=False)

    @cached_property
    def number(self) -> dict[str, int]:
        """Words -> their numbers, by the alphabet."""
        words = {*self.nodes["answer"].drop_nulls(), *self.nodes["word"].drop_nulls()} | ALWAYS
        return {word: at for at, word in enumerate([*sorted(words - {NOT_SEEN}), NOT_SEEN])}

    def asked(self, number: dict[str, int]) -> AskedNodes:
        types = self.nodes["type"]
        truth, about = (self.numbered(name, number) for name in ("answer", "word"))
        scope = self.nodes["set"].to_numpy()
        program = np.array([crc32(text.encode()) for text in self.nodes["program"]], np.uint64)
        return AskedNodes(
            scheme=IMAGE_DAGS,
            number=number,
            groups=list(reversed(self.groups(types, truth, about))),
            types=types,
            said=lambda: spoken_sets(self.tables).select("question"),
            scope=scope.astype(np.int64),
            about=about,
            published=truth,
            known=lambda: truth,
            drawn=lambda seed, purpose: mix(seed_of(seed, purpose), scope, program),
        )

    def numbered(self, name: str, number: dict[str, int]) -> Array:
        words = self.nodes[name].replace_strict(number, default=None, return_dtype=pl.Int64)
        return words.fill_null(NOTHING).to_numpy()

    def groups(self, types: pl.Series, truth: Array, about: Array) -> list[NodeGroup]:
        """By form; words to guess from are all answers to questions of the type."""
        forms = self.tables[FORMS.name]["type"].to_list()
        size = np.bincount(self.tables["nodes"]["form"].to_numpy(), minlength=len(forms))
        ends = np.cumsum(size).tolist()
        rows = [slice(begin, end) for begin, end in pairwise([0, *ends])]
        answers = {type: np.unique(truth[(types == type).to_numpy() & (truth != NOTHING)]) for type in set(forms)}
        parts = parts_of(rows, self.tables[EDGES.name], IMAGE_DAGS)
        found = []
        for type, own, (labels, children) in zip(forms, rows, parts, strict=True):
            options = [Option(about[children[:, at]]) for at, name in enumerate(labels) if is_option(name)]
            many = None if type in IMAGE_DAGS.yes_no else answers[type]
            pair = (options[0], options[1]) if options else None
            found.append(NodeGroup(own, labels, children, many is None, many, pair))
        return found


def is_option(label: str) -> bool:
    """Does a sub-question of this composition stand for an option of its question?"""
    return label in IMAGE_DAGS.rules and IMAGE_DAGS.rules[label].worded == 0
