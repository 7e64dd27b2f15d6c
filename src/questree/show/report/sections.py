"""The report of a run, section by section; what is missing is named with the command that makes it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from questree.benchmarks import chosen, held
from questree.faults import refuse
from questree.metrics.answers import MODEL as MOST_LIKELY
from questree.metrics.best import marks
from questree.metrics.comparison import compare
from questree.metrics.sets import BASELINES
from questree.places import path_of
from questree.scoring.compared import much_unread
from questree.scoring.run_answers import has_answered
from questree.scoring.run_questions import scored_questions
from questree.scoring.run_scores import How, ModelScores, RunScores, gaps
from questree.scoring.split_rows import BY_FLAGS, is_split
from questree.show.image_view import ImageView
from questree.show.report.corpus import Named, agqa_corpus, covr_corpus, parts_blocks
from questree.show.report.document import (
    Block,
    Figure,
    Grid,
    Missing,
    ReportDocument,
    ScoreRows,
    Section,
    Sentences,
    noted,
    starred,
)
from questree.show.report.failures import failures
from questree.show.report.front import Front, front_blocks
from questree.show.report.made_from import Fact, ReportRequest, commands, locked
from questree.show.report.shots import MOST
from questree.show.report.summary import paragraph
from questree.show.report.tables import (
    added_metrics,
    agqa_blocks,
    called,
    covr_blocks,
    decomp_blocks,
)
from questree.show.report.verdicts import compared, verdicts
from questree.show.video_view import VideoView
from questree.show.views import View
from questree.stages.decompose.hierarchies import NothingAsked
from questree.stages.generate.annotated import told as told_of_actions
from questree.tables.run import Run


def facts(run: Run, asked: ReportRequest, how: How, told: Sequence["DomainSections"]) -> Iterator[Fact]:
    """What was scored, in a few words."""
    yield "models", ", ".join(asked.models) or "none"
    scored = [one for one in told if one.scores.results]
    if scored:
        sizes = [f"{len(one.scores.results[0].scored.tallies.total):,} {one.of.view.scope}s" for one in scored]
        yield "scored on", " and ".join(sizes) + (f" of the split {how.split}" if how.split else ", all there are")
        yield "answers read", f"{how.policy}; a question without a prediction: {how.missing}"
        room = f"95 %, from {how.resamples:,} resamples with replacement" if how.resamples else "not asked for"
        yield "intervals", room
    if lost := "; ".join(f"{one.model} {one.unread:.1%}" for one in results_of(scored) if one.unread):
        yield "predictions that are no answer", lost
    if asked.unscored:
        types = sorted({type for one in told for type in one.of.view.scheme.unscored})
        yield "types that are not scored", ", ".join(types) or "none"
    left = [*asked.left_out, *(line for one in told for line in one.left_out())]
    if left:
        yield "left out", "; ".join(left)
    yield from (("actions alone", line) for line in told_of_actions(run))
    if any(one.of is VIDEOS for one in scored) and not is_split(run):
        name, _, why = BY_FLAGS.format(asked.run).partition(": ")
        yield name, why


def made_from(run: Run, asked: ReportRequest, how: How, told: Sequence["DomainSections"]) -> Iterator[Fact]:
    """What only who makes it again needs to know."""
    yield "run", asked.run
    if asked.bots:
        yield "bots", ", ".join(map(called, asked.bots))
    given = {one.model: f"{one.coverage.found:,} of {one.coverage.needed:,}" for one in results_of(told)}
    if given:
        yield "questions and sub-questions with a prediction", "; ".join(f"{name} {n}" for name, n in given.items())
    yield "seed", f"{how.seed}, of the resampling and of the choice of failures and texts"
    yield from locked(run)


COMPARED = 4  # models that are compared with each other in words
WORDS = "Only what the intervals bear: two values are told apart where their 95 % intervals do not overlap."
FAILURES = (
    "Questions a model failed on, spread over compositions and chosen by a hash, not by hand. Pink boxes are wrong; "
    "pink lines are the way of an error; blue dashed lines join answers of the model that contradict each other."
)


@dataclass(frozen=True)
class Reported:
    """What a report says of one domain beside what it says of all."""

    view: type[View]
    prefix: str  # of the names of its sections, tables and plots
    heading: str  # before the titles of its sections
    corpus: Callable[[Run, Named, int, int], Iterator[Block]]
    alone: Callable[[ScoreRows, Sequence[str], Sequence[str]], Iterator[Block]]  # scores of every question alone
    overall: str  # the table of these whose overall accuracy is told first
    before_dags: bool = False  # does it have baselines that need no DAGs?


VIDEOS = Reported(VideoView, "", "", agqa_corpus, agqa_blocks, "structural")
IMAGES = Reported(ImageView, "image-", "Image sets: ", covr_corpus, covr_blocks, "template", before_dags=True)


def report(run: Run, asked: ReportRequest, how: How, workers: int = 2) -> ReportDocument:
    """Everything there is to say about a run and these models."""
    images = run.images.is_dir() or run.covr.is_dir()
    if not images:
        run.vocabulary()  # says so if this is no run
    there = [VIDEOS] if run.facts.is_dir() or run.questions.is_dir() or not images else []
    there += [IMAGES] if images else []
    if asked.benchmark:
        only = chosen(run, asked.benchmark)
        there = [one for one in (VIDEOS, IMAGES) if one.view.benchmark is only]
    told = [DomainSections(one, run, asked, how, workers) for one in there]
    gone = {model for one in told for model in one.scores.lacking}
    asked = replace(asked, models=tuple(name for name in asked.models if name not in gone))
    sections = [*(one.result() for one in told), *(section for one in told for section in one.sections())]
    grids = iter(starred([block for section in sections for block in section.blocks if isinstance(block, Grid)]))
    sections = [
        replace(each, blocks=tuple(next(grids) if isinstance(one, Grid) else one for one in each.blocks))
        for each in sections
    ]
    return ReportDocument(
        title=f"{', '.join(asked.models) or 'Questions'} on {asked.run}",
        facts=tuple(facts(run, asked, how, told)),
        sections=tuple(sections),
        made_from=tuple(made_from(run, asked, how, told)),
        commands=tuple(commands(run, asked, how)),
        warnings=tuple(filter(None, (much_unread(each.model, how.policy, each.unread) for each in results_of(told)))),
    )


def results_of(told: Iterable["DomainSections"]) -> list[ModelScores]:
    return [result for one in told for result in one.scores.results]


@dataclass(frozen=True)
class Scores:
    """What came out for all models and bots."""

    models: tuple[str, ...] = ()
    bots: tuple[str, ...] = ()
    results: list[ModelScores] = field(default_factory=list)
    dags: ScoreRows = field(default_factory=lambda: ScoreRows([]))
    alone: ScoreRows = field(default_factory=lambda: ScoreRows([]))  # of every question alone
    empty: bool = False  # are there no questions in the split?
    lacking: Mapping[str, str] = field(default_factory=dict)  # model that is left out -> why


@dataclass(frozen=True)
class DomainSections:
    """What is told of one domain, section by section."""

    of: Reported
    run: Run
    asked: ReportRequest
    how: How
    workers: int

    @cached_property
    def asked_any(self) -> bool:
        """Are there questions? Says so if they are of other facts."""
        view = self.of.view
        if found := view.there(self.run):
            view.check(self.run)
        return found

    @property
    def decomposed(self) -> bool:
        return self.asked_any and self.of.view.benchmark.has(self.run, "decomposed")

    @cached_property
    def scores(self) -> Scores:
        """Every model and bot; the tables they are scored on are forgotten again."""
        own = self.of.view.benchmark
        if not self.decomposed:
            return Scores()
        models = tuple(name for name in self.asked.models if has_answered(self.run, own, name))
        bots = self.asked.bots
        if not models and not bots:
            return Scores()
        try:
            found = RunScores.of(self.run, own, self.how, (*models, *bots), self.workers)
        except NothingAsked:
            return Scores(empty=True)
        results = found.models
        short = gaps(results[: len(models)], self.how.missing)  # bots have nothing to say where nothing is true
        if self.asked.named:
            refuse(short)
        lacking = {fault.place.removeprefix("model "): fault.message for fault in short}
        models = tuple(name for name in models if name not in lacking)
        results = [one for one in results if one.model not in lacking]
        if not results:
            return Scores(lacking=lacking)
        alone = [row for result in results for row in result.alone] + found.baseline
        rows = [row for result in results for row in result.dags]
        rivals = [one for one in results[: len(models)] if not one.sample]  # bots and people are none
        how = self.how.resampling if len(rivals) > 1 else None
        of_dags = marks(rows, {one.model: one.scored for one in rivals}, how)
        of_alone = marks(alone, {one.model: one.scored_alone for one in rivals}, how)
        return Scores(models, bots, results, ScoreRows(rows, of_dags), ScoreRows(alone, of_alone), lacking=lacking)

    def left_out(self) -> Iterator[str]:
        """Models that are not scored here, and why."""
        yield from (f"{model}: {why}" for model, why in self.scores.lacking.items())
        own = self.of.view.benchmark
        silent = [name for name in self.asked.models if not has_answered(self.run, own, name)]
        if silent and self.scores.models:
            yield f"{', '.join(silent)}: no answers about {self.of.view.name}"

    def missing(self, command: str, sentence: str) -> Missing:
        """A part the run does not have, with the command that makes it."""
        return Missing(f"{sentence} This makes it:", (self.command(command),))

    def command(self, name: str) -> str:
        own = self.of.view.benchmark
        which = f" --benchmark {own.name}" if len(held(self.run)) > 1 else ""
        return f"questree {name} {self.asked.run}{which}"

    def result(self) -> Section:
        """What everybody wants to know first."""
        if not self.scores.results:
            return self.section("scores", "Scores", "", self.without_results())
        scores = self.scores
        rivals = {name.lower() for name in scores.bots}
        rest = [name for name in (MOST_LIKELY, *BASELINES) if name.lower() not in rivals]
        named = [name for name in rest if scores.alone.find("accuracy", self.of.overall, "Overall", name)]
        front = Front(scores.models, (*scores.bots, *named), scores.dags, scores.alone, self.of.overall)
        words = tuple(paragraph(front))
        said = [Sentences("", words, running=True)] if words else []
        return self.section("result", "The result", "", [*said, *front_blocks(front)])

    def sections(self) -> Iterator[Section]:
        """From where models fail to what was asked."""
        scores = self.scores
        models, bots = scores.models, scores.bots
        if scores.results:
            yield self.section("failures", "Where it fails", FAILURES, self.worked())
        if scores.models:
            yield self.section("in-words", "Best and worst, in words", WORDS, in_words(scores, self.how))
        if scores.results:
            intro = (
                "Where reasoning breaks: every question with its sub-questions, laid out as in the AGQA-Decomp paper."
            )
            dags = decomp_blocks(scores.dags, scores.results, models, bots)
            yield self.section("decomp", "Scores of DAGs", intro, dags)
            paper, every = self.of.view.benchmark.name, [*models, *bots]
            intro = f"Every question alone, laid out as in the {paper.upper()} paper."
            alone = [*self.of.alone(scores.alone, models, bots), *added_metrics(scores.alone, paper, every)]
            yield self.section(paper, "Scores of questions", intro, alone)
        yield self.section("questions", "The questions", "What is asked, before and after balancing.", self.questions())
        intro = "What questions are made of: sub-questions, and the compositions that put them together."
        yield self.section("parts", "The sub-questions", intro, self.below())

    def section(self, name: str, title: str, intro: str, blocks: Iterable[Block]) -> Section:
        prefix = self.of.prefix
        told = [noted(one, self.how.resampling) if isinstance(one, Grid) else one for one in blocks]
        named = [replace(one, name=prefix + one.name) if isinstance(one, Grid | Figure) else one for one in told]
        title = f"{self.of.heading}{title[0].lower()}{title[1:]}" if self.of.heading else title
        return Section(prefix + name, title, intro, tuple(named))

    def questions(self) -> Iterator[Block]:
        if not self.asked_any:
            yield self.missing("generate", "There are no questions yet.")
        else:
            yield from self.of.corpus(self.run, self.missing, self.how.seed, self.workers)

    def below(self) -> Iterator[Block]:
        if not self.decomposed:
            yield self.missing("decompose", "The questions are not taken apart.")
        else:
            yield from parts_blocks(self.of.view, self.run)

    def without_results(self) -> Iterator[Block]:
        """What can be said without models, and how to store somebody's answers."""
        if self.asked_any and self.of.before_dags:
            asked = scored_questions(self.run, self.of.view.benchmark, self.how.split)
            yield from self.of.alone(ScoreRows(asked.baseline(self.how.resampling)), (), ())
        run, own = self.asked.run, self.of.view.benchmark
        if self.scores.empty and self.how.split is None:
            yield Sentences("", ("There are no scores: no question of the run is taken apart.",))
            return
        if self.scores.empty:
            yield Missing(
                f"No question is of the split {self.how.split}. Of all:", (f"questree report {run} --split all",)
            )
            return
        made = {"questions": "generate", "balanced": "balance", "decomposed": "decompose"}
        first = [self.command(name) for stage, name in made.items() if not own.has(self.run, stage)]
        answered = [name for name in self.asked.models if has_answered(self.run, own, name)]
        if answered and not own.has(self.run, "decomposed"):
            what = f"Scores of {', '.join(answered)} are left out, because the questions are not taken apart."
            yield Missing(f"{what} These make it:", (*first, f"questree report {run}"))
            return
        what = "No model has answered. These store somebody's answers and make this report again:"
        if self.scores.lacking:
            what = "No model has answered everything. This counts what is missing as wrong:"
            yield Missing(what, (f"questree report {run} --missing wrong",))
            return
        last = (f"questree answer {run} --model NAME --predictions FILE", f"questree report {run}")
        yield Missing(what, (*first, *last))

    def worked(self) -> Iterator[Block]:
        models = self.scores.models or tuple(bot for bot in self.scores.bots if bot != "oracle")
        media = path_of(self.asked.media) if self.asked.media else None
        chosen = self.run, models, self.how.split, self.how.seed
        found = list(failures(*chosen, of=self.of.view, how=self.how, media=media, workers=self.workers))
        if media and found and not any(one.shots for one in found):
            yield Sentences(
                "", (f"No picture of what is shown here is in {media}, or each has more than {MOST:,} bytes.",)
            )
        if not found:
            yield Sentences("", ("No model failed on a question whose DAG can be drawn.",))
        yield from found


def in_words(scores: Scores, how: How) -> Iterator[Block]:
    for model in scores.models:
        yield Sentences(model, tuple(verdicts(scores.dags, model)))
    own = [result for result in scores.results if result.model in scores.models][:COMPARED]
    for a, b in combinations(own, 2):
        if how.resampling:
            told = compared(scores.dags, compare(a.scored, b.scored, how.resampling), a.model, b.model)
            yield Sentences(f"{a.model} and {b.model}", tuple(told))
