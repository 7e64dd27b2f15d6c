"""The metrics of AGQA-Decomp over hierarchies and predictions as columns; what counts one opens with its formula."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.answered import Answered, Listing, Missing, ModelAnswers, answered, first, questions_of
from questree.metrics.catalogue import METRICS, cells, counted
from questree.metrics.cells import OVERALL, Bools, Cell, Column, Floats, Part, Tallies, joined, mean_tally, share, tally
from questree.metrics.scores import CORRELATION, QUESTION_ACCURACY, Scored
from questree.progress import watch
from questree.tables.hierarchies import NOTHING, Hierarchies

NO_TRUTH = "None"  # how a question without a truth is listed


def accuracy(model: Answered) -> Tallies:
    """Question accuracy of a type: right / all. Accuracy: mean over its true answers g of (right with g / all with g).

    The second is that of AGQA-Decomp, section 4 "Accuracy" and Table 9: answers on the long tail weigh as much as
    frequent ones. Its Overall pools the answers of all types, so it is neither a mean of types nor of questions. Both
    count questions and sub-questions, each text once per video; unscored types and texts without a truth are left out
    before that. Questions without a DAG count every time, and "no answer" is an answer there.

    Columns ("accuracy", group, answer).
    """
    found, loose = model.hierarchies, model.hierarchies.isolated
    rows = first(model.column("text"), np.flatnonzero(model.scored & model.answered))
    loose_group = model.group_of_type[loose["type"].to_numpy()]
    kept = (loose_group != NOTHING) & ((model.isolated != NOTHING) | (not model.skipping))
    truth = loose["answer"].to_numpy()[kept]

    group = np.concatenate([model.group(rows), loose_group[kept]])
    answer = np.concatenate([model.column("answer")[rows], truth])
    passed = np.concatenate([model.correct[rows], (model.isolated[kept] == truth) & (truth != NOTHING)])
    video = np.concatenate([model.video[rows], loose["video"].to_numpy()[kept]]).astype(np.int64)
    words = [NO_TRUTH, *found.words]
    names: list[Column] = [("accuracy", name, word) for name in model.groups for word in words]
    return tally(video, group * len(words) + answer - NOTHING, passed, len(found.videos), names)


def accuracy_cells(tallies: Tallies, groups: list[str]) -> list[Cell]:
    """Both by type, then by answer (group `<type>-<answer>`), Overall last; added up in alphabetical order."""
    of: dict[str, dict[str, list[int]]] = {group: {} for group in [*groups, OVERALL]}
    for at, column in enumerate(tallies.columns):
        if column[0] == "accuracy":
            _, group, word = map(str, column)
            of[group].setdefault(word, []).append(at)
            of[OVERALL].setdefault(word, []).append(at)
    right = [
        Cell(QUESTION_ACCURACY, "type", group, (tuple(at for columns in answers.values() for at in columns),))
        for group, answers in of.items()
    ]
    by_type = [
        Cell("accuracy", "type", group, tuple(tuple(answers[word]) for word in sorted(answers)), "mean of defined")
        for group, answers in of.items()
    ]
    by_answer = [
        Cell("accuracy", "answer", f"{group}-{word}", (tuple(columns),))
        for group, answers in of.items()
        for word, columns in sorted(answers.items())
    ]
    return right + by_type + by_answer


Ints = NDArray[np.int64]


def composition(model: Answered) -> Tallies:
    """CA = right parents / parents, all usable children right; RWR-k the same with exactly k wrong; RWR with k > 0.

    Delta = RWR - CA. AGQA-Decomp, section 4 "Compositional accuracy", "Right for the wrong reasons", Tables 3, 4, 6, 7.
    A parent has a scored type and a truth and counts once per text and video; a usable child likewise has a scored type
    and a truth. By type a parent's children are a set over all compositions, by composition the list of that
    composition.

    Columns ("CA", "type" or "composition", group, k).
    """
    found, parts = model.hierarchies, usable_parts(model)
    chosen, usable, wrong = parts
    parent, first_edge, edges = (found.composed[name].to_numpy().astype(np.int64) for name in COMPOSED_OF)
    listed, wrong_listed = (span_sums(flag, first_edge, edges) for flag in (usable, wrong))
    rows = np.flatnonzero(chosen[parent] & (listed > 0))
    kinds = model.compositions
    place = np.array([kinds.index(c) for c in found.compositions], np.int64)
    kind = place[found.composed["composition"].to_numpy()[rows]]
    by_composition = _tally(model, parent[rows], kind, wrong_listed[rows], "composition", kinds)

    of, wrong_parts = reasons(model, parts)
    return joined([_tally(model, of, model.group(of), wrong_parts, "type", model.groups), by_composition])


COMPOSED_OF = ("parent", "first", "edges")


def usable_parts(model: Answered) -> tuple[Bools, Bools, Bools]:
    """[node] does it count as a parent? [edge] is the child usable? [edge] usable and wrong?"""
    parents = np.flatnonzero(model.column("parent") & model.scored & model.answered)
    chosen = np.zeros(len(model.scored), bool)
    chosen[first(model.column("text"), parents)] = True
    child = model.hierarchies.edges["child"].to_numpy()
    usable = (model.scored & model.answered)[child]
    return chosen, usable, usable & ~model.correct[child]


def reasons(model: Answered, parts: tuple[Bools, Bools, Bools]) -> tuple[Ints, Ints]:
    """Parents with usable children, and how many of these are wrong: a set over all compositions of a parent."""
    found, (chosen, usable, wrong) = model.hierarchies, parts
    parent, first_edge, edges = (found.composed[name].to_numpy().astype(np.int64) for name in COMPOSED_OF)
    once = ~found.edges["repeated"].to_numpy()
    begins = np.flatnonzero(np.diff(parent, prepend=-1))  # composed is sorted by parent
    if not len(begins):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    different, wrong_different = (
        np.add.reduceat(span_sums(flag & once, first_edge, edges), begins) for flag in (usable, wrong)
    )
    of = parent[begins]
    kept = np.flatnonzero(chosen[of] & (different > 0))
    return of[kept], wrong_different[kept]


def span_sums(flags: NDArray[np.bool_], start: Ints, length: Ints) -> Ints:
    """[span] how many flags are set from `start` on."""
    before = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(flags, out=before[1:], dtype=np.int32)
    return np.asarray(before[start + length] - before[start], np.int64)


def _tally(model: Answered, parent: Ints, group: Ints, wrong: Ints, by: str, groups: list[str]) -> Tallies:
    most = int(wrong.max(initial=0)) + 1
    names: list[Column] = [("CA", by, name, k) for name in groups for k in range(most)]
    video = model.video[parent].astype(np.int64)
    return tally(video, group * most + wrong, model.correct[parent], len(model.hierarchies.videos), names)


def composition_cells(tallies: Tallies, by: str, groups: list[str]) -> list[Cell]:
    """CA, RWR, Delta, RWR-1, RWR-2 ... for every group and Overall."""
    found = [(at, str(c[2]), int(str(c[3]))) for at, c in enumerate(tallies.columns) if c[:2] == ("CA", by)]
    most = max([1, *(k for _, _, k in found)])
    blocks: dict[str, list[Cell]] = {}
    for group in [*groups, OVERALL]:
        here = [(at, k) for at, name, k in found if group in (name, OVERALL)]
        right = tuple(at for at, k in here if k == 0)
        wrong = tuple(at for at, k in here if k > 0)
        blocks.setdefault("CA", []).append(Cell("CA", by, group, (right,)))
        blocks.setdefault("RWR", []).append(Cell("RWR", by, group, (wrong,)))
        blocks.setdefault("Delta", []).append(Cell("Delta", by, group, (right, wrong), "difference", counted=False))
        for n in range(1, most + 1):
            exactly = tuple(at for at, k in here if k == n)
            blocks.setdefault(f"RWR-{n}", []).append(Cell(f"RWR-{n}", by, group, (exactly,)))
    return [cell for block in blocks.values() for cell in block]


def consistency(model: Answered) -> Tallies:
    """IC of a rule = checks passed / checks applied; of a composition the mean of its rules; Overall of all 18.

    AGQA-Decomp, section 4 "Internal Consistency", Tables 3, 4 and 8 of the corrected text. A parent has a scored type
    and counts once per text and video, whether or not it has a truth. One rule that never applied makes a mean N/A. By
    type: the mean over the rules of that type's compositions, within the type; its Overall repeats that of the
    compositions.

    Columns ("IC", type group, rule).
    """
    rules, (node, rule, passed) = model.rules, checked(model)
    names: list[Column] = [("IC", group, rule) for group in model.groups for rule in rules]
    videos = len(model.hierarchies.videos)
    video, column = model.video[node].astype(np.int64), model.group(node) * len(rules) + rule
    return tally(video, column, passed, videos, names)


def checked(model: Answered) -> tuple[Ints, Ints, Bools]:
    """Every check that applies: the parent, the position of the rule in `model.rules`, whether it passes."""
    parent, place = model.hierarchies.composed["parent"].to_numpy(), {name: at for at, name in enumerate(model.rules)}
    chosen = np.zeros(len(model.scored), bool)
    chosen[first(model.column("text"), np.flatnonzero(model.column("parent") & model.scored))] = True
    nodes, rules, passed = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, bool)]
    for rule, rows, case in model.read:
        own = chosen[parent[rows]]
        for name, (applies, passes) in rule.checks(case).items():
            here = np.flatnonzero(applies & own)
            nodes.append(parent[rows[here]].astype(np.int64))
            rules.append(np.full(len(here), place[name]))
            passed.append(passes[here])
    return np.concatenate(nodes), np.concatenate(rules), np.concatenate(passed)


def consistency_cells(tallies: Tallies, listing: Listing) -> list[Cell]:
    scheme = listing.scheme
    at = {column[1:]: (number,) for number, column in enumerate(tallies.columns) if column[0] == "IC"}
    rules = listing.rules
    pooled: dict[str, Part] = {rule: tuple(n for (_, name), (n,) in at.items() if name == rule) for rule in rules}
    overall = tuple(pooled.values())

    def reported(names: Iterable[str]) -> list[str]:
        return [rule for rule in scheme.names(names) if rule in pooled]

    def mean(by: str, group: str, parts: tuple[Part, ...]) -> Cell:
        return Cell("IC", by, group, parts, scheme.mean, counted=False)

    def of_type(group: str) -> tuple[Part, ...]:
        return tuple(at.get((group, rule), ()) for rule in reported(scheme.checked.get(group, ())))

    return [
        *(Cell("IC", "rule", rule, (part,)) for rule, part in pooled.items()),
        mean("rule", OVERALL, overall),
        *(mean("composition", name, tuple(pooled[rule] for rule in reported([name]))) for name in listing.compositions),
        mean("composition", OVERALL, overall),
        *(mean("type", group, of_type(group)) for group in listing.own_groups),
        mean("type", OVERALL, overall),
    ]


MOMENTS = ("x", "y", "xx", "yy", "xy")
MIDDLE = 0.5  # taken off either number: products keep their digits, and sums of shards are those of the whole


def dag_scores(model: Answered) -> tuple[Floats, Floats]:
    """[dag] accuracy, [dag] consistency; NaN where a DAG has none."""
    found = model.hierarchies
    dag, dags = model.column("dag"), len(found.dags)
    rows = model.scored & model.answered
    total = np.bincount(dag[rows], minlength=dags)
    right = np.bincount(dag[rows & model.correct], minlength=dags)
    dag_of = dag[found.composed["parent"].to_numpy()]
    applied, passed = np.zeros(dags), np.zeros(dags)
    for rule, rows, case in model.read:
        applies, passes = case.at_most_one(rule.ways)
        applied += np.bincount(dag_of[rows[applies]], minlength=dags)
        passed += np.bincount(dag_of[rows[applies & passes]], minlength=dags)
    return share(right, total), share(passed, applied)


BINS = 20  # of accuracy and of consistency


def dag_counts(model: Answered) -> Ints:
    """[accuracy, consistency] how many DAGs, in equal ranges; those that lack either number are left out."""
    return binned(*dag_scores(model))


def binned(accuracy: Floats, consistency: Floats) -> Ints:
    here = ~np.isnan(accuracy) & ~np.isnan(consistency)
    counts, _, _ = np.histogram2d(accuracy[here], consistency[here], BINS, ((0, 1), (0, 1)))
    return counts.astype(np.int64)


def correlation(model: Answered) -> Tallies:
    """Pearson correlation over DAGs of accuracy (right / scored answered nodes) and consistency (passed / applied).

    AGQA-Decomp, Figure 3. No once-only rule; consistency pools all checks of a DAG (micro), and a composition is
    checked at most once: a yes by its Yes side, a no by its No side, anything else fails the side its children call
    for. DAGs that lack either number are left out; constant input is N/A.

    Columns ("correlation", moment): means over DAGs of x = accuracy, y = consistency (less a half) and products.
    """
    accuracy, consistency = dag_scores(model)
    here = np.flatnonzero(~np.isnan(accuracy) & ~np.isnan(consistency))
    video = model.hierarchies.dags["video"].to_numpy()[here].astype(np.int64)
    x, y = accuracy[here] - MIDDLE, consistency[here] - MIDDLE
    videos = len(model.hierarchies.videos)
    values = dict(zip(MOMENTS, (x, y, x * x, y * y, x * y), strict=True))
    return joined([mean_tally(video, value, videos, ("correlation", name)) for name, value in values.items()])


def correlation_cells(tallies: Tallies) -> list[Cell]:
    at = {column[1]: number for number, column in enumerate(tallies.columns) if column[0] == "correlation"}
    return [Cell(CORRELATION, "dag", OVERALL, tuple((at[name],) for name in MOMENTS), "correlation")]


def dag_cells(tallies: Tallies, listing: Listing) -> list[Cell]:
    """The cells of all metrics below over the columns of all of them, in the order of `count_answered`."""
    return [
        *accuracy_cells(tallies, listing.groups),
        *composition_cells(tallies, "type", listing.own_groups),
        *composition_cells(tallies, "composition", listing.compositions),
        *consistency_cells(tallies, listing),
        *correlation_cells(tallies),
    ]


DagMetric = Callable[[Answered], Tallies]
DAG_METRICS: tuple[DagMetric, ...] = (accuracy, composition, consistency, correlation)


def count_answered(model: Answered, more: Sequence[DagMetric] = ()) -> Tallies:
    """What every AGQA-Decomp score of one model is computed from, and those of `more` and of plugins."""
    metrics = (*DAG_METRICS, *more)
    parts = [metric(model) for metric in watch(metrics, "scoring", len(metrics))]
    if METRICS:
        parts.append(counted(questions_of(model), len(model.hierarchies.videos), METRICS.values()))
    return joined(parts)


def score_decomp(
    hierarchies: Hierarchies, predictions: pl.DataFrame | ModelAnswers, missing: Missing = "error"
) -> Scored:
    """The scores of a model whose predictions have the columns id and prediction, or are by key; what `error` means is
    the caller's matter."""
    model = answered(hierarchies, predictions, missing)
    tallies = count_answered(model)
    return Scored(tallies, [*dag_cells(tallies, model.listing), *cells(tallies.columns, METRICS.values())])
