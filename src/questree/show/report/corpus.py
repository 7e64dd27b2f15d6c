"""What a run's questions are: counts in one pass, tables and plots of templates, answers, lengths, parts and splits."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.covr.splits import PATTERNS
from questree.metrics.sets.majority import BASELINES
from questree.progress import watch
from questree.rules import IMAGE_DAGS, VIDEO_DAGS
from questree.show.report.axes import bars, histogram
from questree.show.report.document import Block, Column, Entry, Figure, Grid, Line, Missing, Number, Rows
from questree.stages.audit.counts import answer_codes, selected
from questree.stages.audit.plots import answers, first_words, structures
from questree.stages.audit.sample import sample
from questree.stages.balance.rounds import selection
from questree.stages.decompose.image_sets import read_sets
from questree.stages.questions import Bank
from questree.stages.split.shots import selected as selected_images
from questree.tables.facts import VIDEOS
from questree.tables.image_questions import ANSWERED, BALANCED
from questree.tables.nodes import EDGES, FORMS, KNOWN, NODES
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.tables.table import Table
from questree.vocabulary.words import Vocabulary

ASKED = Table(QUESTIONS.name, {name: QUESTIONS.columns[name] for name in ("video", "number", "template", "answer")})
LINKS = Table(EDGES.name, {name: EDGES.columns[name] for name in ("parent", "label")})
FORMED = Table(NODES.name, {name: NODES.columns[name] for name in ("form", "known")})
TEXTS = 20_000  # questions whose text is made


@dataclass(frozen=True)
class Corpus:
    bank: Bank
    balanced: bool  # is there a selection? if not, before and after are the same
    videos: int
    counts: pl.DataFrame  # template, answer, before, after: questions of all and of the selection
    texts: pl.Series  # of a fixed share of the selection, chosen by a hash


def corpus(run: Run, seed: int, workers: int = 2) -> Corpus:
    """Of a run that has questions."""
    bank, chosen = Bank(run), selection(run)
    test = (run.table("facts", VIDEOS)["split"] != "train").to_numpy()
    with ThreadPoolExecutor(workers) as pool:
        folders = bank.folders()
        parts = watch(pool.map(lambda folder: counted(folder, chosen, bank), folders), "counting answers", len(folders))
        counts = pl.concat(list(parts)).group_by("template", "answer").agg(pl.col("before", "after").sum())
        share = min(1.0, TEXTS / max(int(counts["after"].sum()), 1))
        texts = sample(bank, test, chosen, (share, share), seed, pool)["question"]
    return Corpus(bank, chosen is not None, len(bank.ids), counts.sort("template", "answer"), texts)


def counted(folder: Path, chosen: pl.DataFrame | None, bank: Bank) -> pl.DataFrame:
    questions = ASKED.read(folder)
    after = pl.Series(selected(questions, chosen))
    codes = pl.Series(answer_codes(questions, bank.templates).astype(np.uint16))
    table = questions.select("template", answer=codes, after=after)
    return table.group_by("template", "answer").agg(before=pl.len(), after=pl.col("after").sum())


@dataclass(frozen=True)
class Parts:
    """What questions fall into; names with their numbers."""

    types: dict[str, int]  # type -> sub-questions, each text of a video once
    compositions: dict[str, int]  # composition -> wholes put together by it
    known: dict[str, int]  # how answers are known -> sub-questions


def parts(run: Run) -> Parts:
    """Of a run that is decomposed."""
    folders = sorted(path for path in run.decomposed.iterdir() if path.is_dir())
    found = [counted_parts(folder) for folder in watch(folders, "counting sub-questions", len(folders))]
    table = pl.concat(found)
    sums = table.group_by("what", "name").agg(pl.col("n").sum())
    named = {what: dict(own.select("name", "n").rows()) for (what,), own in sums.group_by("what")}
    types = named.get("type", {})
    return Parts(
        {name: types[name] for name in sorted(types, key=lambda name: (-types[name], name))},
        {name: n for name in VIDEO_DAGS.compositions if (n := named.get("composition", {}).get(name, 0))},
        {name: n for name in KNOWN if (n := named.get("known", {}).get(name, 0))},
    )


def counted_parts(folder: Path) -> pl.DataFrame:
    forms, nodes, edges = FORMS.read(folder), FORMED.read(folder), LINKS.read(folder)
    types = forms["type"].gather(nodes["form"])
    known = pl.Series(KNOWN).gather(nodes["known"])
    wholes = pl.Series(VIDEO_DAGS.compositions).gather(edges.unique()["label"])
    return pl.concat([*_numbers({"type": types, "known": known, "composition": wholes})])


def _numbers(columns: dict[str, pl.Series]) -> Iterator[pl.DataFrame]:
    for what, names in columns.items():
        table = pl.DataFrame({"what": pl.repeat(what, len(names), eager=True), "name": names})
        yield table.group_by("what", "name").agg(n=pl.len().cast(pl.Int64))


def corpus_blocks(corpus: Corpus, vocabulary: Vocabulary, run: str) -> Iterator[Block]:
    yield templates(corpus)
    if not corpus.balanced:
        what = "There is no balanced selection: before and after are the same in the plots below. This makes one:"
        yield Missing(what, (f"questree balance {run}",))
    caption = (
        "Shares of the ten most frequent answers, all questions above and the balanced selection below; grey is the "
        "rest. After balancing no answer should stand out."
    )
    yield Figure("answers", "Answers before and after balancing", caption, (answers(corpus.counts, corpus.bank),))
    caption = "Question structures of all questions and of the selection, and the shares that were aimed at."
    yield Figure(
        "structures", "Structures before and after balancing", caption, (structures(corpus.counts, corpus.bank),)
    )
    total, said = int(corpus.counts["after"].sum()), len(corpus.texts)
    few = f"all {total:,} questions" if said == total else f"{said:,} of {total:,} questions, chosen by a hash"
    caption = f"How questions begin: the first word inside, the second to fourth around it. Of {few}."
    which = "selection" if corpus.balanced else "all"
    yield Figure("first-words", "First words", caption, (first_words({which: corpus.texts}),))
    words = corpus.texts.str.count_matches(" ") + 1
    caption = f"Words per question. Of {few}."
    yield Figure("lengths", "Question lengths", caption, (histogram(words, "words"),))


def templates(corpus: Corpus) -> Grid:
    """Questions of every template, all and selected."""
    sums = corpus.counts.group_by("template").agg(pl.col("before", "after").sum())
    number = {template: (before, after) for template, before, after in sums.rows()}
    whole = max(int(corpus.counts["after"].sum()), 1)
    lines = []
    for at, template in enumerate(corpus.bank.edition.by_code):
        before, after = number.get(at, (0, 0))
        labels = template.categories
        shares: tuple[Entry, ...] = (before, after, Number(after / whole))
        lines.append(Line((template.name,), (labels.structural, labels.semantic, template.answer_type, *shares)))
    total = (int(corpus.counts["before"].sum()), int(corpus.counts["after"].sum()))
    lines.append(Line(("Overall",), ("", "", "", *total, None), True))
    columns = (
        *(Column(name, text=True) for name in ("structure", "about", "answers")),
        *map(Column, ("all questions", "selected", "selected, %")),
    )
    caption = "How many questions each template gives, before and after balancing."
    return Grid("templates", "Templates", caption, ("Template",), columns, tuple(lines))


def parts_blocks(found: Parts) -> Iterator[Block]:
    caption = "Sub-questions of every type; a text counts once per video, however many questions it is part of."
    yield Figure("types", "Types of sub-questions", caption, (bars(found.types),))
    caption = "Wholes put together by each composition; a whole with several compositions counts in each."
    yield Figure("compositions", "Compositions", caption, (bars(found.compositions),))
    lines = tuple(Line((name,), (n,)) for name, n in found.known.items())
    caption = "How the answers of sub-questions are known; what is undefined or not said has no truth to be scored by."
    yield Grid("known", "How answers are known", caption, ("",), (Column("sub-questions"),), lines)


def splits(run: Run, called: str) -> Grid | Missing:
    note = run.folder / "splits" / "report.json"
    if not note.is_file():
        return Missing("There are no splits. This makes them:", (f"questree split {called}",))
    made = msgspec.json.decode(note.read_bytes())["splits"]
    names = ("train", "train_videos", "test", "test_videos")
    lines = tuple(Line((one["name"],), tuple(int(one[name]) for name in names)) for one in made)
    columns = tuple(Column(name.partition("_")[2] or "questions", name.partition("_")[0]) for name in names)
    caption = "Questions and videos on either side of every split; what is held out and why: splits/report.json."
    return Grid("splits", "Splits", caption, ("Split",), columns, lines)


SIDES = ("train", "dev", "test")
COMMON = 30  # answers that are shown, as in COVR's Figure 4


def image_corpus(run: Run, called: str) -> Iterator[Block]:
    if not (run.covr / f"{ANSWERED.name}.parquet").is_file():
        yield Missing("There are no questions about image sets. This makes them:", (f"questree generate {called}",))
        return
    every, kept = ANSWERED.read(run.covr), selected_images(run)
    yield image_templates(every, kept)
    if not (run.covr / f"{BALANCED.name}.parquet").is_file():
        what = "There is no balanced selection: all questions are shown. This makes one:"
        yield Missing(what, (f"questree balance {called}",))
    yield Figure("image-answers", "Answers", answers_caption(kept), (bars(common(kept)),))
    caption = "Images per question of the selection."
    yield Figure("image-sets", "Sizes of image sets", caption, (histogram(kept["images"].list.len(), "images"),))
    words = kept["question"].str.count_matches(" ") + 1
    caption = "Words per question of the selection."
    yield Figure("image-lengths", "Question lengths", caption, (histogram(words, "words"),))
    yield image_splits(run, called)


def image_templates(every: pl.DataFrame, kept: pl.DataFrame) -> Grid:
    """Questions of every template on every side, all and selected."""
    numbers = {
        (what, side): dict(table.filter(split=side)["template"].value_counts().rows())
        for what, table in (("all", every), ("selected", kept))
        for side in SIDES
    }
    names = [*PATTERNS, *sorted(set(every["template"].to_list()) - {*PATTERNS})]
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
        return Missing("There are no compositional splits. This makes them:", (f"questree split {called}",))
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
        yield Missing("The questions are not taken apart. This does it:", (f"questree decompose {called}",))
        return
    tables = read_sets(folder)
    types = tables["forms"]["type"].gather(tables["nodes"]["form"]).value_counts()
    wholes = tables["edges"].select("parent", "label").unique()["label"]
    labels = pl.Series(IMAGE_DAGS.compositions).gather(wholes).value_counts()
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
