"""The questions of a run about image sets as COVR's tables score them, and what a stored model answers to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.covr.splits import PATTERNS
from questree.metrics.bootstrap import Resampling
from questree.metrics.dags.answered import Missing
from questree.metrics.scores import Score
from questree.metrics.sets.accuracy import score_covr
from questree.metrics.sets.majority import majority
from questree.stages.split.shots import selected
from questree.tables.hierarchies import NOTHING
from questree.tables.image_nodes import NODES, TOPS
from questree.tables.images import IMAGES
from questree.tables.predictions import IMAGE_SETS, Stored
from questree.tables.run import Run

TEMPLATES = list(PATTERNS)


@dataclass(frozen=True)
class ImageQuestions:
    asked: pl.DataFrame  # id, answer, image, template: those that are scored
    learnt: pl.DataFrame  # the same of train
    node: NDArray[np.int64]  # [question] its node, NOTHING if it is not decomposed
    nodes: int
    unit: ClassVar[str] = "images"  # what is resampled

    def rows(
        self, model: str, stored: Stored, words: Sequence[str], missing: Missing, how: Resampling | None
    ) -> list[Score]:
        """Accuracy by template; `words`: how the stored ones are understood."""
        word = np.append(stored.shard(IMAGE_SETS, self.nodes), NOTHING)[self.node]
        there = pl.Series(word != NOTHING)
        given = pl.Series(words, dtype=pl.String).gather(pl.Series(word).filter(there))
        said = pl.DataFrame({"id": self.asked["id"].filter(there), "prediction": given})
        return score_covr(self.asked, said, TEMPLATES, missing == "skip").rows(model, how)

    def baseline(self, how: Resampling | None) -> list[Score]:
        """MAJ and MAJTEMPL, if there is something to learn from."""
        found = majority(self.learnt, self.asked) if len(self.learnt) else {}
        return [row for name, said in found.items() for row in score_covr(self.asked, said, TEMPLATES).rows(name, how)]


def image_questions(run: Run, split: str | None) -> ImageQuestions:
    """The balanced selection, if there is one; of a split, or all."""
    table = selected(run)
    names = IMAGES.read(run.images)["id"]
    table = table.with_columns(image=names.gather(table["images"].list.first().fill_null(0)))
    columns = ["id", "answer", "image", "template"]
    asked = (table if split is None else table.filter(pl.col("split") == split)).select(columns)
    learnt = table.filter(pl.col("split") == "train").select(columns)
    folder, node, nodes = run.covr / "decomposed", np.full(len(asked), NOTHING, np.int64), 0
    if folder.is_dir():
        place = asked.select("id").join(TOPS.read(folder), on="id", how="left", maintain_order="left")["node"]
        node = place.cast(pl.Int64).fill_null(NOTHING).to_numpy()
        nodes = len(NODES.read(folder))
    return ImageQuestions(asked, learnt, node, nodes)
