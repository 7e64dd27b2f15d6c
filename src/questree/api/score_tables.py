"""Scores as tables laid out as in the papers, for a person: titles with lines, and what is said beside them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from questree.benchmarks import Said
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import OVERALL
from questree.metrics.comparison import ModelDifference, compare, only
from questree.metrics.errors import BY as ERROR
from questree.metrics.errors import KINDS as ERRORS
from questree.metrics.scores import QUESTION_ACCURACY, Resampling, Score, Scored, find, titled
from questree.scoring import agqa_tables as layouts
from questree.scoring.agqa_tables import KINDS, KindTable
from questree.scoring.compared import LABELS
from questree.scoring.footnotes import UNTESTED, WEAK, Footnotes
from questree.scoring.grids import grid, once, percent, plain, shown

Telling = Iterator[Said]  # tables with their titles, and lines
CHANCE = 0.05  # p above which a difference may be chance


def score_grid(title: str, corner: str, rows: Sequence[Score], by: str, metrics: Sequence[str]) -> Telling:
    notes = Footnotes(rows)
    yield title, grid(rows, by, metrics, corner, notes)
    yield from notes.lines()


def metric_tables(rows: list[Score]) -> Telling:
    """A table for every metric that a plugin adds."""
    for name, metric in METRICS.items():
        by = metric.label
        if any((row.metric, row.by) == (name, by) for row in rows):
            yield from score_grid(f"{name} = {metric.formula}", metric.by.capitalize(), rows, by, [name])


def policy_table(rows: list[Score], headline: list[tuple[str, str]]) -> Telling:
    """How much the way answers are read matters, where more than one way was asked for."""
    asked = {row.model: row.group for row in rows if row.metric == "unparsed"}
    if len(set(asked.values())) < 2:
        return
    table = []
    for model, policy in asked.items():
        mine = [row for row in rows if row.model == model]
        values = {metric: percent(find(mine, metric, by, OVERALL).value) for metric, by in headline}
        unparsed = percent(find(mine, "unparsed", "policy", policy).value)
        table.append({"model": model, "policy": policy, **values, "unparsed": unparsed})
    yield "What the policy changes (Overall)", table


def decomp_tables(rows: list[Score], by_answer: bool = False) -> Telling:
    """Tables 3, 4, 6-9, 11, 12 of the AGQA-Decomp paper, the number of its Figure 3 and the errors of its Figure 11."""
    several = sorted({r.metric for r in rows if r.metric.startswith("RWR-")}, key=lambda name: int(name[4:]))
    main = [QUESTION_ACCURACY, "accuracy", "CA", "RWR", "Delta", "IC"]
    for row in (row for row in rows if (row.metric, row.group) == (QUESTION_ACCURACY, OVERALL)):
        yield f"{row.model}: {row.metric} {shown(row)} over {row.n:,} questions and sub-questions"
    yield from score_grid("By question type", "Question type", rows, "type", main)
    yield from score_grid("By composition", "Composition", rows, "composition", main[2:])
    yield from score_grid("RWR-n by question type", "Question type", rows, "type", several)
    yield from score_grid("RWR-n by composition", "Composition", rows, "composition", several)
    yield from score_grid("IC per rule", "Rule", rows, "rule", ["IC"])
    if by_answer:
        yield from score_grid("Accuracy per ground truth", "Type-truth", rows, "answer", ["accuracy"])
    yield from score_grid(
        "Errors in choices, both options known", "Composition", rows, ERROR, [f"{k} error" for k in ERRORS]
    )
    for row in (row for row in rows if row.by == "dag"):
        room = "" if row.low is None or row.high is None else f" [{plain(row.low)}, {plain(row.high)}]"
        yield f"{row.model}: {row.metric} {plain(row.value)}{room} over {row.n:,} DAGs"
    yield from metric_tables(rows)
    yield from policy_table(rows, [(QUESTION_ACCURACY, "type"), ("CA", "composition"), ("IC", "composition")])


def agqa_tables(rows: list[Score]) -> Telling:
    """Tables 2 and 9, 3, 4, 6, 5 and 7, and the numbers of Figure 5."""
    for table in layouts.agqa_tables(rows):
        yield from kind_table(table, rows)
    yield from score_grid("By steps", "Steps", rows, "steps", ["accuracy", "fit, 80 % band"])
    for row in (row for row in rows if row.metric == "R^2"):
        slope = next(r for r in rows if r.metric == "slope" and r.model == row.model)
        yield f"{row.model}: accuracy changes by {plain(slope.value, 4)} per step, R^2 {plain(row.value, 4)}"
    yield from metric_tables(rows)
    yield from policy_table(rows, [("accuracy", "reasoning")])


def kind_table(table: KindTable, rows: list[Score]) -> Telling:
    """B, O and All under every group, models across; kinds a group has none of are left out, if not all are wanted."""
    at = {(row.metric, row.by, row.group, row.model): row for row in rows}
    bys = {group.by for group in table.groups}
    models = once(row.model for row in rows if row.by in bys and row.metric in table.metrics)
    pairs = [(model, metric) for model in models for metric in table.metrics]
    notes, found = Footnotes(rows), dict[tuple[str, str, str], list[Score | None]]()
    for name, by, group, above in table.groups:
        for kind, more in KINDS.items():
            own = [at.get((metric, by + more, group, model)) for model, metric in pairs]
            if kind in table.kinds or (
                not table.kinds and (kind == "All" or any(row is not None and row.n for row in own))
            ):
                found[above, name, kind] = own
    names = [" ".join([model, metric]) if len(table.metrics) > 1 else model for model, metric in pairs]
    counts = {metric: [at for at, pair in enumerate(pairs) if pair[1] == metric] for metric in table.metrics}
    lines = []
    for (above, name, kind), own in found.items():
        cells = {title: shown(row, notes) for title, row in zip(names, own, strict=True)}
        heads = ({"": above} if above else {}) | {" ": name} | ({"  ": kind} if len(table.kinds) != 1 else {})
        lines.append({**heads, **cells, **numbers(own, names, counts, found.values())})
    yield table.title, lines
    yield from notes.lines()


def numbers(
    own: Sequence[Score | None],
    names: Sequence[str],
    counts: Mapping[str, Sequence[int]],
    every: Collection[Sequence[Score | None]],
) -> dict[str, int | None]:
    """n of a line: once for all models that a metric counts the same of, else of each."""
    found = dict[str, int | None]()
    for metric, places in counts.items():
        said = f"n of {metric}" if len(counts) > 1 else "n"
        if all(len({row.n for place in places if (row := line[place])}) < 2 for line in every):
            found[said] = next((row.n for place in places if (row := own[place])), None)
        else:
            found |= {f"n of {names[place]}": row.n if (row := own[place]) else None for place in places}
    return found


def covr_tables(rows: list[Score]) -> Telling:
    """Templates down, as COVR's Table 13."""
    yield from score_grid("Accuracy by template", "Template", rows, "template", ["accuracy"])
    yield from metric_tables(rows)
    yield from policy_table(rows, [("accuracy", "template")])


