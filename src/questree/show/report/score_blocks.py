"""The tables and plots of scores, in the order they are read."""

from collections.abc import Iterator, Sequence

from questree.metrics.dags.correlation import NAME as CORRELATION
from questree.show.report.agqa_tables import agqa_tables
from questree.show.report.charts import composition_plot, dags_plot, models_plot, steps_plot
from questree.show.report.decomp_tables import decomp_tables
from questree.show.report.document import Block, Figure
from questree.show.report.grid import Column, Grid, Line, Rows
from questree.show.report.scoring import Result


def decomp_blocks(rows: Rows, results: Sequence[Result], models: Sequence[str], bots: Sequence[str]) -> Iterator[Block]:
    shown, below = (models, bots) if models else (bots, ())
    by_type, by_composition, *others = decomp_tables(rows, models, bots)
    yield by_type
    yield by_composition
    caption = (
        "How often a whole is right when its parts are (CA), when a part is wrong (RWR), and the difference (Delta). "
        "Whiskers are 95 % intervals; dashed ticks are bots. A model that reasons has a high CA and a low Delta."
    )
    plot = composition_plot(rows, shown, below)
    yield from figure("composition-plot", "CA, RWR and Delta by composition", caption, plot)
    caption = (
        "First every model's overall accuracy and internal consistency with 95 % intervals, bots in grey. Then, per "
        "model, how many DAGs have which accuracy and consistency; darker is more, each shade a constant factor. "
        "If answers were reasoned, consistent DAGs would be the accurate ones."
    )
    own = [result for result in results if result.model in shown]
    plots = [models_plot(rows, shown, below), *(dags_plot(one.model, *one.dags) for one in own)]
    yield from figure("consistency-plot", "Consistency against accuracy", caption, *plots)
    yield correlations(rows, [*models, *bots])
    yield from others


def correlations(rows: Rows, models: Sequence[str]) -> Grid:
    entries = tuple(rows.number(CORRELATION, "dag", "Overall", model, "plain") for model in models)
    caption = "Pearson correlation over DAGs of accuracy and consistency, with 95 % interval and the number of DAGs."
    columns = tuple(Column(model) for model in models)
    title = "Consistency and accuracy of DAGs"
    return Grid("decomp-correlation", title, caption, ("",), columns, (Line(("correlation",), entries),))


def agqa_blocks(rows: Rows, models: Sequence[str], bots: Sequence[str]) -> Iterator[Block]:
    categories, *others = agqa_tables(rows, models, bots)
    yield categories
    caption = (
        "Dots are as large as their number of questions; lines are weighted fits with their 80 % bands; bots are "
        "dashed. A falling line says that longer reasoning is harder for the model; bots do not reason."
    )
    shown, below = (models, bots) if models else (bots, ())
    yield from figure("steps-plot", "Accuracy against steps", caption, steps_plot(rows, shown, below))
    yield from others


def figure(name: str, title: str, caption: str, *pictures: str) -> Iterator[Figure]:
    """Nothing where nothing could be drawn."""
    drawn = tuple(filter(None, pictures))
    if drawn:
        yield Figure(name, title, caption, drawn)
