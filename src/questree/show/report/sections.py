"""The report of a run, section by section; what is missing is named with the command that makes it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import combinations
from shlex import quote

from questree.metrics.comparison import compare
from questree.metrics.scores import Score
from questree.models import bots as video_bots
from questree.models import image_bots
from questree.show.report.corpus import (
    corpus,
    corpus_blocks,
    image_accuracy,
    image_corpus,
    image_parts,
    parts,
    parts_blocks,
    splits,
)
from questree.show.report.document import Block, Figure, Grid, Missing, Report, Rows, Section, Words
from questree.show.report.failures import failures
from questree.show.report.questions import image_questions
from questree.show.report.scoring import How, Judge, Result, answered_images, answered_videos, called, refuse_gaps
from questree.show.report.tables import agqa_blocks, decomp_blocks
from questree.show.report.verdicts import compared, verdicts
from questree.tables.lock import Stage, flat, read
from questree.tables.run import Run

SHORT = 12  # letters of a digest that are shown
Fact = tuple[str, str]


@dataclass(frozen=True)
class ReportRequest:
    """What the reader asked for."""

    run: str  # as it was written
    models: tuple[str, ...]
    bots: tuple[str, ...]
    out: str  # the name of the file


def facts(run: Run, asked: ReportRequest, how: How, results: Sequence[Result]) -> Iterator[Fact]:
    yield "run", asked.run
    yield "models", ", ".join(asked.models) or "none"
    if asked.bots:
        yield "bots", ", ".join(map(called, asked.bots))
    if results:
        yield from scored_on(how, results)
    yield from locked(run)


def scored_on(how: How, results: Sequence[Result]) -> Iterator[Fact]:
    sizes = {result.unit: f"{len(result.scored.tallies.total):,} {result.unit}" for result in results}
    yield "scored on", " and ".join(sizes.values()) + (f" of the split {how.split}" if how.split else ", all there are")
    yield "answers read", f"{how.policy}; a question without a prediction: {how.missing}"
    given = {one.model: f"{one.coverage.found:,} of {one.coverage.needed:,}" for one in results}
    yield "questions and sub-questions with a prediction", "; ".join(f"{name} {n}" for name, n in given.items())
    room = f"95 %, from {how.resamples:,} resamples with replacement" if how.resamples else "not asked for"
    yield "intervals", room
    yield "seed", f"{how.seed}, of the resampling and of the choice of failures and texts"


def locked(run: Run) -> Iterator[Fact]:
    """Digests and options of every stage, as locked; `questree verify` says whether they still hold."""
    if not run.lock_file.is_file():
        yield "lock file", "none; `questree verify RUN --write` makes one, and the report can be held against it"
        return
    found = read(run)
    if found.vocabulary:
        yield "vocabulary", found.vocabulary[:SHORT]
    for name, stage in found.stages.items():
        options = ", ".join(f"{option} {value}" for option, value in shown(stage))
        yield name, f"{digest(stage)}{f'; {options}' if options else ''}"
    yield "code when locked", ", ".join(dict.fromkeys(stage.code[:SHORT] for stage in found.stages.values()))


def shown(stage: Stage) -> Iterator[Fact]:
    """Options without the long lists."""
    for option, value in flat(stage.options).items():
        if value and not option.startswith("more steps ") and len(value) <= 80:
            yield option, value


def digest(stage: Stage) -> str:
    """Of all files of a stage."""
    found = blake2b(digest_size=16)
    for name, own in sorted(stage.files.items()):
        found.update(f"{name}\0{own}\0".encode())
    return found.hexdigest()[:SHORT]


def commands(asked: ReportRequest, how: How) -> Iterator[str]:
    """What a reader types to get the same; the run must be the same, which the first line checks."""
    run = quote(asked.run)
    yield f"questree verify {run}"
    models = f"--models {quote(','.join(asked.models))} " if asked.models else ""
    models += f"--bots {quote(','.join(asked.bots) or 'none')} "
    choices = f"--split {how.split or 'all'} --policy {how.policy} --missing {how.missing}"
    drawn = f"--resamples {how.resamples} --seed {how.seed}"
    yield f"questree report {run} {models}{choices} {drawn} --out {quote(asked.out)}"


COMPARED = 4  # models that are compared with each other in words
WORDS = "Only what the intervals bear: two values are told apart where their 95 % intervals do not overlap."
FAILURES = (
    "Questions a model failed on, spread over compositions and chosen by a hash, not by hand. Pink boxes are wrong; "
    "pink lines are the way of an error; blue dashed lines join answers of the model that contradict each other."
)


def report(run: Run, asked: ReportRequest, how: How, workers: int = 2) -> Report:
    """Everything there is to say about a run and these models."""
    if not has_images(run):
        run.vocabulary()  # says so if this is no run
    found = [videos(run, asked, how, workers)] if has_videos(run) else []
    found += [images(run, asked, how)] if has_images(run) else []
    results = [result for _, own in found for result in own]
    return Report(
        title=f"{', '.join(asked.models) or 'Questions'} on {asked.run}",
        facts=tuple(facts(run, asked, how, results)),
        commands=tuple(commands(asked, how)),
        sections=tuple(section for own, _ in found for section in own),
    )


def has_images(run: Run) -> bool:
    return run.images.is_dir() or run.covr.is_dir()


def has_videos(run: Run) -> bool:
    return run.facts.is_dir() or run.questions.is_dir() or not has_images(run)


@dataclass(frozen=True)
class Scores:
    """What came out for all models and bots."""

    models: tuple[str, ...]
    bots: tuple[str, ...]
    results: list[Result]
    rows: Rows


def scored(judge: Callable[[], Judge], models: tuple[str, ...], bots: tuple[str, ...], how: How) -> Scores:
    """Every model and bot; the tables they are scored on are forgotten again."""
    if not models and not bots:
        return Scores(models, bots, [], Rows([]))
    found = judge()
    results = [found.score(name) for name in (*models, *bots)]
    refuse_gaps(results[: len(models)], how.missing)  # bots have nothing to say where nothing is true
    rows: list[Score] = [row for result in results for row in result.rows]
    return Scores(models, bots, results, Rows([*rows, *found.questions.baseline(how.resampling)]))


def videos(run: Run, asked: ReportRequest, how: How, workers: int) -> tuple[list[Section], list[Result]]:
    models = tuple(name for name in asked.models if answered_videos(run, name))
    bots = tuple(name for name in asked.bots if run.decomposed.is_dir() and name in video_bots.BOTS)
    scores = scored(lambda: Judge.of_videos(run, how, workers), models, bots, how)
    return list(video_sections(run, asked, how, scores, workers)), scores.results


def video_sections(run: Run, asked: ReportRequest, how: How, scores: Scores, workers: int) -> Iterator[Section]:
    if scores.models:
        yield Section("in-words", "Best and worst, in words", WORDS, tuple(in_words(scores, how)))
    intro = "What is asked, before and after balancing."
    yield Section("questions", "The questions", intro, tuple(questions(run, asked, how, workers)))
    intro = "What questions are made of: sub-questions, and the compositions that put them together."
    yield Section("parts", "The sub-questions", intro, tuple(below(run, asked)))
    if not scores.results:
        yield Section("scores", "Scores", "", (no_models(run, asked),))
        return
    intro = "Where reasoning breaks: every question with its sub-questions, laid out as in the AGQA-Decomp paper."
    dags = decomp_blocks(scores.rows, scores.results, scores.models, scores.bots)
    yield Section("decomp", "Scores of DAGs", intro, tuple(dags))
    intro = "Every question alone, laid out as in the AGQA paper."
    yield Section("agqa", "Scores of questions", intro, tuple(agqa_blocks(scores.rows, scores.models, scores.bots)))
    yield Section("failures", "Worked failures", FAILURES, tuple(worked(run, how, scores)))


def in_words(scores: Scores, how: How) -> Iterator[Block]:
    for model in scores.models:
        yield Words(model, tuple(verdicts(scores.rows, model)))
    own = [result for result in scores.results if result.model in scores.models][:COMPARED]
    for a, b in combinations(own, 2):
        if how.resampling:
            told = compared(scores.rows, compare(a.scored, b.scored, how.resampling), a.model, b.model)
            yield Words(f"{a.model} and {b.model}", tuple(told))


def questions(run: Run, asked: ReportRequest, how: How, workers: int) -> Iterator[Block]:
    if not run.questions.is_dir():
        yield Missing("There are no questions yet. This makes them:", (f"questree generate {asked.run}",))
        return
    yield from corpus_blocks(corpus(run, how.seed, workers), run.vocabulary(), asked.run)
    yield splits(run, asked.run)


def below(run: Run, asked: ReportRequest) -> Iterator[Block]:
    if not run.decomposed.is_dir():
        yield Missing("The questions are not taken apart. This does it:", (f"questree decompose {asked.run}",))
        return
    yield from parts_blocks(parts(run))


def no_models(run: Run, asked: ReportRequest) -> Missing:
    made = {run.questions: "generate", run.balanced: "balance", run.decomposed: "decompose"}
    first = [f"questree {command} {asked.run}" for folder, command in made.items() if not folder.is_dir()]
    what = "No model has answered. These store somebody's answers and make this report again:"
    last = (f"questree answer {asked.run} --model NAME --predictions FILE", f"questree report {asked.run}")
    return Missing(what, (*first, *last))


def worked(run: Run, how: How, scores: Scores) -> Iterator[Block]:
    models = scores.models or tuple(bot for bot in scores.bots if bot != "oracle")
    found = list[Block](failures(run, models, how.split, how.seed))
    yield from found or [Words("", ("No model failed on a question whose DAG can be drawn.",))]


def images(run: Run, asked: ReportRequest, how: How) -> tuple[list[Section], list[Result]]:
    models = tuple(name for name in asked.models if answered_images(run, name))
    bots = tuple(name for name in asked.bots if (run.covr / "decomposed").is_dir() and name in image_bots.BOTS)
    scores = scored(lambda: Judge.of_images(run, how), models, bots, how)
    return list(image_sections(run, asked, how, scores)), scores.results


def image_sections(run: Run, asked: ReportRequest, how: How, scores: Scores) -> Iterator[Section]:
    corpus = tuple(image_corpus(run, asked.run))
    yield Section("image-questions", "Questions about image sets", "What is asked, as in the COVR paper.", corpus)
    if isinstance(corpus[0], Missing):
        return
    if scores.models:
        yield Section("image-in-words", "Image sets: best and worst, in words", WORDS, tuple(in_words(scores, how)))
    rows = scores.rows if scores.results else Rows(image_questions(run, how.split).baseline(how.resampling))
    blocks = [image_accuracy(rows, (*scores.models, *scores.bots)), *image_parts(run, asked.run)]
    if scores.results:
        dags = decomp_blocks(rows, scores.results, scores.models, scores.bots)
        blocks += [replace(one, name=f"image-{one.name}") for one in dags if isinstance(one, Grid | Figure)]
    yield Section("image-scores", "Scores on image sets", "", tuple(blocks))
