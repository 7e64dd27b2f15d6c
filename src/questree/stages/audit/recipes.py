"""How the questions of each benchmark are audited, as `questree audit` asks for it and as it is told."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from questree.benchmarks import Recipe, Said, Told
from questree.stages.audit import image_sets, videos
from questree.stages.audit.audited import Audit, AuditOptions, RulesAloneCount
from questree.stages.audit.categories import TITLES, CategoryCount
from questree.stages.audit.guesses import SETS, GuessScore, Measure
from questree.tables.run import Run


def of_videos(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    found = videos.audit(run, AuditOptions(given["most"], given["seed"]), workers)
    return Told([*told(found, run.folder, "Templates (Table 14)" * ("templates" in given))], found)


def of_image_sets(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    found = image_sets.audit(run, AuditOptions(given["most"], given["seed"]), workers)
    return Told([*told(found, run.covr, "Templates (Tables 1 and 2)" * ("templates" in given))], found)


OPTIONS = frozenset({"most", "seed", "templates"})
VIDEOS, IMAGE_SETS = Recipe(OPTIONS, of_videos, shared=True), Recipe(OPTIONS, of_image_sets, shared=True)


def told(found: Audit, folder: Path, templates: str) -> Iterator[Said]:
    """A table for every kind of category and every measure; with a title for them templates have lines of their own."""
    if found.size:
        numbers = {name: sum(int(each[name]) for each in found.templates) for name in SETS}
        first = {name: found.size[name] for name in (videos.LENGTH, "videos")}
        yield "Size (Table 1)", [first | numbers | {name: n for name, n in found.size.items() if name not in first}]
    if templates:
        yield templates, found.templates
    for kind in dict.fromkeys(each.kind for each in found.categories):
        yield TITLES[kind], [counted(each) for each in found.categories if each.kind == kind]
    if found.rules_alone:
        yield "Answers that follow from rules alone", [shared(each) for each in found.rules_alone]
    tables: dict[str, list[Mapping[str, Any]]] = {}
    for measure in (*found.measures, *found.duplicates):
        if templates or not measure.type.startswith("template:"):
            tables.setdefault(measure.name, []).append(line(measure))
    yield from tables.items()
    means = {
        name: sum(words * n for words, n in own.items()) / max(sum(own.values()), 1)
        for name, own in found.lengths.items()
    }
    yield "words of a question on average: " + ", ".join(f"{mean:.1f} {name}" for name, mean in means.items())
    if not found.balanced:
        yield "there is no balanced selection, so before and after are the same; `questree balance` makes one"
    yield f"wrote audit.json and plots to {folder / 'audit'}"


def counted(category: CategoryCount) -> dict[str, Any]:
    numbers = {"templates": category.templates, "before": category.before, "after": category.after}
    return {category.kind: category.name, **numbers} | ({"involves": category.involves} if category.involves else {})


def shared(count: RulesAloneCount) -> dict[str, Any]:
    row: dict[str, Any] = {"questions": count.type}
    for name, part, n in (("before", count.before, count.n_before), ("after", count.after, count.n_after)):
        row |= {name: f"{part:,}", f"share {name}": f"{100 * part / n:.1f} %" if n else "N/A", f"n {name}": n}
    return row


def line(measure: Measure) -> dict[str, Any]:
    return {
        "questions": measure.type,
        "before": shown(measure.before, measure.name),
        "n before": measure.before.n,
        "after": shown(measure.after, measure.name),
        "n after": measure.after.n,
    }


def shown(score: GuessScore, name: str) -> str:
    if score.value is None:
        return "N/A"
    return f"{score.value:.3f}" if "bits" in name else f"{100 * score.value:.1f} %"
