"""The report: its tables say what the scores say, it is one file, it survives any text, it names what is missing."""

import base64
import csv
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import copy
from questree.cli.paper import PaperOptions
from questree.cli.report import ReportScoring
from questree.cli.report import report as command
from questree.faults import BadInput
from questree.metrics.catalogue import METRICS, Metric
from questree.metrics.scores import Score
from questree.models.bot_runs import answer_run
from questree.models.bots import BotOptions
from questree.scoring.run_scores import How
from questree.scoring.split_rows import BY_FLAGS
from questree.show.image_view import ImageView
from questree.show.paper.latex import Look, escaped, latex
from questree.show.report.document import Column, Failure, Grid, Line, Number
from questree.show.report.failures import SHOWN, failures
from questree.show.report.made_from import ReportRequest
from questree.show.report.sections import report
from questree.show.report.shots import spread_out
from questree.show.report.written import page
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.split.engine import SplitOptions
from questree.stages.split.videos import split
from questree.tables.facts import FRAMES, VIDEOS
from questree.tables.lock import lock
from questree.tables.predictions import models
from questree.tables.run import Run
from test_browser import BLANKET, browser  # noqa: F401
from worlds.access import findings
from worlds.drawn import measured
from worlds.exported_worlds import random_run, select_every
from worlds.image_run import image_run
from worlds.papers import compiled
from worlds.served import SCRIPT, answers, served_run, true_but_for

MODELS = ("seer", "thinker")
BOTS = ("oracle", "most-likely", "uniform")
HOW = How(resamples=40)
STRANGE = f'{SCRIPT} & "it\'s" 100%_$#{{}}~^\\'


class Tables(HTMLParser):
    """Tables of a page by the id of their figure: rows of cells, each the texts inside; and all elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self.name, self.cell = "", list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.elements.append((tag, known))
        self.ids += [id for id in [known.get("id")] if id]
        if tag == "figure":
            self.name = known.get("id") or ""
            self.tables[self.name] = []
        elif tag == "tr":
            self.tables[self.name].append([])
        elif tag in ("td", "th"):
            self.cell = []
            self.tables[self.name][-1].append(self.cell)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.cell.append(data.strip())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Random worlds with a selection, splits, DAGs, a lock, and two models."""
    made = random_run(tmp_path_factory.mktemp("reported") / "run")
    select_every(made, 19)
    split(made, SplitOptions(), 1)
    decompose(made, DecomposeOptions(balanced=True), pool=ThreadPoolExecutor(1))
    answer_run(made, BotOptions("perception-noise", noise=0.3), MODELS[0])
    answer_run(made, BotOptions("composition-noise", noise=0.3), MODELS[1])
    lock(made)
    return made


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two videos, one of them for testing, and two models."""
    made = served_run(tmp_path_factory.mktemp("small") / "run")
    for model in MODELS:
        answers(made, model, true_but_for({BLANKET: "no"}))
    lock(made)
    return made


@pytest.fixture(scope="module")
def written(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of both models as files."""
    folder = tmp_path_factory.mktemp("written")
    out, latex, csv = (folder / name for name in ("report.html", "latex", "csv"))
    command(
        run.folder,
        out=out,
        paper=PaperOptions(latex=latex, csv=csv),
        split="all",
        workers=1,
        quiet=True,
        how=ReportScoring(resamples=40),
    )
    return folder


@pytest.fixture(scope="module")
def rows(run: Run) -> dict[tuple[str, str, str, str], Score]:
    """Scores as the scoring commands compute them."""
    from questree.metrics.dags import score_decomp
    from questree.metrics.scores import Resampling
    from questree.models.stored import said
    from questree.stages.decompose.hierarchies import run_hierarchies
    from questree.tables.predictions import Stored

    asked = run_hierarchies(run, workers=1)
    found: dict[tuple[str, str, str, str], Score] = {}
    for model in MODELS:
        scored = score_decomp(asked.hierarchies, said(asked, Stored.of(run, model)))
        found |= {(r.metric, r.by, r.group, model): r for r in scored.rows(model, Resampling(40, 0))}
    return found


def percent(value: float | None) -> str:
    return "N/A" if value is None else f"{100 * value:.2f}"


