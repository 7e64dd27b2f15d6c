"""`questree bench`: measures a stage on the synthetic world; one line, and the numbers as JSON."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from cyclopts import Parameter

from questree.bench import Measurement, measure
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.synth.video import Rates
from questree.tables.run import Run
from questree.tables.store import new_folder

Videos = Annotated[int, Parameter(name="--videos", help="Number of videos.")]
Seed = Annotated[int, Parameter(name="--seed", help="Seed of the synthetic world.")]
Workers = Annotated[int | None, Parameter(name="--workers", help="Number of processes. [default: one per processor]")]


@output
def synth(*, videos: Videos = 200, seed: Seed = 1, workers: Workers = None) -> None:
    """Write a synthetic world; rows are object annotations, the truth's not counted."""
    from questree.synth.world import write_world

    with watching(), _folder() as folder:
        result = measure("synth", videos, lambda: int(write_world(folder, videos, seed, Rates(), workers)["entries"]))
    _tell(result)


@output
def augment(*, videos: Videos = 200, seed: Seed = 1, workers: Workers = None) -> None:
    """Clean the facts of a synthetic world, made and read before the clock starts; rows are relation facts."""
    from questree.sources.action_genome import read_action_genome
    from questree.stages.augment import augment as clean
    from questree.synth.world import write_world
    from questree.vocabulary import default

    with watching(), _folder() as folder:
        write_world(folder, videos, seed, Rates(), workers)
        raw = read_action_genome(folder, default(), None).facts
        result = measure("augment", videos, lambda: len(clean(raw, default())[0].relations))
    _tell(result)


@output
def generate(
    *,
    videos: Videos = 200,
    seed: Seed = 1,
    text: Annotated[bool, Parameter(help="Also write the questions' text.")] = False,
    workers: WorkersOption = 2,
) -> None:
    """Generate the questions of a synthetic world, made and cleaned before the clock starts; rows are questions."""
    from questree.benchmarks.agqa.templates import BY_NAME
    from questree.stages.generate.shards import GenerateOptions
    from questree.stages.generate.shards import generate as work

    with watching(), _folder() as folder:
        run = _aside(_cleaned, folder, videos, seed)
        counts = dict[str, int]()

        def generated() -> int:
            counts.update({name: tally.kept for name, tally in work(run, GenerateOptions(text=text), workers).items()})
            return sum(counts.values())

        result = measure("generate with text" if text else "generate", videos, generated)
        size = sum(path.stat().st_size for path in run.questions.rglob("*.parquet"))
    _tell(result)
    rows = [
        {"template": name, "questions": n, "paper, thousands": BY_NAME[name].published} for name, n in counts.items()
    ]
    print_table("Questions per template, beside Table 14 of the AGQA paper (edition 1.0, real videos)", rows)
    say(f"{size / max(result.rows, 1):.2f} bytes per question")


@output
def balance(
    *,
    questions: Annotated[int, Parameter(name="--questions", help="Number of questions.")] = 5_000_000,
    videos: Annotated[int, Parameter(name="--videos", help="Number of videos whose questions are copied.")] = 300,
    seed: Seed = 1,
    workers: WorkersOption = 2,
) -> None:
    """Balance many questions, made before the clock starts; rows are questions before balancing."""
    from questree.stages.balance.options import BalanceOptions
    from questree.stages.balance.rounds import balance as select

    with watching(), _folder() as folder:
        run = _aside(_many, folder, videos, seed, questions)
        result = measure("balance", questions, lambda: select(run, BalanceOptions(), workers).total("before"))
    _tell(result)


@output
def split(*, videos: Videos = 200, seed: Seed = 1, workers: WorkersOption = 2) -> None:
    """Split every question of a synthetic world in AGQA's four ways, with proofs; rows are questions."""
    from questree.stages.split.engine import SplitOptions
    from questree.stages.split.videos import split as make

    def whole(run: Run) -> int:
        made = make(run, SplitOptions(all=True), workers)[0]
        return made.train + made.test

    with watching(), _folder() as folder:
        run = _aside(_asked, folder, videos, seed)
        result = measure("split", videos, lambda: whole(run))
    _tell(result)


@output
def audit(*, videos: Videos = 200, seed: Seed = 1, workers: WorkersOption = 2) -> None:
    """Audit a synthetic world, balanced before the clock starts; rows are questions whose text was looked at."""
    from questree.stages.audit.audited import AuditOptions
    from questree.stages.audit.audited import audit as look

    with watching(), _folder() as folder:
        run = _aside(_balanced, folder, videos, seed)
        result = measure("audit", videos, lambda: look(run, AuditOptions(), workers).looked_at)
    _tell(result)