def split_table(rows: list[Score], filtered: Mapping[str, int | None]) -> Telling:
    """Split, Filtered, text-only, model, score, iid-size, iid: the columns of COVR's Tables 7 and 8."""
    at = {(row.metric, row.group, row.model): row for row in rows}
    lines, notes = [], Footnotes(rows)
    for split in [*filtered, OVERALL]:
        count, cells = filtered.get(split), {"Split": split}
        cells["Filtered"] = "" if count is None else f"{count:,}"
        for label in LABELS.values():
            cells[label] = percent(at["accuracy", split, label].value)
            if label == "split model":
                cells["Gen. score"] = shown(at["generalization score", split, label], notes)
        lines.append(cells)
    yield "Generalization", lines
    yield from notes.lines()


def curve_table(rows: list[Score], models: Sequence[str]) -> Telling:
    """Splits down, numbers of examples across: COVR's Figure 13 as a table."""
    at = {(row.group, row.model): row for row in rows}
    lines, notes = [], Footnotes(rows)
    for split in once(row.group for row in rows):
        own = {model: at.get((split, model)) for model in models}
        n = next(row.n for row in own.values() if row is not None)
        lines.append({"Split": split, "n": n, **{model: shown(row, notes) for model, row in own.items()}})
    yield "Accuracy by number of examples", lines
    yield from notes.lines()