def lines(text: str, name: str) -> dict[str, list[list[str]]]:
    """Head -> cells of the body of a table with one head per line; parts of a wide one are joined."""
    found: dict[str, list[list[str]]] = {}
    for row in Tables(text).tables[name]:
        if row and len(row[0]) == 1 and len(row) > 2 and row[1] and re.match(r"-?\d|N/A", row[1][0]):
            found.setdefault(row[0][0], []).extend(row[1:])
    return found


@pytest.mark.parametrize(("name", "by"), [("decomp-type", "type"), ("decomp-composition", "composition")])
def test_the_tables_of_the_page_say_what_the_scores_say(
    written: Path, rows: dict[tuple[str, str, str, str], Score], name: str, by: str
) -> None:
    metrics = ["accuracy", "CA", "RWR", "Delta", "IC"] if by == "type" else ["CA", "RWR", "Delta", "IC"]
    places = [(metric, model) for metric in metrics for model in MODELS]
    if by == "type":
        places.insert(2, ("accuracy", "most-likely"))
    found = lines((written / "report.html").read_text("utf-8"), name)
    assert found.keys() == {group for (_, own, group, _) in rows if own == by}
    for group, cells in found.items():
        for (metric, model), cell in zip(places, cells, strict=True):
            if model in MODELS:
                row = rows[metric, by, group, model]
                assert cell[0] == percent(row.value)
                assert cell[-1] == (f"n {row.n:,}" if row.n is not None else cell[-1])


