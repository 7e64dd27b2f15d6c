"""Tables and plots of questions about image sets: templates, answers, sizes of sets, accuracy by template, splits."""

from collections.abc import Iterator, Sequence

import msgspec
import polars as pl

from questree.metrics.sets.majority import BASELINES
from questree.show.report.counts_plots import bars, histogram
from questree.show.report.document import Block, Figure, Missing
from questree.show.report.grid import Column, Grid, Line, Rows
from questree.show.report.image_asked import TEMPLATES
from questree.stages.split.shots import selected
from questree.tables import image_nodes
from questree.tables.image_questions import ANSWERED, BALANCED
from questree.tables.run import Run

SIDES = ("train", "dev", "test")
COMMON = 30  # answers that are shown, as in COVR's Figure 4


def image_corpus(run: Run, called: str) -> Iterator[Block]:
    if not (run.covr / f"{ANSWERED.name}.parquet").is_file():
        yield Missing(
            "There are no questions about image sets. This makes them:", (f"questree covr generate {called}",)
        )
        return
    every, kept = ANSWERED.read(run.covr), selected(run)
    yield templates(every, kept)
    if not (run.covr / f"{BALANCED.name}.parquet").is_file():
        what = "There is no balanced selection: all questions are shown. This makes one:"
        yield Missing(what, (f"questree covr balance {called}",))
    yield Figure("image-answers", "Answers", answers_caption(kept), (bars(common(kept)),))
    caption = "Images per question of the selection."
    yield Figure("image-sets", "Sizes of image sets", caption, (histogram(kept["images"].list.len(), "images"),))
    words = kept["question"].str.count_matches(" ") + 1
    caption = "Words per question of the selection."
    yield Figure("image-lengths", "Question lengths", caption, (histogram(words, "words"),))
    yield image_splits(run, called)


def templates(every: pl.DataFrame, kept: pl.DataFrame) -> Grid:
    """Questions of every template on every side, all and selected."""
    numbers = {
        (what, side): dict(table.filter(split=side)["template"].value_counts().rows())
        for what, table in (("all", every), ("selected", kept))
        for side in SIDES
    }
    names = [*TEMPLATES, *sorted(set(every["template"].to_list()) - {*TEMPLATES})]
    lines = [Line((name,), tuple(own.get(name, 0) for own in numbers.values())) for name in names]
    lines.append(Line(("Overall",), tuple(sum(own.values()) for own in numbers.values()), True))
    columns = tuple(Column(side, what) for what, side in numbers)
    caption = "Questions of every template in train, dev and test, before and after balancing."
    return Grid("image-templates", "Templates", caption, ("Template",), columns, tuple(lines))


def common(kept: pl.DataFrame) -> dict[str, int]:
    """The most common answers but yes and no."""
    counts = kept.filter(~pl.col("answer").is_in(["yes", "no"]))["answer"].value_counts()
    return dict(counts.sort(["count", "answer"], descending=[True, False]).head(COMMON).rows())


def answers_caption(kept: pl.DataFrame) -> str:
    said = [f"{int((kept['answer'] == word).sum()):,} {word}" for word in ("yes", "no")]
    return f"The most common {COMMON} answers of the selection, without {' and '.join(said)}."


def image_splits(run: Run, called: str) -> Block:
    note = run.covr / "splits" / "report.json"
    if not note.is_file():
        return Missing("There are no compositional splits. This makes them:", (f"questree covr splits {called}",))
    made = msgspec.json.decode(note.read_bytes())["splits"]
    parts = list(dict.fromkeys(part for one in made for part in one["counts"]))
    lines = tuple(
        Line((one["name"],), (one["filtered"], one["kept"], *(one["counts"].get(part, 0) for part in parts)))
        for one in made
    )
    columns = (Column("filtered"), Column("kept"), *(Column(part) for part in parts))
    caption = "Filtered: questions taken out of train; kept: those with the property that stay there (few-shot)."
    return Grid("image-splits", "Compositional splits", caption, ("Split",), columns, lines)


def image_parts(run: Run, called: str) -> Iterator[Block]:
    """What questions are made of."""
    folder = run.covr / "decomposed"
    if not folder.is_dir():
        yield Missing("The questions are not taken apart. This does it:", (f"questree covr decompose {called}",))
        return
    types = pl.Series(image_nodes.TYPES).gather(image_nodes.NODES.read(folder)["type"]).value_counts()
    wholes = image_nodes.EDGES.read(folder).select("parent", "label").unique()["label"]
    labels = pl.Series(image_nodes.COMPOSITIONS).gather(wholes).value_counts()
    for name, title, table in (("types", "Types of sub-questions", types), ("compositions", "Compositions", labels)):
        order = table.sort([table.columns[1], table.columns[0]], descending=[True, False])
        yield Figure(
            f"image-{name}", title, "Each sub-question of an image set counts once.", (bars(dict(order.rows())),)
        )


def image_accuracy(rows: Rows, models: Sequence[str]) -> Block:
    """COVR's Tables 6 and 12: accuracy by template beside the baselines."""
    shown = [name for name in (*BASELINES, *models) if rows.find("accuracy", "template", "Overall", name)]
    lines = [
        Line((name,), tuple(rows.number("accuracy", "template", name, model) for model in shown), name == "Overall")
        for name in rows.groups("template", ["accuracy"])
    ]
    caption = (
        "Per cent right by template. MAJ says the most common answer of train, MAJTEMPL that of the template. Below: "
        "95 % interval (images resampled)."
    )
    columns = tuple(Column(name) for name in shown)
    return Grid("image-accuracy", "Accuracy by template", caption, ("Template",), columns, tuple(lines))
