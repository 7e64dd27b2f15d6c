"""`questree people`: ask people about a run, see how far they agree, take what they say elsewhere."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from questree.api import people, people_results
from questree.cli.shared_options import BenchmarkOption, SeedOption, Whole
from questree.cli.terminal import messages, output, say, tell_made, watching

app = App(name="people", help="Ask people: validate answers, choose, type, paraphrase, label what is absent.")
TaskName = Annotated[str, Parameter(help="Name of the task in the run.")]


def listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@app.command
@output
def new(
    run: Path,
    /,
    *,
    task: Annotated[
        str, Parameter(help="verify, choose, free, absent, paraphrase, compare, or a TOML file of your own.")
    ] = "verify",
    name: Annotated[str, Parameter(help="Name of the task in the run. [default: that of the task]")] = "",
    per_type: Annotated[Whole, Parameter(help="Least number of every type, sub-questions too. [25, alone]")] = 0,
    per_template: Annotated[Whole, Parameter(help="Least number of every template.")] = 0,
    per_answer: Annotated[Whole, Parameter(help="Least number of every answer.")] = 0,
    per_split: Annotated[Whole, Parameter(help="Least number of every split.")] = 0,
    per_category: Annotated[Whole, Parameter(help="Videos: least number of every category of AGQA's tables.")] = 0,
    sample: Annotated[Whole, Parameter(help="Least number in all.")] = 0,
    parts: Annotated[bool | None, Parameter(help="Ask sub-questions too. [with --per-type]")] = None,
    votes: Annotated[Whole, Parameter(help="Answers to every question. [default: as the task says, mostly 3]")] = 0,
    gold: Annotated[float, Parameter(help="Share of questions more whose answer is known.")] = 0.1,
    qualify: Annotated[Whole, Parameter(help="Questions with explanations that everybody answers first.")] = 0,
    split: Annotated[str, Parameter(help="Split to draw from: train, dev, test, or all.")] = "test",
    models: Annotated[str, Parameter(help="compare: two stored models, as in A,B.")] = "",
    annotators: Annotated[str, Parameter(help="Names of people who get a link, as in Ann,Ben.")] = "",
    seed: SeedOption = 0,
    benchmark: BenchmarkOption = "",
) -> None:
    """Draw what people are asked: a balanced sample, gold questions among it, a round to qualify.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    with watching():
        made = people.new(
            run,
            task,
            name=name,
            per_type=per_type,
            per_template=per_template,
            per_answer=per_answer,
            per_split=per_split,
            per_category=per_category,
            sample=sample,
            parts=parts,
            votes=votes,
            gold=gold,
            qualify=qualify,
            split=split,
            models=listed(models),
            annotators=listed(annotators),
            seed=seed,
            benchmark=benchmark,
        )
    tell_made(made)


@app.command
@output
def links(
    run: Path, /, *, add: Annotated[str, Parameter(help="Names of people who get a link, as in Ann,Ben.")] = ""
) -> None:
    """The personal links of everybody who answers; they are the only way in, so send each to its person alone."""
    tell_made(people.invite(run, listed(add)))


@app.command
@messages
def serve(
    run: Path,
    /,
    *,
    port: Annotated[Whole, Parameter(help="Port to listen on; 0 for any free one.")] = 8000,
    host: Annotated[
        str, Parameter(help="Address to listen on; beyond loopback only personal links lead anywhere.")
    ] = "127.0.0.1",
    media: Annotated[
        Path | None,
        Parameter(help="Folder of films (DIR/VIDEO.mp4), frames (DIR/VIDEO/FRAME.jpg) or images (DIR/IMAGE.jpg)."),
    ] = None,
) -> None:
    """Let people answer in the browser, each by their own link. Ctrl-C ends it; nothing that was saved is lost."""

    def ready(address: str) -> None:
        say(f"people answer at {address} (Ctrl-C ends it)")
        for one in people.invite(run).record:
            say(f"link of {one['name']}: {address.rstrip('/')}{one['link']}")
        sys.stdout.flush()  # for whoever reads it through a pipe

    people.serve(run, host=host, port=port, media=media, ready=ready)
    say("stopped")


@app.command
@output
def remove(run: Path, /, *, task: TaskName) -> None:
    """Take a task and all answers to it out of a run."""
    tell_made(people.remove(run, task))


