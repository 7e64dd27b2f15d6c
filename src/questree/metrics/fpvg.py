"""Faithful and plausible visual grounding: does a model rely on what a question needs?"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from questree.metrics.catalogue import Metric, placed, scored
from questree.metrics.cells import How
from questree.metrics.scores import Scored
from questree.tables.scored import Grounded, Relevance

CONDITIONS = ("all", "rel", "irrel")
SETS = ("ID", "OOD")
SIGNS = ("FPVG+", "FPVG-")
SIDES = ("relevant", "irrelevant")
LEVELS = ("good", "medium", "bad")
ENOUGH = pl.col("sufficiency") < 0.01
BAD_COMPREHENSIVE, COMPREHENSIVE = pl.col("comprehensiveness") < 0.2, pl.col("comprehensiveness") >= 0.4
GROUNDED, SAME_REL, SAME_IRREL, EVALUATED = map(pl.col, ("grounded", "same_rel", "same_irrel", "evaluated"))
RIGHT = {name: pl.col(f"correct_{name}") for name in CONDITIONS}


def score_fpvg(
    grounded: Grounded,
    found: list[Relevance],
    answers: dict[str, pl.DataFrame],
    skip_missing: bool = False,
    outside: set[str] | None = None,
    importance: dict[str, list[float]] | None = None,
) -> Scored:
    """`answers`: all, rel, irrel -> table id, prediction[, probability]; `outside`: ids out of distribution."""
    table, images = questions_of(grounded, found, answers, skip_missing)
    ids = table["id"]
    table = table.with_columns(set=ids.is_in(list(outside or ())).replace_strict({False: "ID", True: "OOD"}))
    metrics = [*grounding_metrics(), *degradation_metrics(outside is not None)]
    if table["sufficiency"].count():
        metrics += faithfulness_metrics()
    if importance is not None:
        metrics += ranking_metrics()
        for side in SIDES:
            match_of = [
                match(importance[id], getattr(one, side)) if here and id in importance else None
                for id, one, here in zip(ids.to_list(), found, table["evaluated"].to_list(), strict=True)
            ]
            table = table.with_columns(pl.Series(side, match_of, pl.Float64))
    return scored(table, images, metrics)


def questions_of(
    grounded: Grounded, found: list[Relevance], answers: dict[str, pl.DataFrame], skip_missing: bool
) -> tuple[pl.DataFrame, int]:
    """Every question with its three answers, and how many images there are.

    It is `evaluated` if it has relevant and irrelevant objects and, where missing answers are skipped, is `told` all
    three; an answer that is not there equals nothing. Probabilities are of the answer given with all objects.
    """
    table, images = placed(grounded.questions)
    for name in CONDITIONS:
        known = "probability" in answers[name].columns
        probability = pl.col("probability").fill_nan(None) if known else pl.lit(None, pl.Float64)
        said = answers[name].select("id", probability.alias(f"p_{name}"), pl.col("prediction").alias(f"said_{name}"))
        table = table.join(said, on="id", how="left", maintain_order="left")
    said_all = pl.all_horizontal(*(pl.col(f"said_{name}").is_not_null() for name in CONDITIONS))
    told = said_all if skip_missing else pl.lit(True)
    drops = [pl.col("p_all") - pl.col("p_rel"), pl.col("p_all") - pl.col("p_irrel")]
    table = table.with_columns(
        told=told,
        evaluated=pl.Series([not one.left_out for one in found], dtype=pl.Boolean) & told,
        same_rel=(pl.col("said_all") == pl.col("said_rel")).fill_null(False),
        same_irrel=(pl.col("said_all") == pl.col("said_irrel")).fill_null(False),
        **{f"correct_{name}": (pl.col(f"said_{name}") == pl.col("answer")).fill_null(False) for name in CONDITIONS},
    )
    both = EVALUATED & drops[0].is_not_null() & drops[1].is_not_null()
    table = table.with_columns(
        grounded=SAME_REL & ~SAME_IRREL,
        sufficiency=pl.when(both).then(drops[0]),
        comprehensiveness=pl.when(both).then(drops[1]),
    )
    middle = pl.when(BAD_COMPREHENSIVE).then(pl.lit("bad")).otherwise(pl.lit("medium"))
    return table.with_columns(
        sign=pl.when(GROUNDED).then(pl.lit(SIGNS[0])).otherwise(pl.lit(SIGNS[1])),
        sufficient=pl.when(ENOUGH).then(pl.lit("good")).otherwise(pl.lit("bad")),
        comprehensive=pl.when(COMPREHENSIVE).then(pl.lit("good")).otherwise(middle),
    ), images


def grounding_metrics() -> Iterator[Metric]:
    """FPVG = 1 iff the answer with all objects is that with the relevant ones and not that with the irrelevant ones.

    FPVG, section 3.2: FPVG+ is the share of 1, FPVG- the rest; T and F say whether the answer with all objects is
    right, so FPVG+T + FPVG+F + FPVG-T + FPVG-F = 1. Modified FPVG+ (appendix) drops the second condition. A flip is an
    answer that differs from the one with all objects. By all and by structural type; the accuracies also over
    everything, evaluated or not.
    """
    flags = {
        "FPVG+": GROUNDED,
        "FPVG-": GROUNDED,
        "FPVG+T": GROUNDED & RIGHT["all"],
        "FPVG+F": GROUNDED & ~RIGHT["all"],
        "FPVG-T": ~GROUNDED & RIGHT["all"],
        "FPVG-F": ~GROUNDED & ~RIGHT["all"],
        **{f"Acc_{name}": right for name, right in RIGHT.items()},
        "modified FPVG+": SAME_REL,
        "flip rel": ~SAME_REL,
        "flip irrel": ~SAME_IRREL,
    }
    for by in ("", "structural"):
        for name, flag in flags.items():
            how: How = "rest" if name == "FPVG-" else "ratio"
            yield Metric(name, "questions / evaluated questions", pl.when(EVALUATED).then(flag), by, how)
    for name, right in RIGHT.items():
        yield Metric(f"Acc_{name}", "right / asked", pl.when("told").then(right), called="everything")


def degradation_metrics(with_sets: bool) -> Iterator[Metric]:
    """c2i = correct / incorrect answers, for FPVG+ and FPVG-; degradation = 1 - c2i of the worse set / of the better.

    FPVG, section 5, Table 4 and Figure 5: from in-distribution to out-of-distribution questions within FPVG+ or FPVG-,
    and from FPVG+ to FPVG- within a set. c2i is a ratio of counts, not a share; nothing incorrect makes it N/A. Without
    a list of out-of-distribution questions there are no sets.
    """
    right, odds, drop = pl.when(EVALUATED).then(RIGHT["all"]), "correct / incorrect", "1 - c2i of the worse / better"
    sets = {name: pl.when(pl.col("set") == name).then(right) for name in SETS}
    signs = tuple(pl.when(pl.col("sign") == name).then(right) for name in SIGNS)
    yield Metric("c2i", odds, right, "sign", "odds", listed=SIGNS, overall=False, called="all")
    if with_sets:
        for name, own in sets.items():
            yield Metric("c2i", odds, own, "sign", "odds", listed=SIGNS, overall=False, called=name)
        both, called = tuple(sets.values()), "ID to OOD"
        yield Metric(
            "degradation", drop, both, "sign", "odds drop", listed=SIGNS, overall=False, called=called, pooled=True
        )
    by, listed = ("set", SETS) if with_sets else ("", ())
    yield Metric("degradation", drop, signs, by, "odds drop", listed=listed, called="FPVG+ to FPVG-", pooled=True)


def faithfulness_metrics() -> Iterator[Metric]:
    """Sufficiency = p_all - p_rel, comprehensiveness = p_all - p_irrel, p of the class predicted with all objects.

    DeYoung et al. 2020 as used in FPVG, section 3.4 and Figure 3: sufficiency is good below 0.01; comprehensiveness is
    bad below 0.2 and good from 0.4 on. Best has both good; worst is neither sufficient nor better than bad. Figure 4:
    how often the answer flips within a category.
    """
    shares = {
        "sufficient": ENOUGH,
        "comprehensive": COMPREHENSIVE,
        "not comprehensive": BAD_COMPREHENSIVE,
        "best": ENOUGH & COMPREHENSIVE,
        "worst": ~ENOUGH & BAD_COMPREHENSIVE,
    }
    yield Metric("sufficiency", "mean of p_all - p_rel", pl.col("sufficiency"))
    yield Metric("comprehensiveness", "mean of p_all - p_irrel", pl.col("comprehensiveness"))
    for name, flag in shares.items():
        yield Metric(name, "questions / questions with probabilities", flag)
    for name, by, called, levels, same in (
        ("flip rel", "sufficient", "sufficiency", LEVELS[::2], SAME_REL),
        ("flip irrel", "comprehensive", "comprehensiveness", LEVELS, SAME_IRREL),
    ):
        flipped = pl.when(pl.col(called).is_not_null()).then(~same)
        yield Metric(name, "flipped / questions", flipped, by, listed=levels, overall=False, called=called)


def ranking_metrics() -> Iterator[Metric]:
    """Ranking match: |top N by importance and relevant| / N, N relevant objects; the same with M irrelevant ones.

    FPVG, section 3.3, Table 1 and appendix D.2, averaged over FPVG+ and over FPVG- questions.
    """
    for side in SIDES:
        yield Metric("ranking match", f"{side} among the top N / N", pl.col(side), "sign", listed=SIGNS, called=side)


def match(importance: list[float], wanted: tuple[int, ...]) -> float:
    """The share of the most important detections that are wanted ones; of equal importance the first goes first."""
    top = np.argsort(-np.asarray(importance, np.float64), kind="stable")[: len(wanted)]
    return len(set(top.tolist()) & set(wanted)) / len(wanted)
