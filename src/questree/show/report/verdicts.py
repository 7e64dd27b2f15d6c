"""Scores in words, and only what the intervals bear: best and worst, lucky compositions, differences between models."""

from collections.abc import Iterable, Iterator, Sequence

from questree.metrics.comparison import ModelDifference
from questree.metrics.comparison import ranked as ranked_cells
from questree.metrics.scores import Score
from questree.show.report.document import Number, ScoreRows

MEANS = {"CA": "puts right parts together", "IC": "agrees with itself"}  # what a high value says
LEVEL = 0.05  # false discovery rate called a difference
LEAST = 30  # wholes below which nothing is said: resampling a few equal answers gives an interval of no width


def verdicts(rows: ScoreRows, model: str) -> Iterator[str]:
    """Sentences about one model by composition."""
    for metric, means in MEANS.items():
        known = ranked(rows, metric, model)
        overall = rows.find(metric, "composition", "Overall", model)
        if len(known) < 2:
            yield f"{metric}: too few compositions have enough wholes and an interval to call one best or worst."
        elif overall is None or overall.low is None:
            yield ends(rows, known, metric)
        else:
            yield from against(rows, known, overall, means)
    yield from lucky(rows, model)
    groups = [group for group in rows.groups("composition", ["CA"]) if group != "Overall"]
    few = [group for group in groups if 0 < wholes(rows, "IC", group, model) < LEAST]
    if few:
        yield f"Nothing is said about {listed(few)}: fewer than {LEAST} wholes."


def wholes(rows: ScoreRows, metric: str, group: str, model: str) -> int:
    """How many wholes are behind a value: with right parts, with a wrong one, the fewer of these for Delta."""
    found = [rows.find(name, "composition", group, model) for name in ("CA", "RWR")]
    right, wrong = ((row.n or 0) if row else 0 for row in found)
    return {"CA": right, "RWR": wrong, "Delta": min(right, wrong)}.get(metric, right + wrong)


def ranked(rows: ScoreRows, metric: str, model: str) -> list[Score]:
    """Compositions with a value, an interval and enough wholes, the highest first."""
    groups = [group for group in rows.groups("composition", [metric]) if group != "Overall"]
    found = (rows.find(metric, "composition", g, model) for g in groups if wholes(rows, metric, g, model) >= LEAST)
    known = [row for row in found if row and row.value is not None and row.low is not None]
    return sorted(known, key=lambda row: (-(row.value or 0.0), row.group))


def against(rows: ScoreRows, known: Sequence[Score], overall: Score, means: str) -> Iterator[str]:
    """Compositions whose interval lies wholly above or below that of the overall value, the farthest first."""
    above = [row for row in known if is_above(row, overall)]
    below = [row for row in known[::-1] if is_above(overall, row)]
    rest = [row.group for row in known if row not in above and row not in below]
    number = Number.of(overall)
    yield f"Overall {overall.metric} is {number.text} [{number.room}]: how often the model {means}."
    for called, found in (("Best, above", above), ("Worst, below", below)):
        if found:
            yield f"{called} its overall {overall.metric}: {listed(told(rows, row) for row in found)}."
    if rest:
        which = "any composition" if len(rest) == len(known) else listed(rest)
        yield f"The intervals do not tell {which} from the overall {overall.metric}."


def ends(rows: ScoreRows, known: Sequence[Score], metric: str) -> str:
    """Without an overall value: the highest and the lowest, and whether they can be told apart."""
    first, last = known[0], known[-1]
    if first.value == last.value:
        return f"Overall {metric} is N/A; it is {Number.of(first).text} in {listed(row.group for row in known)}."
    sure = "apart from each other" if is_above(first, last) else "but these intervals overlap"
    return f"Overall {metric} is N/A. Highest {told(rows, first)}, lowest {told(rows, last)}, {sure}."


def is_above(a: Score, b: Score) -> bool:
    """Does the interval of a lie wholly above that of b?"""
    assert a.low is not None and b.high is not None
    return a.low > b.high


def lucky(rows: ScoreRows, model: str) -> Iterator[str]:
    """Compositions for which wrong parts help, and for which no harm can be told."""
    known = ranked(rows, "Delta", model)
    more = [row for row in known if row.low is not None and row.low > 0]
    none = [row.group for row in known if row not in more and row.high is not None and row.high >= 0]
    if more:
        names = listed(told(rows, row) for row in more)
        yield f"Right for the wrong reasons: right more often when a part is wrong, in {names}."
    if none:
        yield f"Whether wrong parts do any harm cannot be told (the interval of Delta holds 0) in {listed(none)}."
    if known and not more and not none:
        yield "Wherever Delta has wholes enough the model is right less often when a part is wrong, as it should be."


def told(rows: ScoreRows, row: Score) -> str:
    """ "And (CA 95.81 [94.1, 97.2], n 1,204)"; n are wholes, of a Delta those with right and with wrong parts."""
    number = Number.of(row)
    parts = ("CA", "RWR") if row.metric == "Delta" else (row.metric,)
    n = " and ".join(f"{wholes(rows, part, row.group, row.model):,}" for part in parts)
    return f"{row.group} ({row.metric} {number.text} [{number.room}], n {n})"


def listed(found: Iterable[str]) -> str:
    names = list(found)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def compared(rows: ScoreRows, differences: Sequence[ModelDifference], first: str, second: str) -> Iterator[str]:
    """Compositions in which two models differ, on the same resampled videos."""
    own = [d for d in differences if d.by == "composition" and d.metric in ("CA", "RWR", "IC") and d.p is not None]
    own = ranked_cells(d for d in own if all(wholes(rows, d.metric, d.group, m) >= LEAST for m in (first, second)))
    sure = [d for d in own if d.q is not None and d.q <= LEVEL]
    if not own:
        yield f"{first} and {second}: no composition can be compared."
        return
    yield (
        f"{second} against {first}, on the same resampled videos: {len(sure)} of {len(own)} values (CA, RWR, IC by "
        f"composition, {LEAST} wholes or more) differ at a false discovery rate of {LEVEL:g}."
    )
    for metric in ("CA", "RWR", "IC"):
        for better, name in ((True, second), (False, first)):
            cells = [d for d in sure if d.metric == metric and ((d.difference or 0) > 0) == better]
            if cells:
                yield f"{metric} is higher for {name} in {listed([difference(d) for d in cells])}."


def difference(cell: ModelDifference) -> str:
    sign = 1 if (cell.difference or 0) > 0 else -1
    ends = sorted(sign * value for value in (cell.low, cell.high) if value is not None)
    number = Number(sign * (cell.difference or 0), None, *(ends if len(ends) == 2 else (None, None)))
    return f"{cell.group} (by {number.text} [{number.room}])"
