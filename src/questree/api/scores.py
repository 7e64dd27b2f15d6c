"""Scores as an object: a flat table, tables as in the papers, plots, differences to other scores, a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from os import PathLike

import msgspec
import polars as pl

from questree.api.files import as_json
from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.metrics.cells import OVERALL
from questree.metrics.comparison import ModelDifference, compare, ranked
from questree.metrics.scores import QUESTION_ACCURACY, Resampling, Score, Scored, titled
from questree.places import path_of
from questree.scoring.footnotes import Footnotes
from questree.scoring.grids import grid, once
from questree.tables.store import new_file
from questree.tables.table import read_parquet

ROWS: dict[str, type[pl.DataType]] = {
    name: pl.Float64 if name in ("value", "low", "high") else pl.String for name in Score.__struct_fields__
}
ROWS["n"] = pl.Int64
DIFFERENCES: dict[str, type[pl.DataType]] = dict.fromkeys(ModelDifference.__struct_fields__, pl.Float64)
DIFFERENCES |= {"metric": pl.String, "by": pl.String, "group": pl.String}
DIFFERENCES |= {"n_a": pl.Int64, "n_b": pl.Int64, "weak": pl.Boolean}
FORMS = (".json", ".csv", ".parquet")
SHARES = (QUESTION_ACCURACY, "accuracy", "CA", "RWR", "Delta", "IC")  # told in one line


@dataclass(frozen=True, repr=False)
class Scores:
    """What models got: every metric of every group, with n and 95 % interval. Values are fractions.

    >>> scores = run.score("perception-noise", resamples=0)
    >>> scores
    <Scores of perception-noise: question accuracy 52.5, accuracy (mean over answers) 36.1, CA 100.0, RWR 31.9,
    Delta -68.1>
    >>> round(scores["accuracy", "Object Exists"], 3)
    0.638
    >>> scores.table("composition", ["CA", "RWR"]).head(2)
    shape: (2, 4)
    ┌─────────────┬────────┬───────┬─────────┐
    │ composition ┆ CA     ┆ RWR   ┆ n of CA │
    │ ---         ┆ ---    ┆ ---   ┆ ---     │
    │ str         ┆ str    ┆ str   ┆ i64     │
    ╞═════════════╪════════╪═══════╪═════════╡
    │ Interaction ┆ 100.00 ┆ 42.79 ┆ 144     │
    │ First       ┆ N/A    ┆ N/A   ┆ 0       │
    └─────────────┴────────┴───────┴─────────┘
    """

    rows: list[Score]
    scored: Mapping[str, Scored] = field(default_factory=dict)  # model -> what its scores are computed from
    resampling: Resampling | None = None
    told: Sequence[str] = ()  # what was said about coverage and policies
    guesses: Mapping[str, Scored] = field(default_factory=dict)  # the same of baselines that need no predictions

    @property
    def models(self) -> list[str]:
        """Names of the models, baselines last."""
        return once([*self.scored, *(row.model for row in self.rows)])

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return once(row.metric for row in self.rows)

    @property
    def by(self) -> list[str]:
        """What groups are of: type, composition, rule, ..."""
        return once(row.by for row in self.rows)

    def frame(self) -> pl.DataFrame:
        """One row per number: metric, by, group, value, n, low, high, model.

        >>> run.score("perception-noise", resamples=0).frame().columns
        ['metric', 'by', 'group', 'value', 'n', 'low', 'high', 'model']
        """
        return pl.DataFrame([msgspec.structs.astuple(row) for row in self.rows], schema=ROWS, orient="row")

    def __getitem__(self, name: str | tuple[str, str]) -> float | None:
        """A metric over all questions, or of one group: `scores["IC"]`, `scores["IC", "After"]`; of the first model.

        >>> run.score("perception-noise", resamples=0)["accuracy"] < 0.5
        True
        """
        metric, group = (name, OVERALL) if isinstance(name, str) else name
        found = [row for row in self.rows if (row.metric, row.group, row.model) == (metric, group, self.models[0])]
        if not found:
            self._known(metric)
            there = once(row.group for row in self.rows if row.metric == metric)
            raise BadInput.at("scores", f"expected a group of {metric}, got {group!r}; choose from {', '.join(there)}")
        return found[0].value

    def table(self, by: str = "", metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """As the papers have it: groups down, metrics across in per cent with their intervals.

        Parameters
        ----------
        by
            What groups are of, one of `scores.by`; the first one if left out.
        metrics
            Only these metrics.

        >>> run.score("perception-noise", resamples=0).table("rule").head(2)
        shape: (2, 3)
        ┌─────────────────┬────────┬─────┐
        │ rule            ┆ IC     ┆ n   │
        │ ---             ┆ ---    ┆ --- │
        │ str             ┆ str    ┆ i64 │
        ╞═════════════════╪════════╪═════╡
        │ Interaction Yes ┆ 100.00 ┆ 86  │
        │ Interaction No  ┆ 100.00 ┆ 421 │
        └─────────────────┴────────┴─────┘
        """
        chosen = by or self.by[0]
        if chosen not in self.by:
            raise BadInput.at("by", f"expected a kind of group, got {chosen!r}; choose from {', '.join(self.by)}")
        self._known(*metrics or ())
        known = metrics or once(row.metric for row in self.rows if row.by == chosen)
        return pl.DataFrame(grid(self.rows, chosen, known, chosen), infer_schema_length=None)

    def plot(self, metric: str = "", by: str = "") -> "Plot":
        """One metric, or the first, by group, a mark with its interval per model, as SVG.

        >>> run.score("perception-noise", resamples=0).plot("IC")
        <Plot of IC by rule>
        """
        from questree.show.report.group_plot import group_plot

        metric = metric or self.metrics[0]
        self._known(metric)
        own = by or next((row.by for row in self.rows if row.metric == metric), "")
        here = [row for row in self.rows if (row.metric, row.by) == (metric, own) and row.value is not None]
        if not here:
            there = once(row.by for row in self.rows if row.metric == metric and row.value is not None)
            raise BadInput.at("plot", f"no values of {metric} by {own!r}; choose from {', '.join(there) or 'none'}")
        return Plot(group_plot(here, self.models, titled(metric, own)), f"{titled(metric, own)} by {own}")

    def compare(self, other: "Scores", resamples: int = 1000, seed: int = 0) -> pl.DataFrame:
        """The first model of the other scores against the first of these, on the same questions.

        metric, by, group, a, b, difference (b - a), low, high, p, q (p after Benjamini-Hochberg), n_a, n_b,
        weak (not tested: fewer than 10 items on a side, or the same difference in every resample).

        >>> always = run.score(lambda question: "yes", resamples=0)
        >>> found = run.score("perception-noise", resamples=0).compare(always, resamples=100)
        >>> found.filter(metric="accuracy", group="Object Exists").select("a", "b", "difference")
        shape: (1, 3)
        ┌──────────┬─────┬────────────┐
        │ a        ┆ b   ┆ difference │
        │ ---      ┆ --- ┆ ---        │
        │ f64      ┆ f64 ┆ f64        │
        ╞══════════╪═════╪════════════╡
        │ 0.637681 ┆ 1.0 ┆ 0.362319   │
        └──────────┴─────┴────────────┘
        """
        first, second = (next(iter(scores.scored.values()), None) for scores in (self, other))
        if first is None or second is None:
            raise BadInput.at("compare", "expected scores of models, got scores that were read from a file")
        found = ranked(compare(first, second, Resampling(resamples, seed)))
        return pl.DataFrame([msgspec.structs.astuple(row) for row in found], schema=DIFFERENCES, orient="row")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the flat table: .json as `questree score --json` does, .csv or .parquet.

        >>> run.score("perception-noise", resamples=0).save("scores.json")
        """
        file = path_of(path)
        if file.suffix not in FORMS:
            raise BadInput.at(file, f"expected a name that ends with {', '.join(FORMS)}")
        with new_file(file) as work:
            if file.suffix == ".json":
                work.write_bytes(as_json(self.rows))
            elif file.suffix == ".csv":
                self.frame().write_csv(work)
            else:
                self.frame().write_parquet(work)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> "Scores":
        """Read scores that `save` or `questree score --json` wrote.

        >>> run.score("perception-noise", resamples=0).save("scores.json")
        >>> questree.Scores.read("scores.json")
        <Scores of perception-noise: question accuracy 52.5, accuracy (mean over answers) 36.1, CA 100.0, RWR 31.9,
        Delta -68.1>
        """
        file = path_of(path)
        if file.suffix not in FORMS:
            raise BadInput.at(file, f"expected a name that ends with {', '.join(FORMS)}")
        try:
            file.stat()
            if file.suffix == ".json":
                return cls(msgspec.json.decode(file.read_bytes(), type=list[Score]))
            table = pl.read_csv(file, schema=ROWS) if file.suffix == ".csv" else read_parquet(file)
            return cls([Score(**row) for row in table.select(list(ROWS)).iter_rows(named=True)])
        except OSError as error:
            raise BadInput.at(file, f"cannot be read ({error.strerror})") from error
        except (*UNREADABLE, pl.exceptions.PolarsError) as error:
            raise BadInput.at(
                file, f"expected scores as `save` writes them, got: {str(error).splitlines()[0]}"
            ) from None

    def _known(self, *metrics: str) -> None:
        told = f"choose from {', '.join(self.metrics)}"
        strange = [name for name in metrics if name not in self.metrics]
        refuse([Fault("scores", f"expected a metric, got {name!r}; {told}") for name in strange])

    @cached_property
    def _headline(self) -> list[Score]:
        """Every metric over all questions, of every model."""
        seen = dict[tuple[str, str], Score]()
        for row in self.rows:
            if row.group == OVERALL:
                seen.setdefault((row.model, row.metric), row)
        return list(seen.values())

    def __repr__(self) -> str:
        first = self.models[0] if self.models else "nobody"
        known = (row for row in self._headline if row.model == first and row.value is not None)
        told = ", ".join(
            f"{titled(row.metric, row.by)} {100 * (row.value or 0):.1f}" for row in known if row.metric in SHARES
        )
        more = f" and {len(self.models) - 1} more" if len(self.models) > 1 else ""
        return f"<Scores of {first}{more}: {told}>"

    def _repr_html_(self) -> str:
        if not self.rows:
            return "<p>no scores</p>"
        first, notes = self.by[0], Footnotes(self.rows)
        lines = grid(self.rows, first, once(row.metric for row in self.rows if row.by == first), first, notes)
        below = "<br>".join(map(escape, notes.lines()))
        return as_html(pl.DataFrame(lines, infer_schema_length=None)) + f"<small>{below}</small>"


@dataclass(frozen=True, repr=False)
class Plot:
    """A drawing: notebooks show it, `save` writes it.

    >>> run.score("perception-noise", resamples=0).plot("IC").save("consistency.svg")
    """

    svg: str
    title: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write the SVG file.

        >>> run.score("perception-noise", resamples=0).plot("IC").save("consistency.svg")
        """
        with new_file(path_of(path)) as work:
            work.write_text(self.svg, "utf-8")

    def __repr__(self) -> str:
        return f"<Plot of {self.title}>"

    def _repr_svg_(self) -> str:
        return self.svg


def as_html(table: pl.DataFrame) -> str:
    """All rows, right-aligned but for the first column."""
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows: Iterable[Sequence[object]] = table.iter_rows()
    body = "".join(
        "<tr>" + "".join(f"<td>{escape('' if cell is None else str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
