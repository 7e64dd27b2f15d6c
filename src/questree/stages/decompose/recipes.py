"""How the questions of each benchmark are taken apart, as `questree decompose` asks for it and as it is told."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from questree.benchmarks import Recipe, Said, Told
from questree.search.word_tables import words_of
from questree.stages.decompose.choose import choose, chosen_file
from questree.stages.decompose.columns import Coverage, DecomposeSummary
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose, world_is_closed
from questree.stages.decompose.examples import examples
from questree.stages.decompose.negatives import read_labels
from questree.stages.decompose.propagate import MOST
from questree.stages.decompose.set_shards import decompose_run
from questree.tables.facts import VIDEOS as VIDEO_TABLE
from questree.tables.nodes import ANSWERED, KNOWN
from questree.tables.run import Run

SHOWN = 5  # questions about image sets whose stored answer is another


def of_videos(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    absent, rules_only = given.get("absent"), given.get("rules_only", False) or not run.has_facts()
    options = DecomposeOptions(
        balanced="balanced" in given or ("all" not in given and run.balanced.is_dir()),
        closed="closed" in given or ("open" not in given and world_is_closed(run)),
        rules_only=rules_only,
        invalid_actions=given.get("invalid_actions", 0),
    )
    labels = read_labels(absent, run.table("facts", VIDEO_TABLE)["id"], run.vocabulary()) if absent else None
    summary = decompose(run, options, workers, labels=labels)
    said: list[Said] = [*told_types(summary)]
    for reason, count in summary.beyond.most_common():
        said.append(f"{count:,} questions more have no sub-questions in AGQA-Decomp: {reason}")
    said.append(f"{summary.nodes:,} nodes, {summary.edges:,} edges")
    if absent or options.invalid_actions:
        said.append(f"{summary.negatives:,} questions more whose answer is no: labels, and actions that do not occur")
    relabelled = f"{summary.relabelled:,} Between nodes relabelled After and Before: no, although both sides are yes"
    said += [*told_rules(summary)] if rules_only else [relabelled]
    said += [*examples(run), *told_contradictions(summary), f"wrote {run.decomposed}"]
    if "train_set" in given:
        said += training(run)
    return Told(said, record(summary) | {"balanced": options.balanced, "closed": options.closed})


def of_image_sets(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    words = given.get("words")
    summary = decompose_run(run, words_of(words), "all" in given, workers, words)
    rows = [
        {"type": type, "nodes": count, "without an answer": summary.undefined.get(type, 0)}
        for type, count in summary.types.items()
    ]
    said: list[Said] = [
        ("Nodes by type", rows),
        f"{summary.questions:,} questions, {summary.nodes:,} nodes, {summary.edges:,} edges; "
        f"{summary.without_parts:,} questions have no sub-questions, {summary.unknown:,} are of no known form",
    ]
    if summary.different:
        shown = ", ".join(summary.different[:SHOWN])
        said.append(f"{len(summary.different):,} stored answers are not what execution gives: {shown}")
    return Told([*said, f"wrote {run.covr / 'decomposed'}"], summary)


ANY = frozenset({"balanced", "all"})
VIDEOS = Recipe(
    ANY | {"closed", "open", "rules_only", "absent", "invalid_actions", "train_set"}, of_videos, shared=True
)
IMAGE_SETS = Recipe(ANY | {"words"}, of_image_sets, shared=True)


def record(summary: DecomposeSummary) -> dict[str, Any]:
    """The result for programs."""
    names = ("questions", "isolated", "nodes", "edges", "relabelled", "negatives", "clashes", "contradictions")
    found = {name: getattr(summary, name) for name in (*names, "types")}
    more = ("everything", "places", "all_places", "beyond")
    return found | {name: getattr(summary, name) for name in more if getattr(summary, name)}


def training(run: Run) -> list[Said]:
    """Choose sub-questions to train on, and tell how many there are."""
    told = choose(run)
    rows = [
        {
            "type": type,
            "answered": n,
            "after types": told.by_type.get(type, 0),
            "after programs": told.after.get(type, 0),
        }
        for type, n in told.before.items()
    ]
    return [("Sub-questions of training videos", rows), f"wrote {chosen_file(run)}"]


def told_types(summary: DecomposeSummary) -> Iterator[Said]:
    """Per type and in all: nodes, how many answers are known in which way, and the share that is known."""
    every = together(summary.types)
    used = [name for name in KNOWN if every[name]]
    rows = [
        {"type": type, "nodes": counts.total(), **{name: counts[name] for name in used}, "answered": answered(counts)}
        for type, counts in [*sorted(summary.types.items()), ("all", every)]
    ]
    yield "Sub-questions by type, and how their answers are known", rows
    yield f"{summary.questions:,} questions, {summary.isolated:,} of them without sub-questions"


def told_rules(summary: DecomposeSummary) -> Iterator[Said]:
    """What rules alone answer, of the questions that were selected and of all there are."""
    kinds = {
        "these questions": (summary.types, summary.places),
        "all questions": (summary.everything, summary.all_places),
    }
    for what, (types, places) in kinds.items():
        every = together(types)
        if every:
            said = f"{answered(every)} of the {every.total():,} nodes of {what} have an answer"
            also = f"{answered(places)} of the {places.total():,} places in their DAGs"
            left = every.total() - every["asked"]
            yield f"{said} ({also}); rules give {every['entailed']:,} of {left:,} that no question asks"


def told_contradictions(summary: DecomposeSummary) -> Iterator[Said]:
    told = summary.contradictions[:MOST]
    few = f", the first {len(told)} of them:" if summary.clashes > len(told) else ":" if told else ""
    yield f"{summary.clashes:,} contradiction{'s' * (summary.clashes != 1)}{few}"
    for text in told:
        yield f"  {text}"


def together(types: Coverage) -> Counter[str]:
    return sum(types.values(), Counter())


def answered(counts: Counter[str]) -> str:
    total = counts.total()
    return f"{100 * sum(counts[name] for name in ANSWERED) / total:.2f} %" if total else "N/A"
