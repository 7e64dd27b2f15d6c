"""`make bench`: measures a stage on the synthetic world; a line per measurement, and the numbers as JSON."""

import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from subprocess import run as process
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from cyclopts import Parameter

from bench.measured import Measurement, measure
from bench.runs import aside, exported, made_run
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, print_table, say, watching, write_json

Videos = Annotated[int, Parameter(help="Number of videos.")]
Seed = Annotated[int, Parameter(help="Seed of the synthetic world.")]
Workers = Annotated[int | None, Parameter(help="Number of processes. [default: one per processor]")]
PerVideo = Annotated[int, Parameter(help="Number of questions per video; AGQA's balanced set has 236.")]


def tell(result: Measurement) -> None:
    say(str(result))
    write_json(result)


@output
def synth(*, videos: Videos = 200, seed: Seed = 1, workers: Workers = None) -> None:
    """Write a synthetic world; rows are object annotations, the truth's not counted."""
    from questree.synth.video import Rates
    from questree.synth.world import write_world

    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        out = Path(place) / "world"
        tell(measure("synth", videos, lambda: int(write_world(out, videos, seed, Rates(), workers)["entries"])))


@output
def frames(
    *,
    videos: Videos = 100,
    size: Annotated[str, Parameter(help="Size that frames fit into.")] = "320x240",
    seed: Seed = 1,
    workers: Workers = None,
) -> None:
    """Draw the frames of a synthetic world, as PNG and as a video file of each video; rows are frames."""
    from questree.api.made_up import drawing, frame_size_of

    with drawing("make bench NAME=frames"):
        from questree.draw.frames import write_frames
    most = frame_size_of(size)
    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        out = Path(place) / "frames"
        tell(measure("frames", videos, lambda: write_frames(out, videos, seed, most, workers)["frames"]))


@output
def augment(*, videos: Videos = 200, seed: Seed = 1, workers: Workers = None) -> None:
    """Clean the facts of a synthetic world, made and read before the clock starts; rows are relation facts."""
    from questree.sources.action_genome_videos import read_action_genome
    from questree.stages.augment import augment as clean
    from questree.synth.video import Rates
    from questree.synth.world import write_world
    from questree.vocabulary import default

    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        write_world(Path(place) / "world", videos, seed, Rates(), workers)
        raw = read_action_genome(Path(place) / "world", default(), None).facts
        tell(measure("augment", videos, lambda: len(clean(raw, default())[0].relations)))


@output
def generate(
    *,
    videos: Videos = 200,
    seed: Seed = 1,
    text: Annotated[bool, Parameter(help="Also write the questions' text.")] = False,
    edition: Annotated[Literal["2.0", "1.0"], Parameter(help="Edition of AGQA.")] = "2.0",
    workers: WorkersOption = 2,
) -> None:
    """Generate the questions of a synthetic world, made and cleaned before the clock starts; rows are questions."""
    from questree.benchmarks.agqa.editions import EDITIONS
    from questree.stages.generate.shards import GenerateOptions
    from questree.stages.generate.shards import generate as work

    counts = dict[str, int]()
    with made_run("facts", videos, seed) as run:

        def generated() -> int:
            options = GenerateOptions(text=text, edition=edition)
            counts.update({name: tally.kept for name, tally in work(run, options, workers).items()})
            return sum(counts.values())

        tell(measure("generate with text" if text else "generate", videos, generated))
        size = sum(path.stat().st_size for path in run.questions.rglob("*.parquet"))
    thousands = {template.name: template.published or 0.0 for template in EDITIONS[edition].templates}
    scale = sum(thousands.values()) / max(sum(counts.values()), 1)
    rows = [
        {
            "template": name,
            "questions": n,
            "paper, thousands": published,
            "share / paper's": f"{n * scale / published:.2f}",
        }
        for name, n in counts.items()
        if (published := thousands[name])
    ]
    print_table("Questions per template, beside Table 14 of the AGQA paper (edition 1.0, real videos)", rows)
    say(f"{size / max(sum(counts.values()), 1):.2f} bytes per question")


@output
def balance(
    *,
    questions: Annotated[int, Parameter(help="Number of questions.")] = 5_000_000,
    videos: Annotated[int, Parameter(help="Number of videos whose questions are copied.")] = 300,
    seed: Seed = 1,
    workers: WorkersOption = 2,
) -> None:
    """Balance many questions, made before the clock starts; rows are questions before balancing."""
    from questree.stages.balance.levelling import BalanceOptions
    from questree.stages.balance.rounds import balance as select

    with made_run("copies", videos, seed, questions) as run:
        tell(measure("balance", questions, lambda: select(run, BalanceOptions(), workers).total("before")))


