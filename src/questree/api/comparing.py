"""Models against each other on the same questions: two, or each before and after it learnt sub-questions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from questree.api.score_sets import given_files, models_in, scored_models
from questree.api.score_tables import Telling, counts, difference_table, difference_with_room, untested
from questree.faults import BadInput
from questree.metrics.cells import OVERALL
from questree.metrics.comparison import ModelDifference, compare, ranked
from questree.metrics.scores import Resampling
from questree.scoring.compared import ComparingOptions, Tell, names, silent
from questree.scoring.grids import percent

if TYPE_CHECKING:
    from questree.show.report.document import Grid

BY = ("reasoning", "semantic", "structural")


@dataclass(frozen=True)
class ModelComparison:
    """The second model minus the first, cell by cell."""

    first: str
    second: str
    rows: list[ModelDifference]  # all there are; q is over those that are shown
    cells: list[ModelDifference]  # those that are shown
    resamples: int
    level: float = 0.05  # false discovery rate up to which a difference counts

    def shown(self, significant: bool) -> list[ModelDifference]:
        return [row for row in self.cells if counts(row, self.level)] if significant else self.cells

    def told(self, shown: Sequence[ModelDifference]) -> Telling:
        return difference_table(self.cells, shown, self.first, self.second, self.level)

    def grids(self, shown: Sequence[ModelDifference]) -> "list[Grid]":
        """As tables for a paper."""
        from questree.show.paper.grids import difference_grids

        tested = sum(row.q is not None for row in self.cells)
        return list(difference_grids(shown, (self.first, self.second), self.level, self.resamples, tested))

    def plots(self, shown: Sequence[ModelDifference], width: float) -> Iterator[tuple[str, str]]:
        """A drawing per kind of group."""
        from questree.show.report.charts import differences_plot

        draw = partial(differences_plot, names=(self.first, self.second), level=self.level, wide=width)
        for table in dict.fromkeys(row.by for row in shown):
            yield f"differences-{table}", draw([row for row in shown if row.by == table])


def chosen(rows: Sequence[ModelDifference], metric: str | None, by: str | None) -> list[ModelDifference]:
    """Those asked for; of the main tables of a paper, if nothing is."""
    usual = [row for row in rows if row.by != "answer" and not row.metric.startswith("RWR-")]
    kept = rows if metric or by else usual
    wanted = [row for row in kept if metric in (None, row.metric) and by in (None, row.by)]
    if not wanted:
        tables = ", ".join(dict.fromkeys(f"{row.metric} by {row.by}" for row in rows))
        raise BadInput.at("--metric, --by", f"expected cells of the table, got none; choose from {tables}")
    return wanted


def compare_models(
    a: Path,
    b: Path,
    *,
    run: Path | None,
    hierarchies: Path | None,
    questions: Path | None,
    split: str | None,
    benchmark: str,
    how: ComparingOptions,
    level: float,
    metric: str | None,
    by: str | None,
    cache: bool,
    say: Tell = silent,
) -> ModelComparison:
    """Of files of predictions, or of models that are stored in the run."""
    known = models_in(run, benchmark) if run else []
    models = [str(one) for one in (a, b) if str(one) in known]
    more = f"; stored in {run}: {', '.join(known) or 'no models'}" if run else ""
    files = given_files([one for one in (a, b) if str(one) not in models], more)
    called = dict(zip(map(str, files), names(files), strict=True))
    first, second = (called.get(str(one), str(one)) for one in (a, b))
    asked = run, hierarchies, questions
    found = dict(scored_models(files, models, *asked, split=split, benchmark=benchmark, how=how, say=say, cache=cache))
    rows = compare(found[first], found[second], Resampling(how.resamples, how.seed), how.fewest)
    cells = ranked(chosen(rows, metric, by))
    every = {(row.metric, row.by, row.group): row for row in [*rows, *cells]}
    return ModelComparison(first, second, [*every.values()], cells, how.resamples, level)


@dataclass(frozen=True)
class Gains:
    """What models gain when they are trained on sub-questions too."""

    models: Mapping[str, list[ModelDifference]]
    resamples: int

    def told(self) -> Telling:
        """Training sets down and models across, then the difference by category."""
        own = {name: cell(rows) for name, rows in self.models.items()}
        lines: dict[str, Callable[[ModelDifference], str]] = {
            "AGQA": lambda row: percent(row.a),
            "AGQA-Decomp": lambda row: percent(row.b),
            "difference": difference_with_room,
            "p": lambda row: "" if row.p is None else f"{row.p:.4f}",
            "n": lambda row: f"{row.n_a:,}",
        }
        table: list[dict[str, Any]] = [
            {"trained on": called, **{name: write(row) for name, row in own.items()}} for called, write in lines.items()
        ]
        yield "AGQA accuracy by what a model was trained on", table
        groups = dict.fromkeys(
            (row.by, row.group) for rows in self.models.values() for row in rows if row.group != OVERALL
        )
        yield (
            "Difference by category",
            [
                {"by": by, "group": group}
                | {name: difference_with_room(cell(rows, by, group)) for name, rows in self.models.items()}
                | {"n": max(cell(rows, by, group).n_a for rows in self.models.values())}
                for by, group in groups
            ],
        )
        yield from untested(row for rows in self.models.values() for row in rows)

    def grids(self) -> "list[Grid]":
        """As tables for a paper."""
        from questree.show.paper.grids import gain_grids

        return list(gain_grids(self.models, self.resamples))


def gains(
    questions: Path, base: Sequence[Path], augmented: Sequence[Path], how: ComparingOptions, say: Tell = silent
) -> Gains:
    """Of pairs of files on AGQA's questions."""
    files = given_files([*base, *augmented])
    if len(base) != len(augmented):
        raise BadInput.at("--augmented", f"expected as many files as --base, {len(base)}, got {len(augmented)}")
    scored = [one for _, one in scored_models(files, (), questions=questions, how=how, say=say)]
    pairs = zip(scored[: len(base)], scored[len(base) :], strict=True)
    found = [compare(a, b, Resampling(how.resamples, how.seed), how.fewest) for a, b in pairs]
    each = [[row for row in rows if row.by in BY] for rows in found]
    tested = iter(ranked(row for rows in each for row in rows))
    return Gains(
        {name: list(islice(tested, len(rows))) for name, rows in zip(names(base), each, strict=True)}, how.resamples
    )


def cell(rows: Sequence[ModelDifference], by: str = BY[0], group: str = OVERALL) -> ModelDifference:
    return next(row for row in rows if (row.metric, row.by, row.group) == ("accuracy", by, group))
