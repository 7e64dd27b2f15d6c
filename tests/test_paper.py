"""Tables for a paper: they compile with a real LaTeX and no box is overfull, whatever is in them."""

import csv
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from questree.api.papers import score_grids
from questree.cli.paper import PaperOptions
from questree.faults import BadInput
from questree.metrics.best import Marks, differing, marks
from questree.metrics.cells import Cell, Tallies
from questree.metrics.comparison import ModelDifference, compare
from questree.metrics.scores import Resampling, Score, Scored
from questree.scoring.run_scores import How
from questree.show.dag import Dag
from questree.show.outline import HIGHEST, is_paged, outlined
from questree.show.paper.grids import PaperTable, grids, only
from questree.show.paper.latex import COLUMN, Look, latex, wide
from questree.show.paper.plain_text import long_csv, markdown
from questree.show.paper.plots import write_plots
from questree.show.report.charts import differences_plot
from questree.show.report.document import Column, Grid, Line, Number, ReportDocument, ScoreRows, starred
from questree.show.report.made_from import ReportRequest
from questree.show.report.sections import report
from questree.svg import COLUMN as COLUMN_PIXELS
from questree.svg import PAGE
from test_browser import BLANKET
from worlds.papers import compiled
from worlds.served import answers, served_run, true_but_for


def wild(models: list[str], metrics: int, lines: int) -> Grid:
    """A large table with long names and every sign that means something to LaTeX."""
    numbers = [Number(1.0, 1_234_567, 0.9, 1.0, best=True), Number(-0.5, 3, -0.75, -0.2, differs=True), Number(None, 0)]
    heads = [f"Interaction Temporal Localization {at} 100% & a_b #1 {{x}} ~^\\" for at in range(lines)]
    columns = tuple(Column(f"metric {at} {'W' * at}", f"A long name of {at // 3}") for at in range(metrics))
    return Grid(
        "wild",
        "Wild_table",
        "What to see: <i> & 'more' of \"it\".",
        ("Question type", "Model"),
        columns,
        tuple(
            Line((head, model), tuple(numbers[at % 3] for at in range(metrics)), head == heads[-1])
            for head in heads
            for model in models
        ),
    )


@pytest.mark.parametrize("ci", ["below", "beside", "none"])
@pytest.mark.parametrize("width", [COLUMN, 397.0])
def test_no_box_is_overfull(tmp_path: Path, ci: str, width: float) -> None:
    models = ["Qwen2.5-VL-72B-Instruct-AWQ-of-somebody", "WWWWWWWWWWWWWWWWWWWWWWWWMMMMMMMMM", "x"]
    look = Look(ci, width)  # type: ignore[arg-type]
    tables = [latex(wild(models[:count], metrics, 9), look) for count in (1, 3) for metrics in (1, 7)]
    assert compiled(tmp_path, "\n".join(tables), width) == []


def test_an_overfull_box_would_be_noticed(tmp_path: Path) -> None:
    text = latex(wild(["a model"], 7, 2), Look(width=397.0))
    assert any(line.startswith("Overfull") for line in compiled(tmp_path, text))


def scored(passed: list[int]) -> Scored:
    """Accuracy on twenty videos with ten questions each."""
    own = np.array(passed)[:, None]
    return Scored(
        Tallies([("accuracy", "type", "Overall")], own, np.full_like(own, 10)),
        [Cell("accuracy", "type", "Overall", ((0,),))],
    )


MODELS = {"good": scored([8, 9] * 10), "fair": scored([8, 9, 8, 8] * 5), "poor": scored([2, 3, 3, 2, 3] * 4)}
RESAMPLING = Resampling(200, 0)
ROWS = [row for name, own in MODELS.items() for row in own.rows(name, RESAMPLING)]
KEY = ("accuracy", "type", "Overall")


def test_the_best_is_bold_and_what_differs_from_it_is_marked() -> None:
    found = marks(ROWS, MODELS, RESAMPLING)
    assert found.best == {(*KEY, "good")}
    p = [row.p for name in ("fair", "poor") for row in compare(MODELS["good"], MODELS[name], RESAMPLING)]
    assert p[0] is not None and p[1] is not None
    assert found.p == pytest.approx({(*KEY, "poor"): 1.5 * p[1], (*KEY, "fair"): 1.5 * p[0]})  # of 3 models
    assert differing(found.p) == {(*KEY, "poor")}
    close = {(*KEY, "poor"): 0.03, (*KEY, "fair"): 0.06}  # 2 * 0.03 is over 0.05
    assert marks(ROWS, MODELS, None).p == {} and marks(ROWS[:1], MODELS, RESAMPLING) == Marks()
    assert differing(close) == set() and differing({(*KEY, "poor"): 0.03}) == {(*KEY, "poor")}


