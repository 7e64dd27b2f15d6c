"""What a run's questions are: counts in one pass, tables and plots of templates, answers, lengths, parts and splits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from questree.benchmarks import AGQA, COVR
from questree.benchmarks.covr.splits import PATTERNS
from questree.show.report.charts import bars, histogram
from questree.show.report.document import Block, Column, Entry, Figure, Grid, Line, Missing, Number
from questree.show.views import View
from questree.stages.audit.categories import CategoryCount, categories, draw_categories, lengths
from questree.stages.audit.image_corpus import COMMON, CorpusCounts, figure_4, figure_6, run_corpus, table_3
from questree.stages.audit.plots import LETTERS, answers, first_words, structures
from questree.stages.audit.videos import answer_bars, answer_codes, marked, sample_texts, spellings
from questree.stages.audit.videos import corpus as audited_corpus
from questree.stages.balance.rounds import has_selection
from questree.stages.questions import Bank
from questree.svg import PAGE
from questree.tables.image_questions import chunks
from questree.tables.nodes import KNOWN
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.tables.store import own_note
from questree.workers import each, over, shared_out

ASKED = QUESTIONS.only("video", "number", "template", "answer")
Named = Callable[[str, str], Missing]  # what a run does not have, in a sentence -> with the command that makes it
TEXTS = 20_000  # questions whose text is made

PARTS = {"name": pl.String, "n": pl.UInt32, "what": pl.String}  # counts of sub-questions
LARGE = 12  # pixels of letters in a ring that is printed small


@dataclass(frozen=True)
class AnswerCounts:
    bank: Bank
    balanced: bool  # is there a selection? if not, before and after are the same
    videos: int
    counts: pl.DataFrame  # template, answer, before, after: questions of all and of the selection
    texts: pl.Series  # of a fixed share of the selection, chosen by a hash


def counts_of(run: Run, seed: int, workers: int = 2) -> AnswerCounts:
    """Of a run that has questions."""
    bank, chosen = Bank(run), has_selection(run)
    shards = [folder.name for folder in bank.folders()]
    with bank.pool(workers) as pool:
        parts = over(pool, "counting answers", "shard", shards, count_answers, run.folder, seed, chosen)
        counts = pl.concat(parts).group_by("template", "answer").agg(pl.col("before", "after").sum())
        share = min(1.0, TEXTS / max(int(counts["after"].sum()), 1))
        looked_at = {"after": (share, share)}
        texts = over(pool, "saying questions", "shard", shards, sample_texts, run.folder, seed, chosen, looked_at)
    by_hash = pl.concat(texts).sort("hash")
    return AnswerCounts(bank, chosen, len(bank.ids), counts.sort("template", "answer"), by_hash["question"])


def count_answers(run: Path, shard: str, seed: int, chosen: bool) -> pl.DataFrame:
    questions, known = ASKED.read(run / "questions" / shard), audited_corpus(run, seed).bank.templates
    codes = pl.Series(answer_codes(questions, known).astype(np.uint32))
    table = questions.select("template", answer=codes, after=pl.Series(marked(Run(run), questions, chosen)))
    return table.group_by("template", "answer").agg(before=pl.len(), after=pl.col("after").sum())


def numbers(of: type[View], run: Run) -> dict[str, dict[str, int]]:
    """Type, composition, known: how many sub-questions or wholes have which; of a run that is decomposed."""
    names = [folder.name for folder in of.benchmark.part("shards")(run)]
    with shared_out(1, len(names)) as pool:  # to read a few columns takes less than to start processes
        parts = each(pool, "counting sub-questions", "shard", names, partial(count_parts, of), run)
    sums = (
        pl.concat([pl.DataFrame(schema=PARTS), *parts])
        .group_by("what", "name")
        .agg(pl.col("n").sum())
        .sort("n", "name", descending=[True, False])
    )
    return {what: dict(own.select("name", "n").rows()) for (what,), own in sums.group_by("what", maintain_order=True)}


def count_parts(of: type[View], run: Run, name: str) -> pl.DataFrame:
    """In a worker: name, n, what of the DAGs of a shard."""
    own = of.counted(of.benchmark.place(run, "decomposed") / name)
    labels = own.edges.select("parent", "label").unique()["label"]
    named = pl.Series(of.scheme.compositions, dtype=pl.String).gather(labels)
    found = [
        names.cast(pl.String).alias("name").value_counts(name="n").with_columns(what=pl.lit(what))
        for what, names in {"type": own.type, "known": own.known, "composition": named}.items()
    ]
    return pl.concat(found).cast(PARTS)  # type: ignore[arg-type]


def parts_blocks(of: type[View], run: Run) -> Iterator[Block]:
    """What questions are made of."""
    found = numbers(of, run)
    caption = "Sub-questions of every type; each counts once per scope, however many questions it is part of."
    yield Figure.drawn("types", "Types of sub-questions", caption, partial(bars, found.get("type", {})))
    caption = "Wholes put together by each composition; a whole with several compositions counts in each."
    composed = found.get("composition", {})
    named = {name: composed[name] for name in of.scheme.compositions if name in composed}
    yield Figure.drawn("compositions", "Compositions", caption, partial(bars, named))
    known = found.get("known", {})
    lines = tuple(Line((name,), (known[name],)) for name in KNOWN if name in known)
    caption = "How the answers of sub-questions are known; what is undefined or not said has no truth to be scored by."
    yield Grid("known", "How answers are known", caption, ("",), (Column("sub-questions"),), lines)


def agqa_corpus(run: Run, missing: Named, seed: int, workers: int) -> Iterator[Block]:
    """What is asked about videos, before and after balancing."""
    corpus = counts_of(run, seed, workers)
    yield templates(corpus)
    counted = [*categories(corpus.counts, corpus.bank.edition)]
    yield by_category(counted)
    if not corpus.balanced:
        yield missing("balance", "There is no balanced selection: before and after are the same in the plots below.")
    caption = (
        "Shares of the categories of each kind, all questions above and the balanced selection below, as in Figure 4."
    )
    yield Figure.drawn(
        "category-shares", "Categories before and after balancing", caption, partial(draw_categories, counted)
    )
    caption = (
        "Shares of the ten most frequent answers, all questions above and the balanced selection below; grey is the "
        "rest. After balancing no answer should stand out."
    )
    drawn = partial(answers, corpus.counts, answer_bars(corpus.bank), spellings(corpus.bank))
    yield Figure.drawn("answers", "Answers before and after balancing", caption, drawn)
    caption = "Question structures of all questions and of the selection, and the shares that were aimed at."
    drawn = partial(structures, corpus.counts, corpus.bank.templates.structure)
    yield Figure.drawn("structures", "Structures before and after balancing", caption, drawn)
    total, said = int(corpus.counts["after"].sum()), len(corpus.texts)
    few = f"all {total:,} questions" if said == total else f"{said:,} of {total:,} questions, chosen by a hash"
    caption = f"How questions begin: the first word inside, the second to fourth around it. Of {few}."
    which = "selection" if corpus.balanced else "all"

    def rings(wide: float) -> str:
        return first_words({which: corpus.texts}, LETTERS if wide >= PAGE else LARGE)

    yield Figure.drawn("first-words", "First words", caption, rings)
    words = lengths(corpus.texts)
    caption = f"Words per question. Of {few}."
    yield Figure.drawn("lengths", "Question lengths", caption, partial(histogram, words, "words"))
    note = AGQA.place(run, "splits") / "report.json"
    yield splits(note) if note.is_file() else missing("split", "There are no splits.")


def templates(corpus: AnswerCounts) -> Grid:
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


def by_category(counted: Sequence[CategoryCount]) -> Grid:
    """Tables 10, 13 and 12 of the paper."""
    lines = (Line((c.kind, c.name), (c.involves, c.templates, c.before, c.after)) for c in counted)
    columns = (Column("answering involves", text=True), *map(Column, ("templates", "all questions", "selected")))
    caption = "Templates and questions of every category; a question counts in each reasoning type it has."
    return Grid("categories", "Categories", caption, ("Kind", "Category"), columns, tuple(lines))


def splits(note: Path) -> Grid:
    made = own_note(note, "splits")["splits"]
    names = ("train", "train_videos", "test", "test_videos")
    lines = tuple(Line((one["name"],), tuple(int(one[name]) for name in names)) for one in made)
    columns = tuple(Column(name.partition("_")[2] or "questions", name.partition("_")[0]) for name in names)
    caption = "Questions and videos on either side of every split; what is held out and why: splits/report.json."
    return Grid("splits", "Splits", caption, ("Split",), columns, lines)


SIDES = ("train", "dev", "test")


def covr_corpus(run: Run, missing: Named, seed: int, workers: int) -> Iterator[Block]:
    """What is asked about sets of images, as in the COVR paper."""
    corpus = run_corpus(run, workers=workers)
    yield image_templates(run, corpus)
    if not COVR.has(run, "balanced"):
        yield missing("balance", "There is no balanced selection: all questions are shown.")
    yield from image_statistics(corpus)
    yield Figure.drawn("answers", "Answers", answers_caption(corpus), partial(bars, figure_4(corpus, corpus.sides)))
    caption = "Images per question of the selection."
    yield Figure.drawn(
        "sets", "Sizes of image sets", caption, partial(histogram, corpus.numbers("images", corpus.sides), "images")
    )
    caption = "Words per question of the selection."
    yield Figure.drawn(
        "lengths", "Question lengths", caption, partial(histogram, corpus.numbers("words", corpus.sides), "words")
    )
    note = COVR.place(run, "splits") / "report.json"
    yield image_splits(note) if note.is_file() else missing("split", "There are no compositional splits.")


def image_templates(run: Run, corpus: CorpusCounts) -> Grid:
    """Questions of every template on every side, all and selected."""
    parts = (chunk.read("split", "template").group_by("split", "template").len("n") for chunk in chunks(run))
    every = pl.concat(parts).group_by("split", "template").agg(pl.col("n").sum())
    numbers = {("all", side): dict(every.filter(split=side).select("template", "n").rows()) for side in SIDES}
    numbers |= {("selected", side): corpus.values("template", [side]) for side in SIDES}
    names = [*PATTERNS, *sorted({*every["template"]} - {*PATTERNS})]
    lines = [Line((name,), tuple(own.get(name, 0) for own in numbers.values())) for name in names]
    lines.append(Line(("Overall",), tuple(sum(own.values()) for own in numbers.values()), True))
    columns = tuple(Column(side, what) for what, side in numbers)
    caption = "Questions of every template in train, dev and test, before and after balancing."
    return Grid("templates", "Templates", caption, ("Template",), columns, tuple(lines))


def image_statistics(corpus: CorpusCounts) -> Iterator[Block]:
    """Table 3 and Figure 6."""
    parts, lines = corpus.parts, table_3(corpus)
    spelled = tuple(Line((one["measurement"],), tuple(entry(one[name]) for name in parts)) for one in lines)
    caption = "An anonymised program has no nouns, relations, attributes and numbers: its operators alone."
    columns = tuple(map(Column, parts))
    yield Grid("statistics", "Questions in numbers", caption, ("Measurement",), columns, spelled)
    side = "train" if "train" in parts else next(iter(parts))
    found = figure_6(corpus, parts[side])
    caption = f"How often an operator occurs in a question of {side}: {', '.join(found)}."
    drawn = [partial(histogram, numbers, f"times {op}") for op, numbers in found.items()]
    yield Figure.drawn("operators", "Operators", caption, *drawn)


def entry(value: float | None) -> Entry:
    return value if value is None or isinstance(value, int) else f"{value:.1f}"


def answers_caption(corpus: CorpusCounts) -> str:
    counts = corpus.values("answer", corpus.sides)
    said = [f"{counts.get(word, 0):,} {word}" for word in ("yes", "no")]
    return f"The most common {COMMON} answers of the selection, without {' and '.join(said)}."


def image_splits(note: Path) -> Grid:
    made = own_note(note, "splits")["splits"]
    parts = list(dict.fromkeys(part for one in made for part in one["counts"]))
    lines = tuple(
        Line((one["name"],), (one["filtered"], one["kept"], *(one["counts"].get(part, 0) for part in parts)))
        for one in made
    )
    columns = (Column("filtered"), Column("kept"), *(Column(part) for part in parts))
    caption = "Filtered: questions taken out of train; kept: those with the property that stay there (few-shot)."
    return Grid("splits", "Compositional splits", caption, ("Split",), columns, lines)