def test_csv_files_hold_the_unrounded_scores(written: Path, rows: dict[tuple[str, str, str, str], Score]) -> None:
    with (written / "csv" / "decomp-composition.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert {line["Composition"] for line in table} >= {"Interaction", "After", "Overall"}
    for line in table:
        for metric in ("CA", "RWR", "Delta", "IC"):
            for model in MODELS:
                row = rows[metric, "composition", line["Composition"], model]
                for name, value in (("", row.value), (" low", row.low), (" high", row.high), (" n", row.n)):
                    text = line[f"{metric} {model}{name}"]
                    assert (None if text == "" else float(text)) == value


def test_questions_of_a_run_are_scored_like_the_exported_ones(run: Run, tmp_path: Path) -> None:
    from questree.formats.agqa_import import read_questions
    from questree.scoring.run_questions import video_questions
    from worlds.exported_worlds import exported

    folder = exported(run, tmp_path / "out")
    mine = video_questions(run, "test").asked.sort("id")
    other = read_questions(folder / "AGQA_balanced" / "test_balanced.txt").table.sort("id")
    by_splits = {"novel_comp", "nc_seq", "nc_sup", "nc_dur", "nc_objrel"}  # of a run; records have flags
    for name in (column for column in other.columns if column not in {"answer", "direct", *by_splits}):
        assert mine[name].equals(other[name], check_names=False), name
    assert mine["answer"].str.to_lowercase().equals(other["answer"])
    indirect = other.select("i_obj", "i_rel", "i_act", "i_temp").max_horizontal()
    assert mine["direct"].filter(indirect).equals(other["direct"].filter(indirect))


def test_a_metric_of_a_plugin_has_a_table_of_dags_and_one_of_questions(
    small: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = Metric("No share", "share of no among predictions", lambda table: table["prediction"] == "no")
    monkeypatch.setitem(METRICS, metric.name, metric)
    made = report(small, ReportRequest("my run", MODELS, ("oracle",), "r.html"), HOW, workers=1)
    tables = {grid.name: grid for grid in made.grids()}
    for section in ("decomp", "agqa"):
        grid = tables[f"{section}-no-share"]
        assert [column.title for column in grid.columns] == [*MODELS, "oracle"]
        ((number, *_),) = [line.entries for line in grid.lines if line.heads == ("Overall",)]
        assert isinstance(number, Number) and number.value is not None and 0 < number.value < 1 and number.n
    assert "No share = share of no among predictions" in page(made)


def test_the_oracle_is_right_everywhere_on_the_page(written: Path) -> None:
    found = lines((written / "report.html").read_text("utf-8"), "decomp-bots-type")
    assert {cells[0][0] for cells in found.values()} <= {"100.00", "N/A"}
    assert found["Overall"][0][0] == "100.00"


def test_the_file_refers_to_nothing_outside(written: Path) -> None:
    text = (written / "report.html").read_text("utf-8")
    assert set(re.findall(r"\w+://[^\s\"'<]*", text)) == {"http://www.w3.org/2000/svg"}
    found = Tables(text)
    assert not {"link", "iframe", "img", "object", "embed", "base"} & {tag for tag, _ in found.elements}
    assert [known for tag, known in found.elements if tag == "script"] == [{}]
    inside = [known["href"] for _, known in found.elements if known.get("href")]
    assert inside and all(str(place).startswith("#") and str(place)[1:] in found.ids for place in inside)
    assert len(found.ids) == len(set(found.ids))
    assert "@import" not in text and "url(" not in text


def test_the_page_opens_from_disk_without_complaint(written: Path, request: pytest.FixtureRequest) -> None:
    tab = request.getfixturevalue("browser").new_page()
    complaints, asked = list[str](), list[str]()
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda each: asked.append(each.url))
    place = (written / "report.html").resolve().as_uri()
    tab.goto(place)
    assert (complaints, asked) == ([], [place])
    assert tab.locator("figure.failure .questree-dag[data-ready]").count() > 5
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")  # only tables may be scrolled sideways
    drawn = tab.locator(".picture svg").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    assert min(drawn) > 200
    assert findings(tab) == []
    tab.set_viewport_size({"width": 420, "height": 850})
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert findings(tab) == []
    tree = tab.locator("figure.failure .cards.tree").first
    assert tree.evaluate("tree => tree.querySelector('.node:not([hidden])').dataset.node") == "0"  # opens on its root
    assert measured(tab)["faults"] == [] and measured(tab)["smallest"] >= 12
    tab.locator("#made-from").scroll_into_view_if_needed()
    assert tab.locator("nav").evaluate("nav => nav.getBoundingClientRect().top") == 0  # contents stay in view
    tab.set_viewport_size({"width": 1017, "height": 688})  # A4 without its margins
    tab.emulate_media(media="print")
    wide = "all => all.filter(one => one.offsetWidth > (one.closest('.many') ? 1017 : 688)).length"
    assert tab.locator("table").evaluate_all(wide) == 0
    tab.close()


def test_the_page_opens_with_the_result_and_ends_with_digests(written: Path) -> None:
    text = (written / "report.html").read_text("utf-8")
    ids = [id for id in Tables(text).ids if id in re.findall(r'<section id="([^"]+)"', text)]
    assert ids == ["result", "failures", "in-words", "decomp", "agqa", "questions", "parts", "made-from"]
    assert text.index('class="lead"') < text.index('id="scoreboard"') < text.index('id="forest"')
    assert text.index('id="made-from"') < text.index("code when locked")


def test_the_scoreboard_says_what_the_scores_say(written: Path, rows: dict[tuple[str, str, str, str], Score]) -> None:
    found = lines((written / "report.html").read_text("utf-8"), "scoreboard")
    assert list(found)[2:] == ["oracle", *sorted(BOTS[1:], key=lambda bot: -float(found[bot][0][0]))]
    assert set(list(found)[:2]) == set(MODELS)
    places = [("question accuracy", "type"), *((metric, "composition") for metric in ("CA", "RWR", "Delta", "IC"))]
    for model in MODELS:
        wanted = [percent(rows[metric, by, "Overall", model].value) for metric, by in places]
        assert [cell[0] for cell in found[model][1:]] == wanted


def test_the_same_inputs_give_the_same_bytes(run: Run, written: Path) -> None:
    asked = ReportRequest(str(run.folder), MODELS, BOTS, "report.html")
    again = page(report(run, asked, How(split=None, resamples=40), workers=1))
    assert again == (written / "report.html").read_text("utf-8")


def test_names_and_answers_with_markup_stay_text(tmp_path: Path) -> None:
    run = served_run(tmp_path / "run")
    answers(run, "plain", true_but_for({BLANKET: STRANGE, "Does a blanket exist?": "no"}))
    (run.predictions / "plain").rename(run.predictions / STRANGE.replace("/", "|"))
    (name,) = models(run)
    made = report(run, ReportRequest("run", (name,), ("most-likely",), "report.html"), How(resamples=0), workers=1)
    text = page(made)
    assert "<script>alert" not in text and text.count("<script") == 1
    assert "&lt;script&gt;alert(1)" in text
    told = [block for section in made.sections for block in section.blocks if isinstance(block, Failure)]
    assert any(said == STRANGE for failure in told for _, said, _ in failure.said)
    for grid in made.grids():
        tex = latex(grid, Look(width=5000))
        named = {text for column in grid.columns for text in (column.title, column.over)}
        named |= {head for line in grid.lines for head in line.heads}
        assert "<" not in tex and (escaped(name) in tex) == (name in named)


def test_latex_escapes_every_sign_that_means_something() -> None:
    assert escaped("a_b & 5% <i> {x} ~^ \\ $#") == (
        r"a\_b \& 5\% \textless{}i\textgreater{} \{x\} \textasciitilde{}\textasciicircum{} \textbackslash{} \$\#"
    )
    assert escaped("two\nlines\x00") == "two lines "


def test_latex_tables_have_as_many_cells_in_every_line(written: Path) -> None:
    files = sorted((written / "latex").glob("*.tex"))
    assert len(files) == len(list((written / "csv").glob("*.csv"))) >= 12
    for path in files:
        text = path.read_text("utf-8")
        for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
            assert rule in text
        for kinds, body in re.findall(r"\\begin\{tabular\}\{@\{\}([lr]+)@\{\}\}(.*?)\\end", text, re.DOTALL):
            for line in (line for line in body.splitlines() if r"\\" in line):
                cells = re.split(r"(?<!\\)&", line)
                spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line))
                assert len(cells) + spans == len(kinds), f"{path.name}: {line}"
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


