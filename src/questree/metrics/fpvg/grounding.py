"""FPVG = 1 iff the answer with all objects is that with the relevant ones and not that with the irrelevant ones.

FPVG, section 3.2: FPVG+ is the share of 1, FPVG- the rest; T and F say whether the answer with all objects is right, so
FPVG+T + FPVG+F + FPVG-T + FPVG-F = 1. Modified FPVG+ (appendix) drops the second condition. A flip is an answer that
differs from the one with all objects.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.cells import Cell, How
from questree.metrics.tallies import Column, Floats, Tallies, joined, tally
from questree.tables.scored import Grounded, Relevance

OVERALL = "Overall"
CONDITIONS = ("all", "rel", "irrel")
CATEGORIES = ("FPVG+T", "FPVG+F", "FPVG-T", "FPVG-F")
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Grounding:
    """Three answers per question; arrays are [question]."""

    questions: pl.DataFrame
    images: list[str]
    image: NDArray[np.int64]
    evaluated: Bools  # both sets have a member and all three answers are there
    told: Bools  # has all three answers
    correct: dict[str, Bools]  # condition -> right
    same_rel: Bools
    same_irrel: Bools
    probability: dict[str, Floats]  # condition -> of the answer given with all objects, NaN if not said

    @property
    def grounded(self) -> Bools:
        return self.same_rel & ~self.same_irrel

    @property
    def structures(self) -> list[str]:
        return sorted(set(self.questions["structural"].to_list()) - {""})

    def tally(self, column: NDArray[np.int64], passed: Bools, rows: Bools, names: list[Column]) -> Tallies:
        return tally(self.image[rows], column[rows], passed[rows], len(self.images), names)


def grounding(
    grounded: Grounded, found: list[Relevance], answers: dict[str, pl.DataFrame], skip_missing: bool
) -> Grounding:
    """`answers` maps all, rel, irrel to tables id, prediction and perhaps probability."""
    asked = grounded.questions
    said = {name: _said(asked, answers[name]) for name in CONDITIONS}
    told = np.ones(len(asked), bool)
    if skip_missing:
        for table in said.values():
            told &= table["prediction"].is_not_null().to_numpy()
    text = {name: table["prediction"] for name, table in said.items()}
    images = asked["image"].unique(maintain_order=True).to_list()
    place = {image: at for at, image in enumerate(images)}
    return Grounding(
        questions=asked,
        images=images,
        image=np.array([place[image] for image in asked["image"].to_list()], np.int64),
        evaluated=np.array([not one.left_out for one in found], bool) & told,
        told=told,
        correct={name: _equal(text[name], asked["answer"]) for name in CONDITIONS},
        same_rel=_equal(text["all"], text["rel"]),
        same_irrel=_equal(text["all"], text["irrel"]),
        probability={name: said[name]["probability"].fill_null(float("nan")).to_numpy() for name in CONDITIONS},
    )


def _said(asked: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    if "probability" not in answers.columns:
        answers = answers.with_columns(probability=pl.lit(None, pl.Float64))
    columns = ["id", "prediction", "probability"]
    return asked.select("id").join(answers.select(columns), on="id", how="left", maintain_order="left")


def _equal(first: pl.Series, second: pl.Series) -> Bools:
    """An answer that is not there equals nothing."""
    return np.asarray((first == second).fill_null(False).to_numpy(), bool)


def count_grounding(model: Grounding) -> Tallies:
    """Columns (what, structural, category); a category's column counts its members, passed being all of them."""
    kinds = [*model.structures, ""]
    kind = np.array([kinds.index(name) for name in model.questions["structural"].to_list()], np.int64)
    parts, every = [], model.evaluated
    flags = {
        "FPVG": model.grounded,
        "modified FPVG": model.same_rel,
        "flip rel": ~model.same_rel,
        "flip irrel": ~model.same_irrel,
        **{f"Acc_{name}": model.correct[name] for name in CONDITIONS},
        **{
            category: (model.grounded == ("+" in category)) & (model.correct["all"] == category.endswith("T"))
            for category in CATEGORIES
        },
    }
    for what, flag in flags.items():
        parts.append(model.tally(kind, flag, every, [(what, name) for name in kinds]))
    for name in CONDITIONS:
        parts.append(model.tally(0 * kind, model.correct[name], model.told, [("everything", name)]))
    return joined(parts)


def grounding_cells(tallies: Tallies, structures: list[str]) -> list[Cell]:
    """By all and by structural type; the accuracies also over everything, evaluated or not."""
    metrics = {"FPVG+": "FPVG", "FPVG-": "FPVG", **{name: name for name in CATEGORIES}}
    metrics |= {f"Acc_{name}": f"Acc_{name}" for name in CONDITIONS}
    metrics |= {name: name.removesuffix("+") for name in ("modified FPVG+", "flip rel", "flip irrel")}
    cells = []
    for by, groups in (("all", [OVERALL]), ("structural", [*structures, OVERALL])):
        for metric, what in metrics.items():
            how: How = "rest" if metric == "FPVG-" else "ratio"
            for group in groups:
                part = tuple(at for at, c in enumerate(tallies.columns) if c[0] == what and group in (c[1], OVERALL))
                cells.append(Cell(metric, by, group, (part,), how))
    for name in CONDITIONS:
        part = tuple(at for at, c in enumerate(tallies.columns) if c == ("everything", name))
        cells.append(Cell(f"Acc_{name}", "everything", OVERALL, (part,)))
    return cells