def test_stars_go_by_what_is_printed() -> None:
    """A line more is a difference more that one of them may be by chance."""
    rows = [row for group in ("Overall", "And") for row in (renamed(ROWS[0], group), renamed(ROWS[2], group))]
    p = {(*row_key(row)[:3], "poor"): chance for row, chance in zip(rows[1::2], (0.03, 0.9), strict=True)}
    every = ScoreRows(rows, Marks(p=p))
    columns = (("accuracy", "accuracy", "type"),)
    (grid,) = grids(every, [PaperTable("t", "By type", "Type", "type", columns)])
    assert stars(starred([grid])) == 0
    assert stars(starred(only([grid], [], ["Overall"]))) == 1
    assert stars(starred([*only([grid], [], ["Overall"])] * 2)) == 1 * 2  # printed twice, one difference


def stars(found: list[Grid]) -> int:
    numbers = [entry for grid in found for line in grid.lines for entry in line.entries]
    return sum(entry.differs for entry in numbers if isinstance(entry, Number))


def row_key(row: Score) -> tuple[str, str, str, str]:
    return row.metric, row.by, row.group, row.model


def renamed(row: Score, group: str) -> Score:
    return Score(row.metric, row.by, group, row.value, row.n, row.low, row.high, row.model)


def test_of_several_training_runs_the_medians_are_compared() -> None:
    """The middle one of three runs that are better in every video is the median in every resample, too."""
    runs = {
        name: [scored([n + more + (at == 2 and n == 5) for n in (4, 5) * 10]) for more in (0, at, 3)]
        for name, at in (("a", 1), ("b", 2))
    }
    rows = [row for name, own in runs.items() for row in own[1].rows(name, RESAMPLING)]
    middle = {name: own[1] for name, own in runs.items()}
    assert marks(rows, runs, RESAMPLING) == marks(rows, middle, RESAMPLING)
    assert differing(marks(rows, runs, RESAMPLING).p) == {(*KEY, "a")}


def test_less_is_better_where_it_is() -> None:
    rows = [Score("RWR", "type", "Overall", value, 5, None, None, name) for name, value in (("a", 0.2), ("b", 0.4))]
    assert marks(rows, {"a": MODELS["good"], "b": MODELS["poor"]}, None).best == {("RWR", "type", "Overall", "a")}
    rows = [replace_metric(row, "slope") for row in rows]
    assert marks(rows, {"a": MODELS["good"], "b": MODELS["poor"]}, None).best == frozenset()


def replace_metric(row: Score, metric: str) -> Score:
    return Score(metric, row.by, row.group, row.value, row.n, row.low, row.high, row.model)


def table() -> Grid:
    rows = ScoreRows(ROWS, marks(ROWS, MODELS, RESAMPLING))
    (grid,) = grids(rows, [PaperTable("t", "By type", "Type", "type", (("accuracy", "accuracy", "type"),))], "A test.")
    return starred([grid])[0]


def test_a_table_says_its_values_marks_intervals_and_n() -> None:
    tex, text = latex(table()), markdown(table(), Look("beside"))
    assert r"\textbf{85.00}" in tex and r"26.00\rlap{*}" in tex and "A test." in tex and tex.count("& 200 ") == 3
    assert "| Overall | poor | 26.00\\* [" in text and "**85.00**" in text
    assert "[" not in markdown(table(), Look("none")) and r"\tiny" not in latex(table(), Look("none"))
    found = list(csv.DictReader(long_csv([table()]).splitlines()))
    assert [(row["model or kind"], row["value"], row["n"], row["best"], row["differs"]) for row in found] == [
        ("good", "0.85", "200", "yes", ""),
        ("fair", "0.825", "200", "", "yes" if found[1]["differs"] else ""),
        ("poor", "0.26", "200", "", "yes"),
    ]


PAPER_TYPES = [
    *("Object Exists", "Relation Exists", "Interaction", "Interaction Temporal Localization"),
    *("Exists Temporal Localization", "First/Last", "Longest/Shortest Action", "Conjunction", "Choose", "Equals"),
    "Overall",
]