def test_every_table_of_a_report_fits_a_column_of_text(written: Path, tmp_path: Path) -> None:
    texts = [path.read_text("utf-8") for path in sorted((written / "latex").glob("*.tex"))]
    assert compiled(tmp_path, "\n\\clearpage\n".join(texts)) == []


def test_a_table_is_written_three_ways_with_blocks_and_common_heads() -> None:
    half, none = Number(0.5, 4, 0.25, 0.75), Number(None, 0)
    grid = Grid(
        "small",
        "Small",
        "What to see.",
        ("", "kind"),
        (Column("A", "accuracy"), Column("B", "accuracy")),
        (Line(("x", "B"), (half, none)), Line(("x", "All"), (Number(-0.00001), None)), Line(("y", "B"), ("word", 7))),
        {0: "First", 2: "Second"},
    )
    assert [(above, reach) for above, reach, _ in grid.rows()] == [("First", 2), ("", 0), ("Second", 1)]
    assert [(one.text, one.room) for one in (half, none, Number(-0.00001))] == [
        ("50.00", "25.0, 75.0"),
        ("N/A", ""),
        ("0.00", ""),
    ]
    body = latex(grid, Look("beside")).splitlines()
    assert r" & \multicolumn{2}{c}{accuracy} &  \\" in body
    assert r"\multicolumn{4}{@{}l@{}}{\textit{First: x}} \\" in body
    assert r"B & 50.00 {\tiny [25.0,\,75.0]} & N/A & 4 \\" in body
    assert r"All & 0.00 &  &  \\" in body
    from questree.show.report.written import csv_text

    assert csv_text(grid).splitlines() == [
        "table,group 1,kind,accuracy A,accuracy A low,accuracy A high,accuracy A n,"
        "accuracy B,accuracy B low,accuracy B high,accuracy B n",
        "First,x,B,0.5,0.25,0.75,4,,,,0",
        "First,x,All,-1e-05,,,,,,,",
        "Second,y,B,word,,,,7,,,",
    ]


def test_a_wide_table_is_parted_between_titles() -> None:
    def parted(most: int, *sizes: int) -> list[str]:
        columns = tuple(Column(str(at), over) for over, size in zip("xyz", sizes, strict=False) for at in range(size))
        entries = tuple(range(len(columns)))
        grid = Grid("g", "", "", ("",), columns, (Line(("a",), entries),), {0: "b"})
        parts = list(grid.parts(most))
        assert [entry for part in parts for entry in part.lines[0].entries] == list(entries)
        return ["".join(column.over for column in part.columns) for part in parts]

    assert parted(4, 2, 2) == ["xxyy"]
    assert parted(4, 3, 2, 2) == ["xxx", "yyzz"]
    assert parted(4, 1, 6, 1) == ["x", "yyyy", "yyz"]
    assert parted(4, 9) == ["xxxx", "xxxx", "x"]


