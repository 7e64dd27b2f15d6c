"""Faithful and plausible visual grounding: does a model rely on what a question needs?"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.cells import OVERALL, Bools, Cell, Column, Floats, How, Tallies, joined, mean_tally, tally
from questree.metrics.scores import Scored
from questree.tables.scored import Grounded, Relevance

CONDITIONS = ("all", "rel", "irrel")
CATEGORIES = ("FPVG+T", "FPVG+F", "FPVG-T", "FPVG-F")


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
    """FPVG = 1 iff the answer with all objects is that with the relevant ones and not that with the irrelevant ones.

    FPVG, section 3.2: FPVG+ is the share of 1, FPVG- the rest; T and F say whether the answer with all objects is
    right, so FPVG+T + FPVG+F + FPVG-T + FPVG-F = 1. Modified FPVG+ (appendix) drops the second condition. A flip is an
    answer that differs from the one with all objects.

    Columns (what, structural, category); a category's column counts its members, passed being all of them.
    """
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


SETS = ("ID", "OOD")
SIGNS = ("FPVG+", "FPVG-")


def count_c2i(model: Grounding, outside: set[str] | None) -> Tallies:
    """c2i = correct / incorrect answers, for FPVG+ and FPVG-; degradation = 1 - c2i of the worse set / of the better.

    FPVG, section 5, Table 4 and Figure 5: from in-distribution to out-of-distribution questions within FPVG+ or FPVG-,
    and from FPVG+ to FPVG- within a set. c2i is a ratio of counts, not a share; nothing incorrect makes it N/A.

    Columns ("c2i", sign, set); without a list of out-of-distribution questions everything is ID.
    """
    out = np.array([id in (outside or set()) for id in model.questions["id"].to_list()], np.int64)
    column = out * len(SIGNS) + (~model.grounded).astype(np.int64)
    names: list[Column] = [("c2i", sign, name) for name in SETS for sign in SIGNS]
    return model.tally(column, model.correct["all"], model.evaluated, names)


def c2i_cells(tallies: Tallies, with_sets: bool) -> list[Cell]:
    def part(sign: str, name: str | None) -> tuple[int, ...]:
        return tuple(
            at for at, column in enumerate(tallies.columns) if column[:2] == ("c2i", sign) and name in (None, column[2])
        )

    cells = [Cell("c2i", "all", sign, (part(sign, None),), "odds") for sign in SIGNS]
    if with_sets:
        cells += [Cell("c2i", name, sign, (part(sign, name),), "odds") for name in SETS for sign in SIGNS]
        cells += [Cell("degradation", "ID to OOD", s, (part(s, "ID"), part(s, "OOD")), "odds drop") for s in SIGNS]
    cells += [
        Cell("degradation", "FPVG+ to FPVG-", name or OVERALL, (part("FPVG+", name), part("FPVG-", name)), "odds drop")
        for name in [*(SETS if with_sets else ()), None]
    ]
    return cells


SUFFICIENT, BAD, GOOD = 0.01, 0.2, 0.4
METRICS = ("sufficiency", "comprehensiveness")
LEVELS = ("good", "medium", "bad")
SHARES = ("sufficient", "comprehensive", "not comprehensive", "best", "worst")


def count_faithfulness(model: Grounding) -> Tallies | None:
    """Sufficiency = p_all - p_rel, comprehensiveness = p_all - p_irrel, p of the class predicted with all objects.

    DeYoung et al. 2020 as used in FPVG, section 3.4 and Figure 3: sufficiency is good below 0.01; comprehensiveness is
    bad below 0.2 and good from 0.4 on. Best has both good; worst is neither sufficient nor better than bad. Figure 4:
    how often the answer flips within a category.

    Columns (metric,); None when no question has its three probabilities.
    """
    p = model.probability
    drops = (p["all"] - p["rel"], p["all"] - p["irrel"])
    rows = model.evaluated & ~np.isnan(drops[0]) & ~np.isnan(drops[1])
    if not rows.any():
        return None
    sufficiency, comprehensiveness = (drop[rows] for drop in drops)
    image, images = model.image[rows], len(model.images)
    parts = [
        mean_tally(image, value, images, (name,))
        for name, value in zip(METRICS, (sufficiency, comprehensiveness), strict=True)
    ]
    enough, bad, good = sufficiency < SUFFICIENT, comprehensiveness < BAD, comprehensiveness >= GOOD
    for name, flag in zip(SHARES, (enough, good, bad, enough & good, ~enough & bad), strict=True):
        names: list[Column] = [(name,)]
        parts.append(tally(image, np.zeros(len(image), np.int64), flag, images, names))
    flips = (
        ("flip rel", "sufficiency", np.where(enough, 0, 1), ("good", "bad"), ~model.same_rel[rows]),
        ("flip irrel", "comprehensiveness", np.where(good, 0, np.where(bad, 2, 1)), LEVELS, ~model.same_irrel[rows]),
    )
    for metric, by, level, levels, flipped in flips:
        parts.append(tally(image, level, flipped, images, [(metric, by, one) for one in levels]))
    return joined(parts)


def faithfulness_cells(tallies: Tallies) -> list[Cell]:
    at = {column: number for number, column in enumerate(tallies.columns)}
    means = [Cell(name, "all", OVERALL, ((at[name,],),)) for name in (*METRICS, *SHARES)]
    flips = [
        Cell(metric, by, level, (tuple(at[c] for c in [(metric, by, level)] if c in at),))
        for metric, by, levels in (("flip rel", METRICS[0], LEVELS[::2]), ("flip irrel", METRICS[1], LEVELS))
        for level in levels
    ]
    return means + flips


SIDES = ("relevant", "irrelevant")


def match(importance: list[float], wanted: tuple[int, ...]) -> float:
    """The share of the most important detections that are wanted ones; of equal importance the first goes first."""
    top = np.argsort(-np.asarray(importance, np.float64), kind="stable")[: len(wanted)]
    return len(set(top.tolist()) & set(wanted)) / len(wanted)


def count_ranking(model: Grounding, found: list[Relevance], importance: dict[str, list[float]]) -> Tallies:
    """Ranking match: |top N by importance and relevant| / N, N relevant objects; the same with M irrelevant ones.

    FPVG, section 3.3, Table 1 and appendix D.2, averaged over FPVG+ and over FPVG- questions.

    Columns ("ranking", side, FPVG+ or FPVG-).
    """
    ids = model.questions["id"].to_list()
    scores = {side: np.full(len(ids), np.nan) for side in SIDES}
    for at in np.flatnonzero(model.evaluated).tolist():
        if ids[at] in importance:
            for side in SIDES:
                scores[side][at] = match(importance[ids[at]], getattr(found[at], side))
    return joined(
        [
            mean_tally(model.image[rows], scores[side][rows], len(model.images), ("ranking", side, sign))
            for side in SIDES
            for sign, rows in (("FPVG+", model.grounded), ("FPVG-", ~model.grounded))
        ]
    )


def ranking_cells(tallies: Tallies) -> list[Cell]:
    at = [(number, column) for number, column in enumerate(tallies.columns) if column[0] == "ranking"]
    return [
        Cell("ranking match", side, group, (tuple(n for n, c in at if c[1] == side and group in (c[2], OVERALL)),))
        for side in SIDES
        for group in ("FPVG+", "FPVG-", OVERALL)
    ]


def score_fpvg(
    grounded: Grounded,
    found: list[Relevance],
    answers: dict[str, pl.DataFrame],
    skip_missing: bool = False,
    outside: set[str] | None = None,
    importance: dict[str, list[float]] | None = None,
) -> Scored:
    """`answers`: all, rel, irrel -> table id, prediction[, probability]; `outside`: ids out of distribution."""
    model = grounding(grounded, found, answers, skip_missing)
    faithful = count_faithfulness(model)
    parts = [count_grounding(model), count_c2i(model, outside)]
    parts += [faithful] if faithful is not None else []
    parts += [count_ranking(model, found, importance)] if importance is not None else []
    tallies = joined(parts)
    cells = grounding_cells(tallies, model.structures)
    cells += c2i_cells(tallies, outside is not None)
    cells += faithfulness_cells(tallies) if faithful is not None else []
    cells += ranking_cells(tallies) if importance is not None else []
    return Scored(tallies, cells)