def test_table_3_of_agqa_decomp_is_laid_out_as_in_the_paper() -> None:
    """Types down; Accuracy of the models and of Most-Likely, then CA, RWR, Delta and IC of the models."""
    names, metrics = ("HCRN", "HME", "PSAC"), ("accuracy", "CA", "RWR", "Delta", "IC")
    rows = [
        Score(metric, "type", group, 0.25, 40, None, None, model)
        for model in (*names, "Most-Likely")
        for metric in metrics
        for group in PAPER_TYPES
    ]
    found = {grid.name: grid for grid in score_grids("decomp", rows, {}, None)}
    main, guessed = found["decomp-type"], found["decomp-baseline-type"]  # Tables 3 and 11
    assert [line.heads for line in main.lines] == [(name,) for name in PAPER_TYPES]
    spans = {over: [column.title for column in main.columns if column.over == over] for over, _ in main.spans}
    first, rest = "Accuracy (mean over answers)", {metric: [*names] for metric in metrics[1:]}
    assert spans == {first: [*names, "Most-Likely"], **rest} and [*spans] == [first, *rest]
    assert [column.title for column in guessed.columns] == [first, *rest]
    text = latex(main, Look(width=480.0))
    heads = [r"\multicolumn{4}{c}{" + first, r"\multicolumn{3}{c}{CA", r"\multicolumn{3}{c}{RWR}"]
    assert "} & ".join(heads) in text
    narrow = latex(main)
    assert narrow.count(r"\multicolumn{3}{c}{CA}") == narrow.count(r"\multicolumn{3}{c}{IC}") == 1  # none is torn apart


def test_a_group_that_goes_on_in_another_table_is_named_there_again() -> None:
    lines = [
        Line((kind, f"line {at}"), (Number(0.5),), kind == "Overall") for kind in ("all", "Overall") for at in range(70)
    ]
    parts = latex(Grid("long", "Long", "", ("kind", "line"), (Column("value"),), tuple(lines))).split(
        r"\begin{tabular}"
    )[1:]
    assert len(parts) > 2
    for part in parts:
        rows = part.split("\\midrule\n", 1)[1].splitlines()
        assert re.fullmatch(r".*\\textit\{(all|Overall)\}\} \\\\", rows[0]), rows[0]
        assert part.count("\\midrule") <= 2  # below the names of columns, and between both groups


def test_columns_and_rows_are_chosen_by_name() -> None:
    grid = wild(["a", "b"], 3, 2)
    (kept,) = only([grid], ["metric 2 WW", "metric 0 "], ["b"])
    assert [column.title for column in kept.columns] == ["metric 2 WW", "metric 0 "]
    assert [line.heads[1] for line in kept.lines] == ["b", "b"]
    with pytest.raises(BadInput, match=r"rows: expected a name in the tables, got 'c'; choose from"):
        only([grid], [], ["c"])
    blocks = replace(grid, blocks={0: "First", 2: "Second"})
    assert only([blocks], [], ["b"])[0].blocks == {0: "First", 1: "Second"}


def test_widths_are_rather_too_large_than_too_small() -> None:
    assert wide("75.39") > 19.3 and wide("[66.2, 77.5]", 5.0) > 30


def test_files_that_are_something_else_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").touch()
    with pytest.raises(BadInput, match=r"not empty and not an earlier report \(it has thesis.txt\)"):
        PaperOptions(latex=tmp_path / "mine").check()
    with pytest.raises(BadInput, match=r"expected a name that ends in \.md, or a folder"):
        PaperOptions(markdown=tmp_path / "table.html").check()
    with pytest.raises(BadInput, match=r"rows: expected latex, markdown or csv beside it"):
        PaperOptions(rows="Overall").check()


COLUMN_POINTS = 240  # of a column of text
LEGIBLE = 6.0  # points


def illegible(svg: str) -> list[str]:
    """Letters that are too small in a column, or leave the picture."""
    width = float(re.findall(r'width="([\d.]+)"', svg)[0])
    found = []
    texts = r'<text x="([-\d.]+)" y="[-\d.]+" font-size="([\d.]+)" text-anchor="(\w+)"([^>]*)>([^<]*)<'
    for x, size, anchor, more, text in re.findall(texts, svg):
        room = 0 if "rotate" in more else 0.52 * float(size) * len(text)
        begin = float(x) - {"start": 0, "middle": room / 2, "end": room}[anchor]
        if float(size) * COLUMN_POINTS / width < LEGIBLE or begin < -4 or begin + room > width + 4:
            found.append(f"{text} at {x} in {size}")
    return found