def test_n_stands_once_where_all_of_a_line_have_the_same() -> None:
    def grid(*ns: int | None) -> Grid:
        entries = tuple(Number(0.5, n) for n in ns)
        return Grid("g", "", "", ("",), tuple(Column(str(at)) for at in range(len(ns))), (Line(("x",), entries),))

    assert grid(4, 4).common_n == [4]
    assert grid(4, 5).common_n is None
    assert grid(None, None).common_n is None


def test_failures_are_failures_each_once_and_of_many_compositions(run: Run) -> None:
    found = list(failures(run, MODELS))
    assert len(found) == SHOWN == len({one.id for one in found})
    assert len({one.composition for one in found}) >= 8
    assert {one.said[0][0] for one in found} == set(MODELS)
    assert {one.sentence.split(":")[0] for one in found} >= {"Right for the wrong reasons"}
    assert any(one.sentence.startswith("The error begins at") for one in found)
    assert any("it fails in the last step" in one.sentence for one in found)
    for one in found:
        assert all(right == (answer == one.truth) for _, answer, right in one.said)
        assert one.said[0][2] or 'class="card wrong"' in one.picture  # a wrong question has a pink box
    assert [one.id for one in failures(run, MODELS, seed=5, shown=3)] != [one.id for one in found[:3]]


def test_pictures_that_decide_a_question_are_part_of_the_file(small: Run, tmp_path: Path) -> None:
    folder, out = tmp_path / "frames", tmp_path / "r.html"
    asked: dict[str, Any] = {
        "bots": "none",
        "split": "all",
        "workers": 1,
        "quiet": True,
        "how": ReportScoring(resamples=0),
    }
    folder.mkdir()
    command(small.folder, out=out, media=folder, **asked)
    assert "No picture of what is shown here is in" in out.read_text("utf-8")
    videos = small.table("facts", VIDEOS)["id"]
    for video, number in small.table("facts", FRAMES).select("video", "number").iter_rows():
        place = folder / videos[video] / f"{number:06}.png"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(f"{videos[video]} {number}".encode())
    command(small.folder, out=out, media=folder, **asked)
    text = out.read_text("utf-8")
    shots = re.findall(r'<img src="data:image/png;base64,([^"]+)" alt="frame (\d+), [\d.]+ s">', text)
    assert shots and all(base64.b64decode(data).decode().split()[1] == number for data, number in shots)
    assert f"--media {folder}" in text
    with pytest.raises(BadInput, match="no such folder of frames, images or films"):
        command(small.folder, out=out, media=tmp_path / "nowhere", **asked)


def test_of_many_pictures_the_first_the_last_and_one_between_are_taken() -> None:
    many = [(str(at), Path(str(at))) for at in range(10)]
    assert [told for told, _ in spread_out(many)] == ["0", "4", "9"]
    assert spread_out(many[:2]) == many[:2]


def test_failures_are_of_the_split_that_is_scored(run: Run) -> None:
    train = set(run.table("facts", VIDEOS).filter(split="train")["id"])
    found = [one.id.rpartition("-")[0] for one in failures(run, MODELS, "train", shown=10)]
    assert found and set(found) <= train


def test_an_oracle_has_no_failures(run: Run) -> None:
    assert list(failures(run, ("oracle",))) == []


def test_the_head_says_what_was_scored_and_the_end_how_to_do_it_again(small: Run, written: Path) -> None:
    made = report(small, ReportRequest("my run", MODELS, ("oracle",), "r.html"), HOW, workers=1)
    assert made.facts == (
        ("models", "seer, thinker"),
        ("scored on", "1 videos of the split test"),
        ("answers read", "exact; a question without a prediction: error"),
        ("intervals", "95 %, from 40 resamples with replacement"),
        ("novel compositions", BY_FLAGS.partition(": ")[2].format("my run")),
    )
    assert "by the flags of questions" not in (written / "report.html").read_text("utf-8")  # that run has splits
    facts = dict(made.made_from)
    assert facts["questions and sub-questions with a prediction"].startswith("seer 1")
    assert facts["decomposed"].endswith("; balanced False, closed True, rules_only False, invalid_actions 0")
    assert made.commands == (
        "questree verify 'my run'",
        "questree report 'my run' --models seer,thinker --bots oracle --split test --policy exact --missing error "
        "--resamples 40 --seed 0 --out r.html",
    )


def commands(text: str) -> list[str]:
    return re.findall(r"questree [a-z]+(?: [a-z]+)?(?= my-run)", text)