@output
def split(*, videos: Videos = 200, seed: Seed = 1, workers: WorkersOption = 2) -> None:
    """Split every question of a synthetic world in AGQA's four ways, with proofs; rows are questions."""
    from questree.stages.split.engine import SplitOptions
    from questree.stages.split.videos import split as make

    with made_run("questions", videos, seed) as run:

        def whole() -> int:
            made = make(run, SplitOptions(all=True), workers)[0]
            return made.train + made.test

        tell(measure("split", videos, whole))


@output
def audit(*, videos: Videos = 200, seed: Seed = 1, workers: WorkersOption = 2) -> None:
    """Audit a synthetic world, balanced before the clock starts; rows are questions whose text was looked at."""
    from questree.stages.audit.audited import AuditOptions
    from questree.stages.audit.videos import audit as look

    with made_run("balanced", videos, seed) as run:
        tell(measure("audit", videos, lambda: look(run, AuditOptions(), workers).looked_at))


@output
def decompose(*, videos: Videos = 200, seed: Seed = 1, per_video: PerVideo = 236, workers: WorkersOption = 2) -> None:
    """Take apart some questions of every video of a synthetic world, generated before the clock starts."""
    from questree.stages.decompose.columns import DecomposeSummary
    from questree.stages.decompose.dag_shards import DecomposeOptions
    from questree.stages.decompose.dag_shards import decompose as work

    found = list[DecomposeSummary]()
    with made_run("selected", videos, seed, per_video) as run:

        def decomposed() -> int:
            found.append(work(run, DecomposeOptions(balanced=True), workers))
            return found[0].questions

        tell(measure("decompose", videos, decomposed))
    say(f"{found[0].nodes:,} nodes, {found[0].edges:,} edges, {found[0].relabelled:,} relabelled")


@output
def score(
    *,
    dags: Annotated[int, Parameter(help="Number of DAGs, of 11.5 nodes each.")] = 2_270_000,
    videos: Videos = 9600,
    resamples: Annotated[int, Parameter(help="Number of bootstrap resamples.")] = 1000,
    seed: Seed = 1,
) -> None:
    """The whole AGQA-Decomp report of one model on made-up hierarchies, then its intervals; rows are nodes."""
    from bench.made_up_hierarchies import made_up_hierarchies, made_up_predictions
    from questree.metrics.dags import score_decomp
    from questree.metrics.scores import Resampling, Scored, interval, resampled

    with watching():
        made = made_up_hierarchies(dags, videos, seed)
        said = made_up_predictions(made, seed)
        found = list[Scored]()

        def scored() -> int:
            found.append(score_decomp(made, said))
            found[0].rows("made up")
            return len(made.nodes)

        def bootstrapped() -> int:
            interval(found[0].values(), resampled(found[0].cells, found[0].tallies, Resampling(resamples, seed)))
            return resamples

        report, intervals = measure("score", dags, scored), measure("bootstrap", videos, bootstrapped)
    say(f"{report}\n{intervals}\n{len(found[0].cells):,} cells")
    write_json({**asdict(report), "bootstrap": asdict(intervals)})


@output
def read(*, answers: Annotated[int, Parameter(help="Number of answers.")] = 26_000_000, seed: Seed = 1) -> None:
    """Made-up short answers read under `exact` and under `lenient`; rows are answers.

    Seven in ten are as the benchmark writes them, most others said otherwise; one in a hundred is the letter of an
    option, for which the question is looked at.
    """
    import numpy as np
    import polars as pl

    from questree.models.policies import Policy, read_answers
    from questree.said.lexicon import possible_answers
    from questree.vocabulary import default

    words, rng = default(), np.random.default_rng(seed)
    known = possible_answers(words)
    ways = [way for word in known[:40] for way in (f"{word.capitalize()}.", f"The answer is {word}", f"**{word}**")]
    texts = pl.Series([*known, *ways, "A", "B"])
    kind = rng.choice(3, answers, p=(0.7, 0.29, 0.01))
    begin, many = np.array([0, len(known), len(known) + len(ways)]), np.array([len(known), len(ways), 2])
    said = texts.gather(begin[kind] + (rng.random(answers) * many[kind]).astype(np.int64))
    table = pl.DataFrame({"id": pl.int_range(answers, eager=True), "prediction": said})
    asked = pl.Series(["Did they open a door before or after sitting down?", "Which was it, a cup or a bag?"])

    def under(policy: Policy) -> int:
        read_answers(table, known, policy, words, lambda ids: asked.gather(ids.cast(pl.Int64) % 2))
        return answers

    with watching():
        policies: tuple[Policy, Policy] = ("exact", "lenient")
        found = [measure(f"read, {policy}", answers, partial(under, policy)) for policy in policies]
    say("\n".join(map(str, found)))
    write_json(found)