@app.command
@output
def simulate(
    run: Path,
    /,
    *,
    task: TaskName = "verify",
    annotators: Annotated[Whole, Parameter(help="Number of bots.")] = 3,
    error: Annotated[float, Parameter(help="Share of their answers that are mistaken.")] = 0.1,
    seed: SeedOption = 0,
) -> None:
    """Let bots with a known rate of error answer a task to the end, to plan and to test."""
    tell_made(people.simulated(run, task, annotators=annotators, error=error, seed=seed))


@app.command
@output
def agreement(
    run: Path,
    /,
    *,
    task: TaskName = "verify",
    least_gold: Annotated[
        float, Parameter(help="Share of gold somebody must have right to count; 0 keeps everybody.")
    ] = 0.7,
    bots: Annotated[bool, Parameter(help="Count bots as people.")] = True,
    threshold: Annotated[float, Parameter(help="Types found right less often are proposed as unscored.")] = 0.7,
    least: Annotated[Whole, Parameter(help="Items of a type before it is proposed.")] = 5,
    resamples: Annotated[Whole, Parameter(help="Number of draws of annotators behind intervals; 0 for none.")] = 1000,
    seed: SeedOption = 0,
) -> None:
    """How far people agree, who is left out, faults, time, and how often they find what the benchmark says."""
    options = {"least_gold": least_gold, "bots": bots, "threshold": threshold, "least": least}
    with watching():
        made = people_results.agreement(run, task, **options, resamples=resamples, seed=seed)  # type: ignore[arg-type]
    tell_made(made)


@app.command
@output
def power(
    *,
    accuracy: Annotated[float, Parameter(help="Share of the benchmark's answers that are right.")] = 0.86,
    error: Annotated[float, Parameter(help="Share of wrong answers of one person.")] = 0.1,
    half_width: Annotated[float, Parameter(help="Wanted half-width of the 95 % interval.")] = 0.05,
    seconds: Annotated[float, Parameter(help="Seconds that one answer takes.")] = 30.0,
    groups: Annotated[Whole, Parameter(help="Types or categories, each with this half-width.")] = 1,
) -> None:
    """How many votes and items a wanted half-width needs."""
    made = people.power(accuracy=accuracy, error=error, half_width=half_width, seconds=seconds, groups=groups)
    tell_made(made)


@app.command
@output
def export(
    run: Path,
    /,
    *,
    task: TaskName = "verify",
    out: Annotated[Path | None, Parameter(help="File for every answer, .csv or .jsonl; people are numbers.")] = None,
    label_studio: Annotated[Path | None, Parameter(help="File of tasks for Label Studio, .json.")] = None,
    human: Annotated[Path | None, Parameter(help="File for the majority's answers as predictions, .jsonl.")] = None,
    store: Annotated[str, Parameter(help="Also store these in the run, as a model of this name: Human.")] = "",
    absent: Annotated[Path | None, Parameter(help="File for `questree decompose --absent`, .json.")] = None,
    rejected: Annotated[Path | None, Parameter(help="File for `questree balance --without`, .csv.")] = None,
    paraphrased: Annotated[Path | None, Parameter(help="File for `questree score paraphrased`, .jsonl.")] = None,
    unscored: Annotated[Path | None, Parameter(help="File for `questree score --unscored`, a type per line.")] = None,
    least_gold: Annotated[
        float, Parameter(help="Share of gold somebody must have right to count; 0 keeps everybody.")
    ] = 0.7,
    threshold: Annotated[float, Parameter(help="Types found right less often are unscored.")] = 0.7,
    least: Annotated[Whole, Parameter(help="Items of a type before it is unscored.")] = 5,
    bots: Annotated[bool, Parameter(help="Count bots as people.")] = True,
) -> None:
    """Write what people said, without their names: answers, predictions of a model Human, files for other stages."""
    with watching():
        made = people_results.export(
            run,
            task,
            out=out,
            label_studio=label_studio,
            human=human,
            store=store,
            absent=absent,
            rejected=rejected,
            paraphrased=paraphrased,
            unscored=unscored,
            threshold=threshold,
            least=least,
            least_gold=least_gold,
            bots=bots,
        )
    tell_made(made)


@app.command(name="import")
@output
def take_in(
    run: Path,
    file: Annotated[Path, Parameter(help="Label Studio's JSON export, or a CSV of item or id, annotator, value.")],
    /,
    *,
    task: TaskName = "verify",
) -> None:
    """Read answers that people gave elsewhere."""
    tell_made(people_results.take_in(run, task, file))