def test_a_run_without_questions_says_what_makes_them(small: Run, tmp_path: Path) -> None:
    run = copy(small, tmp_path)
    for folder in (run.questions, run.decomposed, run.predictions):
        shutil.rmtree(folder)
    text = page(report(run, ReportRequest("my-run", (), BOTS, "r.html"), HOW, workers=1))
    wanted = ["generate", "balance", "decompose", "answer", "report", "generate", "decompose"]
    assert commands(text)[:-2] == [f"questree {name}" for name in wanted]


def test_a_run_without_selection_splits_and_answers_says_so(small: Run) -> None:
    text = page(report(small, ReportRequest("my-run", (), (), "r.html"), HOW, workers=1))
    wanted = ["balance", "answer", "report", "balance", "split"]
    assert commands(text)[:-2] == [f"questree {name}" for name in wanted]
    assert "N/A" not in text


def test_a_run_of_images_has_its_tables(tmp_path: Path) -> None:
    run = image_run(tmp_path / "run", balanced=2)
    command(
        run.folder,
        out=tmp_path / "r.html",
        paper=PaperOptions(csv=tmp_path / "csv"),
        quiet=True,
        how=ReportScoring(resamples=20),
    )
    with (tmp_path / "csv" / "image-accuracy.csv").open(newline="") as file:
        table = {line["Template"]: line for line in csv.DictReader(file)}
    from judges.scores_at_once import set_questions
    from questree.metrics.sets import majority, score_covr

    asked, learnt = set_questions(run, "test")
    for name, said in majority(learnt, asked).items():
        for row in score_covr(asked, said, []).rows(name):
            assert float(table[row.group][name]) == row.value
            assert int(table[row.group][f"{name} n"]) == row.n
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "questree split" in text and "questree decompose" in text and "image-templates" in text
    assert "decomp-type" not in text
    with (tmp_path / "csv" / "image-statistics.csv").open(newline="") as file:
        counted = {line["Measurement"]: line for line in csv.DictReader(file)}
    assert int(counted["questions"]["test"]) == len(asked) and int(counted["questions"]["train"]) == len(learnt)
    assert "image-operators" in text


def test_decomposed_image_questions_are_scored_like_all_dags(tmp_path: Path) -> None:
    from questree.search.word_tables import default_words
    from questree.stages.decompose.set_shards import decompose_run

    run = image_run(tmp_path / "run")
    decompose_run(run, default_words(), every=True, workers=1)
    answer_run(run, BotOptions("shortcut"), "mine", images=True)
    command(
        run.folder,
        out=tmp_path / "r.html",
        paper=PaperOptions(csv=tmp_path / "csv"),
        bots="oracle",
        quiet=True,
        how=ReportScoring(resamples=20),
    )
    for name, head, metric in (
        ("image-accuracy", "Template", ""),
        ("image-decomp-bots-type", "Question type", "Accuracy (mean over answers) "),
    ):
        with (tmp_path / "csv" / f"{name}.csv").open(newline="") as file:
            table = {line[head]: line for line in csv.DictReader(file)}
        assert {line[f"{metric}oracle"] for line in table.values()} == {"1.0"}, name
    with (tmp_path / "csv" / "image-accuracy.csv").open(newline="") as file:
        mine = [float(line["mine"]) for line in csv.DictReader(file) if line["Template"] == "Overall"]
    assert 0 < mine[0] < 1
    told = list(failures(run, ("mine",), "test", of=ImageView))
    assert len({one.composition for one in told}) >= 5
    assert len(told) == len({one.id for one in told}) > 5
    for one in told:
        ((_, answer, right),) = one.said
        assert right == (answer == one.truth)
    assert list(failures(run, ("oracle",), of=ImageView)) == []
    page_ids = set(re.findall(r'id="([^"]+)"', (tmp_path / "r.html").read_text("utf-8")))
    assert {"image-in-words", "image-known", "image-failures", "image-decomp-composition"} <= page_ids


def test_a_split_without_questions_is_named(tmp_path: Path) -> None:
    run = served_run(tmp_path / "run")
    answers(run, "plain", true_but_for({}))
    made = report(run, ReportRequest("my-run", ("plain",), (), "r.html"), How(split="dev", resamples=0), workers=1)
    text = page(made)
    assert "No question is of the split dev" in text and "questree report my-run --split all" in text
    assert not any("verify" in command for command in made.commands)  # there is no lock file


