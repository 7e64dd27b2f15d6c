"""What stands below a table of scores: why a cell has no value, and which intervals say little."""

from collections.abc import Iterable, Iterator, Sequence
from string import ascii_lowercase

from questree.metrics.cells import OVERALL
from questree.metrics.comparison import FEWEST
from questree.metrics.scores import Score
from questree.rules import SCHEMES

WEAK = "?"
WEAK_SAYS = f"{WEAK} an interval of fewer than {FEWEST} items, or of no width: do not rely on it"
UNTESTED = f"{WEAK} no test: fewer than {FEWEST} items on a side, or the same difference in every resample"
EMPTY = {  # what there is none of, where a metric has nothing to divide by
    "CA": "no parent whose sub-questions are all right",
    "RWR": "no parent with a wrong sub-question",
    "Delta": "CA or RWR has no value",
    "c2i": "no wrong answer to divide by",
    "degradation": "a ratio it compares has no value",
    "generalization score": "no gap between the text-only model and the one trained on everything",
}


class Footnotes:
    """Those of one table; `rows` are all scores, so that a mean of rules can name the rule that never applied."""

    def __init__(self, rows: Iterable[Score]) -> None:
        self.idle = [
            (row.model, row.group) for row in rows if (row.metric, row.by, row.n) == ("IC", "rule", 0)
        ]  # rules that never applied
        self.letters: dict[str, str] = {}  # reason -> letter
        self.weak = False

    def absent(self, row: Score) -> str:
        """N/A with the letter of its reason."""
        reason = why(row, [rule for model, rule in self.idle if model == row.model])
        letter = self.letters.setdefault(reason, lettered(len(self.letters)))
        return f"N/A {letter}"

    def mark(self, row: Score) -> str:
        """Behind an interval that says little."""
        poor = row.low is not None and (row.low == row.high or (row.n is not None and row.n < FEWEST))
        self.weak |= poor
        return WEAK if poor else ""

    def lines(self) -> Iterator[str]:
        yield from (f" {letter} {reason}" for reason, letter in self.letters.items())
        yield from [f" {WEAK_SAYS}"] * self.weak


def lettered(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    before, last = divmod(number, len(ascii_lowercase))
    return (lettered(before - 1) if before else "") + ascii_lowercase[last]


def why(row: Score, idle: Sequence[str]) -> str:
    """Why a score has no value; `idle` are the rules that never applied to the answers of its model."""
    if row.metric == "IC":
        return unruled(row, idle)
    if row.metric.startswith("RWR-"):
        return f"no parent with exactly {row.metric[4:]} of its sub-questions wrong"
    return EMPTY.get(row.metric, "no such question")


def unruled(row: Score, idle: Sequence[str]) -> str:
    if row.by == "rule" and row.group != OVERALL:
        return "the rule never applied"
    own = {
        name
        for scheme in SCHEMES.values()
        for name in scheme.names([row.group, *(scheme.checked.get(row.group, ()) if row.by == "type" else ())])
    }
    if not own and row.group != OVERALL:
        return "no rule is about this"
    never = [rule for rule in idle if row.group == OVERALL or rule in own]
    return f"never applied: {', '.join(never)}" if never else "a rule never applied to questions of this type"