@output
def fpvg(*, questions: Annotated[int, Parameter(help="Number of questions.")] = 200_000, seed: Seed = 1) -> None:
    """The command `score fpvg`, its start included, on files written before the clock starts; rows are questions."""
    from bench.grounded_files import write_grounded

    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        files = aside(write_grounded, Path(place), questions, seed)
        options = [part for name, path in files.items() for part in (f"--{name.replace('_', '-')}", str(path))]

        def scored() -> int:
            process([sys.executable, "-m", "questree", "score", "fpvg", *options, "--quiet"], check=True)
            return questions

        tell(measure("fpvg", questions, scored))


@output
def answer(
    *,
    videos: Videos = 200,
    seed: Seed = 1,
    per_video: PerVideo = 236,
    model: Annotated[str, Parameter(help="Bot to run.")] = "perception-noise",
    files: Annotated[bool, Parameter(negative="", help="Also read the exported JSON hierarchies of the run.")] = False,
    workers: WorkersOption = 2,
) -> None:
    """A bot answers a synthetic run made before the clock starts, its DAGs are read, it is scored; rows are nodes."""
    from questree.formats.decomp_files import read_hierarchies
    from questree.metrics.dags import score_decomp
    from questree.models.bot_runs import answer_run
    from questree.models.bots import BotOptions
    from questree.models.stored import said
    from questree.stages.decompose.hierarchies import RunHierarchies, run_hierarchies
    from questree.tables.predictions import Stored

    found = list[RunHierarchies]()

    def read() -> int:
        found.append(run_hierarchies(run, None, workers))
        return len(found[0].hierarchies.nodes)

    def scored() -> int:
        score_decomp(found[0].hierarchies, said(found[0], Stored.of(run, model))).rows(model)
        return len(found[0].hierarchies.nodes)

    with made_run("decomposed", videos, seed, per_video) as run:
        results = [measure(f"answer by {model}", videos, lambda: answer_run(run, BotOptions(model))[0])]
        results += [measure("DAGs of the run", videos, read), measure("score", videos, scored)]
        found.clear()
        if files:
            places = aside(exported, run)
            rows = measure(
                "DAGs of files", videos, lambda: sum(len(read_hierarchies(at, workers).nodes) for at in places)
            )
            results.append(rows)
    for result in results:
        say(str(result))
    write_json(results)


@output
def rewards(
    *,
    videos: Videos = 200,
    seed: Seed = 1,
    per_video: PerVideo = 236,
    batch: Annotated[int, Parameter(help="Number of answers per batch.")] = 4096,
    times: Annotated[int, Parameter(help="Number of answers to each question.")] = 4,
) -> None:
    """Reward whole answers, then answers to every question and sub-question, made before the clock starts."""
    from questree.api.rewards import Rewards
    from questree.models.bot_runs import answer_run
    from questree.models.bots import BotOptions
    from questree.models.stored import said
    from questree.tables.predictions import Stored

    with made_run("decomposed", videos, seed, per_video) as run:
        answer_run(run, BotOptions("composition-noise", noise=0.2))
        reward = Rewards(run.folder)
        answers = reward.dags.answers(said(reward.dags.asked, Stored.of(run, "composition-noise")))
        rows = [answers[at : at + batch] for _ in range(times) for at in range(0, len(answers), batch)]
        reward(rows[0])  # what is read or compiled once

        def rewarded(columns: list[str]) -> int:
            return sum(len(reward(few.select(columns))) for few in rows)

        results = [
            measure("rewards of whole answers", batch, lambda: rewarded(["id", "answer"])),
            measure("rewards with all steps", batch, lambda: rewarded(answers.columns)),
        ]
    for result in results:
        say(str(result))
    say(f"{int(answers['steps'].list.len().sum()) / len(answers):.1f} sub-questions per question")
    write_json(results)