def test_models_that_left_questions_out_are_named_together(small: Run, tmp_path: Path) -> None:
    other, out = copy(small, tmp_path), tmp_path / "r.html"
    for path in other.predictions.glob("*/*/predictions.parquet"):
        pl.read_parquet(path).gather_every(2).write_parquet(path)
    with pytest.raises(BadInput) as bad:
        command(other.folder, models="seer,thinker", out=out, workers=1, quiet=True, how=ReportScoring(resamples=0))
    assert [fault.place for fault in bad.value.faults] == ["model seer", "model thinker"]
    assert not out.exists()
    command(other.folder, out=out, workers=1, quiet=True, how=ReportScoring(resamples=0, missing="skip"))
    assert "There is no prediction for the question." in out.read_text("utf-8")


def test_a_model_that_left_questions_out_is_left_out_unless_it_is_named(small: Run, tmp_path: Path) -> None:
    other, out = copy(small, tmp_path), tmp_path / "r.html"
    for path in (other.predictions / "seer").glob("*/predictions.parquet"):
        pl.read_parquet(path).gather_every(2).write_parquet(path)
    command(other.folder, out=out, workers=1, quiet=True, bots="none", how=ReportScoring(resamples=0))
    text = out.read_text("utf-8")
    assert "<dt>left out</dt><dd>seer: no prediction for " in text
    assert list(lines(text, "scoreboard")) == ["thinker", "Most-Likely"]
    assert "--models thinker " in text
    shutil.rmtree(other.predictions / "thinker")
    command(other.folder, out=out, workers=1, quiet=True, bots="none", how=ReportScoring(resamples=0))
    assert "No model has answered everything." in out.read_text("utf-8")


def test_a_run_none_of_whose_questions_is_taken_apart_has_a_report(small: Run, tmp_path: Path) -> None:
    other = copy(small, tmp_path)
    for path in other.decomposed.glob("*/*.parquet"):
        pl.read_parquet(path).head(0).write_parquet(path)
    made = report(other, ReportRequest("my-run", (), BOTS, "r.html"), How(split=None, resamples=0), workers=1)
    assert "There are no scores: no question of the run is taken apart." in page(made)


def test_answers_to_questions_that_are_not_taken_apart_are_left_out_with_the_reason(small: Run, tmp_path: Path) -> None:
    other = copy(small, tmp_path)
    shutil.rmtree(other.decomposed)
    text = page(report(other, ReportRequest("my-run", MODELS, (), "r.html"), HOW, workers=1))
    assert "Scores of seer, thinker are left out, because the questions are not taken apart." in text
    assert commands(text)[:2] == ["questree balance", "questree decompose"]


def test_wrong_names_are_refused_all_at_once(run: Run, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as bad:
        command(run.folder, models="seer,nobody,no one", out=tmp_path / "r.html")
    assert [fault.message for fault in bad.value.faults] == [
        f"expected a stored model, got {name!r}; choose from seer, thinker" for name in ("nobody", "no one")
    ]
    with pytest.raises(BadInput, match="expected a bot, got 'sage'; choose from oracle, "):
        command(run.folder, bots="sage", out=tmp_path / "r.html")
    with pytest.raises(BadInput, match="expected a run folder, got nothing there"):
        command(tmp_path / "nowhere", out=tmp_path / "r.html")


def test_a_folder_of_somebody_else_is_not_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.doc").write_text("mine")
    with pytest.raises(BadInput, match="not an earlier report"):
        command(
            run.folder,
            out=tmp_path / "r.html",
            paper=PaperOptions(latex=tmp_path / "thesis"),
            bots="none",
            quiet=True,
            how=ReportScoring(resamples=0),
        )
    assert (tmp_path / "thesis" / "chapter.doc").exists()
    assert not (tmp_path / "r.html").exists()


def test_the_page_on_the_report_works(small: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from questree.cli.app import app
    from test_pages import commands as printed

    shutil.copytree(small.folder, tmp_path / "RUN")
    monkeypatch.chdir(tmp_path)
    for line in printed("docs/report.md"):
        app([*line.split()[1:], "--quiet"], exit_on_error=False, result_action="return_value")
    assert {path.name for path in tmp_path.iterdir()} == {"RUN", "report.html", "tables", "numbers", "plots"}