def test_plots_are_legible_in_a_column_of_a_paper(written_report: ReportDocument) -> None:
    plots = dict(written_report.plots())
    drawn = {name: svg for name, svg in plots.items() if not name.startswith("failure-")}
    assert {"steps-plot", "composition-plot", "consistency-plot-1", "lengths", "answers", "first-words"} <= drawn.keys()
    assert {name: found for name, svg in drawn.items() if (found := illegible(svg))} == {}


def test_failures_are_legible_in_a_column_of_a_paper(written_report: ReportDocument) -> None:
    plots = {name: svg for name, svg in written_report.plots() if name.startswith("failure-")}
    assert plots
    for name, svg in plots.items():
        width, height = (float(re.findall(rf'{side}="([\d.]+)"', svg)[0]) for side in ("width", "height"))
        found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*width="([\d.]+)" height="([\d.]+)"', svg)
        boxes = [tuple(map(float, one)) for one in found]
        assert width <= (PAGE if name.endswith("-page") else COLUMN_PIXELS) and height <= HIGHEST
        assert 12 * COLUMN_POINTS / COLUMN_PIXELS >= LEGIBLE and min(sizes(svg)) * COLUMN_POINTS / COLUMN_PIXELS >= 6
        assert boxes and all(x >= 0 and x + wide <= width and y + high < height for x, y, wide, high in boxes)
        for one, other in combinations(boxes, 2):
            assert apart(one, other) or apart(other, one)


def apart(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Is the first box above or left of the second?"""
    return one[0] + one[2] <= other[0] or one[1] + one[3] <= other[1]


@pytest.mark.parametrize(("count", "name"), [(3, "failure-x"), (12, "failure-x-page")])
def test_a_large_dag_goes_on_in_a_second_column(count: int, name: str) -> None:
    """A chain of sub-questions whose last one stands below the first, too."""
    rows = [{"answer": "yes", "type": "Exists"} for _ in range(count)]
    pieces = [[("", "Did they hold"), ("object", f"thing <{at}> with a rather long name?")] for at in range(count)]
    edges = {at: [("And", at + 1)] for at in range(count - 1)}
    edges[0] = [("And", 1), ("Choose", count - 1)]
    svg = outlined(Dag(rows, pieces, edges))
    whose = " of 1" if name.endswith("-page") else ""
    assert svg.count("<rect") == count + 1 and f">Choose{whose}: {count}.<" in svg and "&lt;2&gt;" in svg
    assert is_paged(svg) == name.endswith("-page") and (">And of " in svg) == name.endswith("-page")


def sizes(svg: str) -> list[float]:
    return [float(size) for size in re.findall(r'font-size="([\d.]+)"', svg)]


def test_plots_are_files_of_both_kinds_and_always_the_same(written_report: ReportDocument, tmp_path: Path) -> None:
    plots = list(written_report.plots())[:3]
    assert write_plots(tmp_path / "a", plots) == write_plots(tmp_path / "b", plots) == (3, True)
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in "ab")
    assert first == second and sorted(first) == sorted(f"{name}.{end}" for name, _ in plots for end in ("svg", "pdf"))
    assert all(data.startswith(b"%PDF") and b"/FontFile" in data for name, data in first.items() if name[-3:] == "pdf")


def test_differences_are_plotted(tmp_path: Path) -> None:
    rows = [
        ModelDifference("accuracy", "type", "Interaction Temporal Localization", 0.5, 0.7, 0.2, 0.1, 0.3, 0.001, 0.01),
        ModelDifference("accuracy", "type", "Overall", 0.5, 0.5, 0.0, -0.1, 0.1, 0.9, 0.9),
        ModelDifference("IC", "type", "Choose", None, 0.5, None, None, None, None, None),
    ]
    svg = differences_plot(rows, ("one", "a model with a very long name"), 0.05, COLUMN_PIXELS)
    assert svg.count("<circle") == 2 and svg.count('fill="white" stroke="#0072b2"') == 1 and illegible(svg) == []


@pytest.fixture(scope="module")
def written_report(tmp_path_factory: pytest.TempPathFactory) -> ReportDocument:
    run = served_run(tmp_path_factory.mktemp("plotted") / "run")
    for model in ("a model with a rather long name", "other"):
        answers(run, model, true_but_for({BLANKET: "no"}))
    asked = ReportRequest("run", ("a model with a rather long name", "other"), ("oracle", "uniform"), "r.html")
    return report(run, asked, How(resamples=20, split=None), workers=1)