def difference_table(
    rows: Sequence[ModelDifference], shown: Sequence[ModelDifference], first: str, second: str, level: float
) -> Telling:
    """The largest differences first, those that are not tested last, and what all of it comes to in a sentence."""
    ordered = sorted(shown, key=lambda row: (row.p is None, row.difference is None, -abs(row.difference or 0)))
    alike = all(row.n_a == row.n_b for row in shown)
    yield f"{second} minus {first}", [line_of_difference(row, first, second, level, alike) for row in ordered]
    yield from untested(shown)
    tested = [row for row in rows if row.q is not None]
    different = [row.difference or 0 for row in tested if counts(row, level)]
    up = sum(one > 0 for one in different)
    yield (
        f"{len(different)} of {len(tested)} cells differ at a false discovery rate of {level} (*): "
        f"{second} is higher in {up}, lower in {len(different) - up}."
    )
    known = {row.metric: row for row in tested if row.group == OVERALL}
    whole = known.get(QUESTION_ACCURACY) or known.get("accuracy")
    if whole is not None:
        said = "a difference" if counts(whole, level) else "too small a difference for this test set to tell"
        yield (
            f"Overall {titled(whole.metric, whole.by)}: {second} {percent(whole.b)}, {first} {percent(whole.a)}: "
            f"{difference_with_room(whole)}, q {whole.q:.4f}, {said}."
        )


def untested(rows: Iterable[ModelDifference]) -> Iterator[str]:
    """What the mark at differences means, if there is one."""
    yield from [f" {UNTESTED}"] * any(row.weak for row in rows)


def difference_with_room(row: ModelDifference) -> str:
    return f"{written(row, row.difference)} {room(row)}".strip()


def room(row: ModelDifference) -> str:
    """The interval, marked where there is no test."""
    ends = "" if row.low is None or row.high is None else f"[{written(row, row.low)}, {written(row, row.high)}]"
    return ends + WEAK * row.weak


def written(row: ModelDifference, value: float | None) -> str:
    return plain(value) if row.by == "dag" else percent(value)  # a correlation is no share


def close_pairs(models: Mapping[str, Scored], by: str, resampling: Resampling | None) -> Telling:
    """Pairs of models that differ less than this test set can tell, in the first overall value of a table."""
    if resampling is None:
        return
    cells = (cell.name for scored in models.values() for cell in scored.cells)
    name = next((name for name in cells if name[1:] == (by, OVERALL)), ("", "", ""))
    own = {model: only(scored, name) for model, scored in models.items()}
    for first, second in combinations(own, 2):
        (row,) = compare(own[first], own[second], resampling)
        if row.weak:
            yield f"{second} minus {first}: {difference_with_room(row)} in {row.metric}; {UNTESTED}"
        elif row.p is not None and row.p > CHANCE:
            said = f"{difference_with_room(row)}, p {row.p:.4f}"
            yield f"{second} minus {first}: {said}; too small a difference in {row.metric} for this test set"


def counts(row: ModelDifference, level: float) -> bool:
    return row.q is not None and row.q <= level


def line_of_difference(row: ModelDifference, first: str, second: str, level: float, alike: bool) -> dict[str, Any]:
    numbers = {"n": row.n_a} if alike else {f"n of {first}": row.n_a, f"n of {second}": row.n_b}
    return {
        "metric": titled(row.metric, row.by),
        "by": row.by,
        "group": row.group,
        first: written(row, row.a),
        second: written(row, row.b),
        "difference": written(row, row.difference),
        "95 %": room(row),
        **numbers,
        "p": "" if row.p is None else f"{row.p:.4f}",
        "q": "" if row.q is None else f"{row.q:.4f}" + "*" * counts(row, level),
    }