@output
def score(
    *,
    dags: Annotated[int, Parameter(name="--dags", help="Number of DAGs, of 11.5 nodes each.")] = 2_270_000,
    videos: Videos = 9600,
    resamples: Annotated[int, Parameter(name="--resamples", help="Number of bootstrap resamples.")] = 1000,
    seed: Seed = 1,
) -> None:
    """The whole AGQA-Decomp report of one model on made-up hierarchies, then its intervals; rows are nodes."""
    from questree.metrics.dags import score_decomp
    from questree.metrics.scores import Resampling, Scored, interval, resampled
    from questree.synth.hierarchies import made_up_hierarchies, made_up_predictions

    with watching():
        made = made_up_hierarchies(dags, videos, seed)
        said = made_up_predictions(made, seed)
        found = list[Scored]()

        def scored() -> int:
            found.append(score_decomp(made, said))
            found[0].rows("made up")
            return len(made.nodes)

        def bootstrapped() -> int:
            interval(resampled(found[0].cells, found[0].tallies, Resampling(resamples, seed)))
            return resamples

        report, intervals = measure("score", dags, scored), measure("bootstrap", videos, bootstrapped)
    say(f"{report}\n{intervals}\n{len(found[0].cells):,} cells")
    write_json({**asdict(report), "bootstrap": asdict(intervals)})


@output
def decompose(
    *,
    videos: Videos = 200,
    seed: Seed = 1,
    per_video: Annotated[int, Parameter(help="Number of questions per video; AGQA's balanced set has 236.")] = 236,
    workers: WorkersOption = 2,
) -> None:
    """Take apart some questions of every video of a synthetic world, generated before the clock starts."""
    from questree.stages.decompose.dag_shards import DecomposeOptions
    from questree.stages.decompose.dag_shards import decompose as work

    with watching(), _folder() as folder:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as aside:
            run = aside.submit(_selected, folder, videos, seed, per_video).result()
        found = []

        def decomposed() -> int:
            found.append(work(run, DecomposeOptions(balanced=True), workers))
            return found[0].questions

        result = measure("decompose", videos, decomposed)
    _tell(result)
    say(f"{found[0].nodes:,} nodes, {found[0].edges:,} edges, {found[0].relabelled:,} relabelled")


def _selected(folder: Path, videos: int, seed: int, per_video: int) -> Run:
    """A run with questions, some of every video selected: as many as there would be after balancing."""
    import polars as pl

    from questree.stages.generate.shards import GenerateOptions
    from questree.stages.generate.shards import generate as work
    from questree.tables.questions import QUESTIONS

    run = _cleaned(folder, videos, seed)
    work(run, GenerateOptions(), 2)
    with new_folder(run.balanced) as chosen:
        for shard in sorted(path for path in run.questions.iterdir() if path.is_dir()):
            table = QUESTIONS.read(shard).select("video", "number")
            step = (pl.len().over("video") / per_video).ceil().cast(pl.UInt32)
            table.filter(pl.col("number") % step == 0).write_parquet(chosen / f"{shard.name}.parquet")
    return run


def _cleaned(folder: Path, videos: int, seed: int) -> Run:
    """A run with cleaned facts of a synthetic world."""
    from questree.sources.action_genome import read_action_genome
    from questree.sources.runs import write_run
    from questree.stages.augment import augment as clean
    from questree.synth.world import write_world
    from questree.vocabulary.load import default, default_text

    write_world(folder, videos, seed, Rates(), None)
    raw = read_action_genome(folder, default(), None).facts
    run = Run(folder.parent / "run")
    write_run(run.folder, default_text(), raw)
    with new_folder(run.facts) as facts:
        clean(raw, default())[0].save(facts)
    return run


def _asked(folder: Path, videos: int, seed: int) -> Run:
    """The same with all questions."""
    from questree.stages.generate.shards import GenerateOptions
    from questree.stages.generate.shards import generate as work

    run = _cleaned(folder, videos, seed)
    work(run, GenerateOptions(), 1)
    return run


def _many(folder: Path, videos: int, seed: int, questions: int) -> Run:
    """A run with this many questions."""
    from questree.cli.many_questions import multiply

    return multiply(_asked(folder, videos, seed), folder.parent / "many", questions)


def _balanced(folder: Path, videos: int, seed: int) -> Run:
    from questree.stages.balance.options import BalanceOptions
    from questree.stages.balance.rounds import balance as select

    run = _asked(folder, videos, seed)
    select(run, BalanceOptions())
    return run


def _aside(make: Callable[..., Run], *how: Any) -> Run:
    """A run made in a process of its own: its memory is not what is measured."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as aside:
        return aside.submit(make, *how).result()


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="questree-bench-") as place:
        yield Path(place) / "world"


def _tell(result: Measurement) -> None:
    say(str(result))
    write_json(result)
