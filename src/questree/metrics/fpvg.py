"""Faithful and plausible visual grounding: does a model rely on what a question needs?"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from questree.metrics.catalogue import Metric, placed, scored
from questree.metrics.cells import How
from questree.metrics.scores import Scored

CONDITIONS = ("all", "rel", "irrel")
SETS = ("ID", "OOD")
SIGNS, MODIFIED = ("FPVG+", "FPVG-"), ("modified FPVG+", "modified FPVG-")
SIDES = ("relevant", "irrelevant")
CATEGORIES = (  # column, what it is of, its levels
    ("sufficient", "sufficiency", ("good", "bad")),
    ("comprehensive", "comprehensiveness", ("good", "medium", "bad")),
)
SHARE = "questions / evaluated questions"
ENOUGH = pl.col("sufficiency") < 0.01
BAD_COMPREHENSIVE, COMPREHENSIVE = pl.col("comprehensiveness") < 0.2, pl.col("comprehensiveness") >= 0.4
GROUNDED, SAME_REL, SAME_IRREL, EVALUATED = map(pl.col, ("grounded", "same_rel", "same_irrel", "evaluated"))
RIGHT = {name: pl.col(f"correct_{name}") for name in CONDITIONS}


def score_fpvg(
    asked: pl.DataFrame,
    found: pl.DataFrame,
    answers: dict[str, pl.DataFrame],
    skip_missing: bool = False,
    outside: set[str] | None = None,
    importance: dict[str, list[float]] | None = None,
) -> Scored:
    """`asked`: GROUNDED, `found`: RELEVANCE; `answers`: all, rel, irrel -> table id, prediction[, probability].

    `outside`: ids out of distribution.
    """
    table, images = questions_of(asked, found["left_out"] == "", answers, skip_missing)
    ids = table["id"]
    table = table.with_columns(set=ids.is_in(list(outside or ())).replace_strict({False: "ID", True: "OOD"}))
    metrics = [*grounding_metrics(outside is not None), *degradation_metrics(outside is not None)]
    with_probabilities = table["sufficiency"].count() > 0
    if with_probabilities:
        metrics += faithfulness_metrics()
    if importance is not None:
        metrics += ranking_metrics(with_probabilities)
        table = table.with_columns(**matches(ids, found, table["evaluated"], importance))
    return scored(table, images, metrics)


def questions_of(
    asked: pl.DataFrame, comparable: pl.Series, answers: dict[str, pl.DataFrame], skip_missing: bool
) -> tuple[pl.DataFrame, int]:
    """Every question with its three answers, and how many images there are.

    It is `evaluated` if it has relevant and irrelevant objects and, where missing answers are skipped, is `told` all
    three; an answer that is not there equals nothing. Probabilities are of the answer given with all objects.
    """
    table, images = placed(asked)
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
        evaluated=comparable & told,
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
        modified_sign=pl.when(SAME_REL).then(pl.lit(MODIFIED[0])).otherwise(pl.lit(MODIFIED[1])),
        sufficient=pl.when(ENOUGH).then(pl.lit("good")).otherwise(pl.lit("bad")),
        comprehensive=pl.when(COMPREHENSIVE).then(pl.lit("good")).otherwise(middle),
    ), images


def grounding_metrics(with_sets: bool) -> Iterator[Metric]:
    """FPVG = 1 iff the answer with all objects is that with the relevant ones and not that with the irrelevant ones.

    FPVG, section 3.2: FPVG+ is the share of 1, FPVG- the rest; T and F say whether the answer with all objects is
    right, so FPVG+T + FPVG+F + FPVG-T + FPVG-F = 1. Modified FPVG+ (appendix) drops the second condition. A flip is an
    answer that differs from the one with all objects. By all and by structural type; the accuracies also over
    everything, evaluated or not. Tables 3 and 6: Acc_all, FPVG+ and modified FPVG+ of the questions in distribution and
    of those out of it.
    """
    flags = {
        "FPVG+": GROUNDED,
        "FPVG-": GROUNDED,
        "FPVG+T": GROUNDED & RIGHT["all"],
        "FPVG+F": GROUNDED & ~RIGHT["all"],
        "FPVG-T": ~GROUNDED & RIGHT["all"],
        "FPVG-F": ~GROUNDED & ~RIGHT["all"],
        **{f"Acc_{name}": right for name, right in RIGHT.items()},
        MODIFIED[0]: SAME_REL,
        "flip rel": ~SAME_REL,
        "flip irrel": ~SAME_IRREL,
    }
    for by in ("", "structural"):
        for name, flag in flags.items():
            how: How = "rest" if name == "FPVG-" else "ratio"
            yield Metric(name, SHARE, pl.when(EVALUATED).then(flag), by, how)
    for name, right in RIGHT.items():
        yield Metric(f"Acc_{name}", "right / asked", pl.when("told").then(right), called="everything")
    for name in ("Acc_all", SIGNS[0], MODIFIED[0]) if with_sets else ():
        yield Metric(name, SHARE, pl.when(EVALUATED).then(flags[name]), "set", listed=SETS, overall=False)


def degradation_metrics(with_sets: bool) -> Iterator[Metric]:
    """c2i = correct / incorrect answers, for FPVG+ and FPVG-; degradation = 1 - c2i of the worse set / of the better.

    FPVG, section 4.4, Table 4, Figure 5: from questions in distribution (ID) to those out of it (OOD) within FPVG+ or
    FPVG-, and from FPVG+ to FPVG- within a set; appendix, Table 7 and Figure 6: the same with modified FPVG. c2i is a
    ratio of counts, not a share; nothing incorrect makes it N/A. Without a list of questions out of distribution there
    are no sets.
    """
    right, odds, drop = pl.when(EVALUATED).then(RIGHT["all"]), "correct / incorrect", "1 - c2i of the worse / better"
    sets = {name: pl.when(pl.col("set") == name).then(right) for name in SETS}
    for by, signs in (("sign", SIGNS), ("modified_sign", MODIFIED)):
        for name, own in {"all": right, **(sets if with_sets else {})}.items():
            yield Metric("c2i", odds, own, by, "odds", listed=signs, overall=False, called=name)
        if with_sets:
            both, called = tuple(sets.values()), "ID to OOD"
            yield Metric(
                "degradation", drop, both, by, "odds drop", listed=signs, overall=False, called=called, pooled=True
            )
        parts = tuple(pl.when(pl.col(by) == name).then(right) for name in signs)
        rows, listed = ("set", SETS) if with_sets else ("", ())
        yield Metric(
            "degradation", drop, parts, rows, "odds drop", listed=listed, called=" to ".join(signs), pooled=True
        )


def faithfulness_metrics() -> Iterator[Metric]:
    """Sufficiency = p_all - p_rel, comprehensiveness = p_all - p_irrel, p of the class predicted with all objects.

    DeYoung et al. 2020 as used in FPVG, section 3.4 and Figure 3: sufficiency is good below 0.01; comprehensiveness is
    bad below 0.2 and good from 0.4 on. Best has both good, worst both bad, and alone is one good and the other bad.
    Figure 4: how often the answer flips within a category.
    """
    shares = {
        "sufficient": ENOUGH,
        "comprehensive": COMPREHENSIVE,
        "not comprehensive": BAD_COMPREHENSIVE,
        "best": ENOUGH & COMPREHENSIVE,
        "worst": ~ENOUGH & BAD_COMPREHENSIVE,
        "sufficient alone": ENOUGH & BAD_COMPREHENSIVE,
        "comprehensive alone": ~ENOUGH & COMPREHENSIVE,
    }
    yield Metric("sufficiency", "mean of p_all - p_rel", pl.col("sufficiency"))
    yield Metric("comprehensiveness", "mean of p_all - p_irrel", pl.col("comprehensiveness"))
    for name, flag in shares.items():
        yield Metric(name, "questions / questions with probabilities", flag)
    flips = (("flip rel", SAME_REL), ("flip irrel", SAME_IRREL))
    for (by, called, levels), (name, same) in zip(CATEGORIES, flips, strict=True):
        flipped = pl.when(pl.col(called).is_not_null()).then(~same)
        yield Metric(name, "flipped / questions", flipped, by, listed=levels, overall=False, called=called)


def ranking_metrics(with_probabilities: bool) -> Iterator[Metric]:
    """Ranking match: |top N by importance and relevant| / N, N relevant objects; the same with M irrelevant ones.

    FPVG, section 3.3, Table 1 and appendix D.2, averaged over FPVG+ and over FPVG- questions; Figure 3, right: over
    those that are good or bad in sufficiency and in comprehensiveness.
    """
    for side in SIDES:
        formula = f"{side} among the top N / N"
        yield Metric("ranking match", formula, pl.col(side), "sign", listed=SIGNS, called=side)
        for by, called, levels in CATEGORIES if with_probabilities else ():
            own = pl.when(pl.col(called).is_not_null()).then(pl.col(side))
            label = f"{side}, {called}"
            yield Metric("ranking match", formula, own, by, listed=levels, overall=False, called=label)


def matches(
    ids: pl.Series, found: pl.DataFrame, evaluated: pl.Series, importance: dict[str, list[float]]
) -> dict[str, pl.Series]:
    """[question] the ranking match of either side; null where it is not evaluated or has no importance."""
    return {
        side: pl.Series(
            [
                match(importance[id], wanted) if here and id in importance else None
                for id, wanted, here in zip(ids, found[side].to_list(), evaluated, strict=True)
            ],
            dtype=pl.Float64,
        )
        for side in SIDES
    }


def match(importance: list[float], wanted: list[int]) -> float:
    """The share of the most important detections that are wanted ones; of equal importance the first goes first."""
    top = np.argsort(-np.asarray(importance, np.float64), kind="stable")[: len(wanted)]
    return len(set(top.tolist()) & set(wanted)) / len(wanted)
