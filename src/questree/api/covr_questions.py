"""What released COVR questions are, and what splits hold out of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from questree.api.exporting import counted
from questree.api.made import Made
from questree.faults import BadInput, at_least, refuse
from questree.formats.covr_import import SPLIT_OF
from questree.sources.covr import SIDES, hanging_together, read_records, read_sides
from questree.stages.audit.image_corpus import CorpusCounts, figures_of, run_corpus, table_3
from questree.stages.split.properties import of_records, properties
from questree.stages.split.recipes import drawing
from questree.tables.run import Run


def held_out(
    questions: Path,
    *,
    few_shot: int = 250,
    seed: int = 0,
    draws: int = 3,
    lexical_pairs: int = 65,
    lexical_alone: int = 50,
    lexical_together: int = 15,
) -> Made:
    """Every property of COVR's splits with the ids of a released file that it holds out, as `questree covr splits`."""
    counts = {"few_shot": few_shot, "lexical_pairs": lexical_pairs}
    counts |= {"lexical_alone": lexical_alone, "lexical_together": lexical_together}
    refuse(at_least(0, {**counts, "draws": draws}))
    rows = of_records(read_sides(questions))
    side = {name: (rows.questions["side"] == name).to_numpy() for name in SIDES}
    result, warnings = dict[str, dict[str, Any]](), list[str]()
    for each in properties(rows, drawing(seed, **counts), side["train"], side["val"]):
        held = each.predicate.holds(rows)
        result[each.name] = {name: rows.questions["id"].filter(held & at).to_list() for name, at in side.items()}
        result[each.name] |= {} if each.drawn is None else {"held_out": each.drawn}
        warnings += each.warnings
    lines = [
        {"held out": name, "drawn": len(found["held_out"]) if "held_out" in found else None}
        | {side: len(found[side]) for side in SIDES}
        for name, found in result.items()
    ]
    said: list[Any] = [("Questions held out", lines), *(f"warning: {warning}" for warning in warnings)]
    return Made("covr splits", said, result)


def statistics(run: Path | None = None, *, questions: Sequence[Path] | None = None, every: bool = False) -> Made:
    """Kinds of questions, answers, images and programs of every split: COVR's Table 3 and Figures 4 to 6."""
    if (run is None) == (not questions):
        raise BadInput.at("", "expected either a run folder or --questions FILE")
    if run is not None:
        corpus = run_corpus(Run.at(run), every)
    else:
        rows = of_records({split_of(path): hanging_together(str(path), read_records(path)) for path in questions or []})
        corpus = CorpusCounts.of_rows(rows, "side")
    parts, table = corpus.parts, table_3(corpus)
    first = "train" if "train" in parts else next(iter(parts), "")
    figures = figures_of(corpus, parts.get(first, ()))
    said = [
        ("Questions (COVR, Table 3)", table),
        (f"{first}: commonest answers but yes and no (COVR, Figure 4)", counted("answer", figures["figure 4"])),
        (f"{first}: questions by number of images (COVR, Figure 5)", counted("images", figures["figure 5"])),
        (f"{first}: questions by occurrences of an operator (COVR, Figure 6)", figures["figure 6"]),
    ]
    return Made("covr statistics", said, {"table 3": table, **figures})


def split_of(path: Path) -> str:
    """The split a file is named after, or else its name."""
    stem = path.name.split(".")[0]
    return SPLIT_OF.get(stem, stem)
