"""Models against each other on the same questions: two, or each before and after it learnt sub-questions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from questree.api.score_sets import dags, given_files, models_in
from questree.api.score_tables import Telling, counts, difference_table
from questree.faults import BadInput
from questree.metrics.cells import OVERALL
from questree.metrics.comparison import ModelDifference, compare
from questree.metrics.scores import Resampling, Scored
from questree.scoring.compared import ComparingOptions, Tell, names, silent
from questree.scoring.grids import percent

if TYPE_CHECKING:
    from questree.show.report.document import Grid

BY = ("reasoning", "semantic", "structural")
Counts = Mapping[tuple[str, str, str], int | None]  # metric, by, group -> number of questions


def numbers(scored: Scored) -> Counts:
    return {(row.metric, row.by, row.group): row.n for row in scored.rows("")}


@dataclass(frozen=True)
class ModelComparison:
    """The second model minus the first, cell by cell."""

    first: str
    second: str
    rows: list[ModelDifference]
    n: Counts
    resamples: int
    level: float = 0.05  # false discovery rate up to which a difference counts

    def cells(self, metric: str | None, by: str | None, significant: bool) -> list[ModelDifference]:
        """Those asked for; of the main tables of a paper, if nothing is."""
        usual = [row for row in self.rows if row.by != "answer" and not row.metric.startswith("RWR-")]
        kept = self.rows if metric or by or significant else usual
        wanted = [row for row in kept if metric in (None, row.metric) and by in (None, row.by)]
        if not wanted:
            tables = ", ".join(dict.fromkeys(f"{row.metric} by {row.by}" for row in self.rows))
            raise BadInput.at("--metric, --by", f"expected cells of the table, got none; choose from {tables}")
        return [row for row in wanted if counts(row, self.level)] if significant else wanted

    def told(self, cells: Sequence[ModelDifference]) -> Telling:
        return difference_table(self.rows, cells, self.first, self.second, self.level)

    def grids(self, cells: Sequence[ModelDifference]) -> "list[Grid]":
        """As tables for a paper."""
        from questree.show.paper.grids import difference_grids

        return list(difference_grids(cells, (self.first, self.second), self.n, self.level, self.resamples))

    def plots(self, cells: Sequence[ModelDifference], width: float) -> Iterator[tuple[str, str]]:
        """A drawing per kind of group."""
        from questree.show.report.charts import differences_plot

        draw = partial(differences_plot, names=(self.first, self.second), level=self.level, wide=width)
        for table in dict.fromkeys(row.by for row in cells):
            yield f"differences-{table}", draw([row for row in cells if row.by == table])


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
    on = dags(run, hierarchies, questions, split=split, benchmark=benchmark, how=how, say=say, cache=cache)
    found = {model: scored for model, scored, _ in on.corpus.scored(files, models)}
    rows = compare(found[first], found[second], Resampling(how.resamples, how.seed))
    return ModelComparison(first, second, rows, numbers(found[first]), how.resamples, level)


@dataclass(frozen=True)
class Gains:
    """What models gain when they are trained on sub-questions too."""

    models: Mapping[str, list[ModelDifference]]
    n: Counts
    resamples: int

    def told(self) -> Telling:
        """Training sets down and models across, then the difference by category."""
        own = {name: cell(rows) for name, rows in self.models.items()}
        lines: dict[str, Callable[[ModelDifference], str]] = {
            "AGQA": lambda row: percent(row.a),
            "AGQA-Decomp": lambda row: percent(row.b),
            "difference": difference,
            "p": lambda row: "" if row.p is None else f"{row.p:.4f}",
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
                | {name: difference(cell(rows, by, group)) for name, rows in self.models.items()}
                for by, group in groups
            ],
        )

    def grids(self) -> "list[Grid]":
        """As tables for a paper."""
        from questree.show.paper.grids import gain_grids

        return list(gain_grids(self.models, self.n, self.resamples))


def gains(
    questions: Path, base: Sequence[Path], augmented: Sequence[Path], how: ComparingOptions, say: Tell = silent
) -> Gains:
    """Of pairs of files on AGQA's questions."""
    files = given_files([*base, *augmented])
    if len(base) != len(augmented):
        raise BadInput.at("--augmented", f"expected as many files as --base, {len(base)}, got {len(augmented)}")
    scored = [one for _, one, _ in dags(None, None, questions, how=how, say=say).corpus.scored(files)]
    pairs = zip(scored[: len(base)], scored[len(base) :], strict=True)
    found = [compare(a, b, Resampling(how.resamples, how.seed)) for a, b in pairs]
    models = dict(zip(names(base), ([row for row in rows if row.by in BY] for rows in found), strict=True))
    return Gains(models, numbers(scored[0]) if scored else {}, how.resamples)


def cell(rows: Sequence[ModelDifference], by: str = BY[0], group: str = OVERALL) -> ModelDifference:
    return next(row for row in rows if (row.metric, row.by, row.group) == ("accuracy", by, group))


def difference(row: ModelDifference) -> str:
    room = "" if row.low is None or row.high is None else f" [{percent(row.low)}, {percent(row.high)}]"
    return f"{percent(row.difference)}{room}"
