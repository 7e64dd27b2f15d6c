"""The FPVG paper's tables of scores: models down, and what stands across."""

from collections.abc import Mapping
from typing import NamedTuple

from questree.metrics.fpvg import CATEGORIES, MODIFIED, SETS, SIDES, SIGNS

ScoreName = tuple[str, str, str]  # metric, by, group
Heading = tuple[str, str]  # above several columns, of one
SHARES = ("FPVG+T", "FPVG+F", "FPVG-T", "FPVG-F")
MAIN: dict[Heading, ScoreName] = {
    ("", "Acc"): ("Acc_all", "everything", "Overall"),
    **{("", name): (name, "all", "Overall") for name in ("Acc_all", "Acc_rel", "Acc_irrel", *SHARES, "FPVG+")},
}
RATIOS: dict[Heading, ScoreName] = {("", sign): ("c2i", "all", sign) for sign in SIGNS}
BOXES: dict[Heading, ScoreName] = {
    ("", "most"): ("most boxes", "detector", "all"),
    **{("", group): ("boxes", "detector", group) for group in ("all", *SIDES)},
}


class ModelTable(NamedTuple):
    name: str
    title: str
    columns: Mapping[Heading, ScoreName]


def in_and_out(sign: str) -> dict[Heading, ScoreName]:
    """Tables 3 and 6."""
    both = (("Accuracy", "Acc_all"), (sign, sign))
    return {(over, group): (name, "set", group) for over, name in both for group in SETS}


def ratios(signs: tuple[str, str]) -> dict[Heading, ScoreName]:
    """Tables 4 and 7."""
    return {(sign, group): ("c2i", group, sign) for sign in signs for group in SETS}


LOST_OUTSIDE: dict[Heading, ScoreName] = {
    ("", sign): ("degradation", "ID to OOD", sign) for sign in (*SIGNS, *MODIFIED)
}
LOST: dict[Heading, ScoreName] = {
    (by, group): ("degradation", by, group)
    for by in map(" to ".join, (SIGNS, MODIFIED))
    for group in (*SETS, "Overall")
}
RANKING: dict[Heading, ScoreName] = {
    **{(side, sign): ("ranking match", side, sign) for side in SIDES for sign in (*SIGNS, "Overall")},
    **{
        (side, f"{called} {level}"): ("ranking match", f"{side}, {called}", level)
        for side in SIDES
        for _, called, levels in CATEGORIES
        for level in levels
    },
}
OUT_OF_IT = "in and out of distribution"
FPVG_TABLES = [
    ModelTable("fpvg", "Models", MAIN),
    ModelTable("fpvg-sets", f"Accuracy and FPVG+, {OUT_OF_IT}", in_and_out(SIGNS[0])),
    ModelTable("fpvg-c2i-sets", f"Correct to incorrect answers, {OUT_OF_IT}", ratios(SIGNS)),
    ModelTable("fpvg-c2i", "Correct to incorrect answers", RATIOS),
    ModelTable("fpvg-lost-outside", "What is lost of the ratio out of distribution", LOST_OUTSIDE),
    ModelTable("fpvg-lost", "What is lost of the ratio without grounding", LOST),
    ModelTable("fpvg-modified", f"Accuracy and modified FPVG+, {OUT_OF_IT}", in_and_out(MODIFIED[0])),
    ModelTable("fpvg-modified-c2i", "Correct to incorrect answers by modified FPVG, " + OUT_OF_IT, ratios(MODIFIED)),
    ModelTable("fpvg-ranking", "Ranking match", RANKING),
]
