"""Tables and plots of a run's questions: templates, answers, structures, first words, lengths, parts, splits."""

from collections.abc import Iterator

import msgspec
import polars as pl

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.show.report.corpus import Corpus, Parts
from questree.show.report.counts_plots import bars, histogram
from questree.show.report.document import Block, Figure, Missing
from questree.show.report.grid import Column, Entry, Grid, Line, Number
from questree.stages.audit.plots import answers, first_words, structures
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary


def corpus_blocks(corpus: Corpus, vocabulary: Vocabulary, run: str) -> Iterator[Block]:
    yield templates(corpus)
    if not corpus.balanced:
        what = "There is no balanced selection: before and after are the same in the plots below. This makes one:"
        yield Missing(what, (f"questree balance {run}",))
    caption = (
        "Shares of the ten most frequent answers, all questions above and the balanced selection below; grey is the "
        "rest. After balancing no answer should stand out."
    )
    yield Figure("answers", "Answers before and after balancing", caption, (answers(corpus.counts, vocabulary),))
    caption = "Question structures of all questions and of the selection, and the shares that were aimed at."
    yield Figure("structures", "Structures before and after balancing", caption, (structures(corpus.counts),))
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
    for at, template in enumerate(TEMPLATES):
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
