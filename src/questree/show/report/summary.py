"""The result in one paragraph: every sentence follows from overall values, their intervals and tests."""

from collections.abc import Iterator, Sequence

from questree.metrics.best import differing
from questree.metrics.scores import Score
from questree.show.report.document import Number, ScoreRows
from questree.show.report.front import Front
from questree.show.report.verdicts import is_above, listed, ranked

NAMED = 4  # models that are told one by one
COMPOSING = 2  # models whose composing is told
KNOWS = "oracle"  # the bot that is no rival


def paragraph(front: Front) -> Iterator[str]:
    """Who is ahead, whether that is more than guessing gives, how the best compose, and where they fail."""
    models = front.best_first(front.models)
    if not models:
        return
    yield answered(models)
    yield from ahead(front, models)
    yield from guessing(models, front.best_first([bot for bot in front.bots if bot != KNOWS]))
    for row in models[:COMPOSING]:
        yield from composing(front, row.model)


def value(row: Score) -> str:
    """ "78.84 % [77.8, 79.9]" """
    number = Number.of(row)
    return f"{number.text} % [{number.room}]" if number.room else f"{number.text} %"


def answered(models: Sequence[Score]) -> str:
    first, *others = models
    n = "the questions" if first.n is None else f"{first.n:,} questions"
    told = [f"{first.model} answers {value(first)} of {n} right", *(f"{row.model} {value(row)}" for row in others)]
    if len(models) > NAMED:
        told = [told[0], f"{told[-1]} as the last of {len(models)} models"]
    return f"{', '.join(told)}."


def ahead(front: Front, models: Sequence[Score]) -> Iterator[str]:
    """Whether the first differs from the others, by the test that the stars of tables stand for, over these."""
    first, *others = models
    keys = {row.model: (row.metric, row.by, row.group, row.model) for row in others}
    known = {key: front.alone.marks.p[key] for key in keys.values() if key in front.alone.marks.p}
    sure = differing(known)
    apart = [model for model, key in keys.items() if key in sure]
    close = [row.model for row in others if keys[row.model] in known.keys() - sure and near(first, row)]
    if close and not apart:
        yield f"These questions cannot tell {listed([first.model, *close])} apart."
    elif close:
        yield f"{first.model} is ahead of {listed(apart)}; {listed(close)} cannot be told from it."
    elif apart:
        whom = "of all other models" if 1 < len(apart) == len(others) else f"of {listed(apart)}"
        yield f"{first.model} is ahead {whom} by more than chance explains."


def near(a: Score, b: Score) -> bool:
    """Do the intervals overlap? With few resamples the test alone may miss what these tell apart."""
    return a.low is None or b.low is None or not is_above(a, b)


def guessing(models: Sequence[Score], bots: Sequence[Score]) -> Iterator[str]:
    """Models that are not above the best of the bots that do not know."""
    if not bots or bots[0].low is None:
        return
    guess = bots[0]
    no_better = [row.model for row in models if row.low is None or not is_above(row, guess)]
    if no_better:
        many = "is" if len(no_better) == 1 else "are"
        yield f"{listed(no_better)} {many} not shown to do better than {guess.model}, which has {value(guess)}."
    else:
        who = models[0].model if len(models) == 1 else "Every model"
        yield f"{who} does better than {guess.model}, which has {value(guess)}."


def composing(front: Front, model: str) -> Iterator[str]:
    right, wrong, agreed = (front.whole(metric, model) for metric in ("CA", "RWR", "IC"))
    if right is not None:
        yield f"{put_together(model, right)}{despite(wrong)}."
        yield from weakest(front.dags, right)
    if agreed is not None and agreed.value == 1:
        yield f"{model} never contradicts itself."
    elif agreed is not None:
        yield f"{model} keeps {value(agreed)} of the consistency rules that apply to its answers (IC)."


def put_together(model: str, right: Score) -> str:
    n = "" if right.n is None else f" {right.n:,}"
    if right.value == 1:
        return f"{model} composes without fault: all{n} wholes whose parts it has right are right (CA)"
    return f"Of{n} wholes whose parts {model} has right it has {value(right)} right (CA)"


def despite(wrong: Score | None) -> str:
    return "" if wrong is None else f", of those with a wrong part {value(wrong)} (RWR)"


def weakest(rows: ScoreRows, overall: Score) -> Iterator[str]:
    """The composition that fails most, if one is below the overall value; no word where all are the same."""
    known = ranked(rows, "CA", overall.model)
    if len({row.value for row in known}) < 2 or overall.low is None:
        return
    below = [row for row in known[::-1] if is_above(overall, row)]
    if below:
        yield f"It fails most at {listed(f'{row.group} ({value(row)})' for row in below[:3])}."
    else:
        yield "No composition can be told to be harder for it than the others."
