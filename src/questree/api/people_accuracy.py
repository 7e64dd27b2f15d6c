"""How often people are right, by category: tasks side by side, as AGQA's Table 15 has its two."""

from collections.abc import Iterator, Sequence

from questree.api.made import Made, Said
from questree.api.people import listed
from questree.api.people_results import answered
from questree.api.runs import StrPath
from questree.benchmarks import AGQA, chosen
from questree.faults import Fault, at_least, refuse
from questree.metrics.answers import fit_rows
from questree.metrics.scores import Resampling, Score
from questree.people.results import Answered, Rule
from questree.scoring.agqa_tables import CATEGORIES, HARDER, KINDS
from questree.scoring.footnotes import Footnotes
from questree.scoring.grids import once, plain, shown
from questree.scoring.run_questions import scored_questions
from questree.tables.run import Run


def accuracy(
    run: StrPath,
    *,
    tasks: str = "verify",
    least_gold: float = 0.7,
    bots: bool = True,
    resamples: int = 1000,
    seed: int = 0,
) -> Made:
    """Share of questions that the majority answers like the benchmark, by category; several tasks side by side.

    Parameters
    ----------
    run
        Run folder.
    tasks
        Names of tasks, a column each, as in verify,choose.
    least_gold
        Share of gold somebody must have right to count; 0 keeps everybody.
    bots
        Count bots as people.
    resamples
        Number of bootstrap resamples behind intervals; 0 for none. Videos or images are drawn.
    seed
        Seed of the draws.
    """
    refuse(at_least(0, {"resamples": resamples, "least_gold": least_gold}))
    found = [answered(run, name, Rule(least_gold, bots=bots)) for name in once(listed(tasks))]
    refuse(faults(found))
    place, how = Run.at(run), Resampling(resamples, seed) if resamples else None
    own = chosen(place, found[0].options.benchmark, "decomposed")
    questions = scored_questions(place, own, None)
    rows = list[Score]()
    for one in found:
        scored = questions.score(one.human(), "skip")
        rows += [*scored.rows(one.name, how), *(fit_rows(scored.tallies, one.name, how) if own is AGQA else ())]
    return Made("people accuracy", list(told(rows)), rows)


def faults(found: Sequence[Answered]) -> list[Fault]:
    if not found:
        return [Fault("--tasks", "expected names of tasks, as in verify,choose, got none")]
    wrong = [one.name for one in found if not one.task.answers]
    wanted = "expected a task in which questions are answered"
    others = [one.name for one in found if one.options.benchmark != found[0].options.benchmark]
    empty = [one.name for one in found if one.task.answers and one.human().is_empty()]
    return [
        *(Fault("--tasks", f"{wanted}, got {name!r}") for name in wrong),
        *(Fault("--tasks", f"expected tasks about one benchmark, got {name!r} about another") for name in others),
        *(Fault("--tasks", f"no item of {name!r} has all its votes yet") for name in empty),
    ]


def told(rows: Sequence[Score]) -> Iterator[Said]:
    by_template = any(row.by == "template" for row in rows) and not any(row.by == "reasoning" for row in rows)
    titles = {"template": "By template"} if by_template else {**CATEGORIES, **HARDER}
    for by, title in titles.items():
        yield from side_by_side(title, rows, by)
    for row in (row for row in rows if row.metric == "R^2"):
        slope = next(one for one in rows if one.metric == "slope" and one.model == row.model)
        yield f"{row.model}: accuracy changes by {plain(slope.value, 4)} per step, R^2 {plain(row.value, 4)}"


def side_by_side(title: str, rows: Sequence[Score], by: str) -> Iterator[Said]:
    """B, O and All under every group, a column for each task; groups and kinds that nobody was asked are left out."""
    at = {(row.by, row.group, row.model): row for row in rows if row.metric == "accuracy"}
    models, notes, lines = once(row.model for row in rows), Footnotes(rows), []
    for group in once(name for place, name, _ in at if place == by):
        for kind, suffix in KINDS.items():
            found = {model: at.get((by + suffix, group, model)) for model in models}
            if not any(row is not None and row.n for row in found.values()):
                continue
            cells: dict[str, str | int | None] = {"": group, " ": kind}
            for model, row in found.items():
                cells |= {model: shown(row, notes), f"n {model}": row.n if row else None}
            lines.append(cells)
    if lines:
        yield title, lines
        yield from notes.lines()
