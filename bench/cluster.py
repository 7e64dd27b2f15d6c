"""What a cluster costs and brings: stages by processes and by a local cluster, with what each task took and moved."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bench.measured import Measurement, measure
from bench.runs import made_run
from bench.stages import PerVideo, Seed, Videos
from questree.cli.terminal import output, print_table, say, write_json
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.clusters.pool import TaskCost

MODEL = "composition-noise"
START, EMPTY, TASKS = "start", "empty", 500


@dataclass(frozen=True)
class Engine:
    name: str
    workers: int
    cluster: str = ""  # processes without

    @contextmanager
    def there(self) -> Iterator[Any]:
        """The cluster, with all its workers; it serves many commands. Processes start in every stage."""
        from questree.api.clusters import cluster

        with cluster(self.cluster) as found:
            found.connection.client.wait_for_workers(self.workers)
            yield found


ENGINES = (
    Engine("processes", 1),
    Engine("processes", 2),
    Engine("local:1", 1, "local:1"),
    Engine("local:2", 2, "local:2"),
)


@output
def cluster(
    *,
    videos: Videos = 200,
    seed: Seed = 1,
    per_video: PerVideo = 236,
    engines: Annotated[
        str, Parameter(help="Those to measure, by number: 1 and 2 processes, local:1 and local:2.")
    ] = "1,2,3,4",
) -> None:
    """Generate, take apart, answer and score a synthetic world with one and two processes and Dask workers."""
    rows, costs = list[dict[str, Any]](), list[dict[str, Any]]()
    with made_run("facts", videos, seed) as run:
        for number in map(int, engines.split(",")):
            engine = ENGINES[number - 1]
            with ExitStack() as stack:
                found = started(engine, stack, rows) if engine.cluster else None
                for stage, work in stages(run, per_video, engine.workers):
                    rows.append(row(engine, made := measure(stage, videos, work)))
                    if found:
                        costs.append(cost(engine, stage, made, found.connection.costs))
                if found:
                    made = measure(EMPTY, TASKS, empty)
                    costs.append(cost(engine, EMPTY, made, found.connection.costs))
    print_table("Stages", rows)
    print_table("Tasks of the cluster", costs)
    seconds = {(row["engine"], row["workers"], row["stage"]): row["seconds"] for row in rows}
    for line in (*compared(seconds), *in_all(seconds)):
        say(line)
    write_json({"stages": rows, "tasks": costs})


def started(engine: Engine, stack: ExitStack, rows: list[dict[str, Any]]) -> Any:
    """The cluster, and what its start took as a row of its own."""
    found = list[Any]()

    def start() -> int:
        found.append(stack.enter_context(engine.there()))
        return engine.workers

    rows.append(row(engine, measure(START, engine.workers, start)))
    return found[0]


def empty() -> int:
    """Tasks that do nothing: what they take is what any task costs besides."""
    from questree.workers import processes, results

    with processes(1) as pool:
        return len(results({str(number): pool.submit(max, number, 0) for number in range(TASKS)}, EMPTY))


def stages(run: Run, per_video: int, workers: int) -> Iterator[tuple[str, Callable[[], int]]]:
    """In their order; what an earlier engine made is made anew."""
    from bench.runs import select
    from questree.api.score_sets import scored_dags
    from questree.models.bot_runs import answer_run
    from questree.models.bots import BotOptions
    from questree.scoring.compared import Scoring
    from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
    from questree.stages.generate.shards import GenerateOptions, generate

    yield "generate", lambda: sum(tally.kept for tally in generate(run, GenerateOptions(), workers).values())
    select(run, per_video)
    yield "decompose", lambda: decompose(run, DecomposeOptions(balanced=True), workers).questions
    yield "answer", lambda: answer_run(run, BotOptions(MODEL), workers=workers)[1]
    yield "score", lambda: len(scored_dags((), [MODEL], run.folder, how=Scoring("wrong", 0), workers=workers).rows)
    for folder in (run.questions, run.balanced, run.decomposed, run.predictions):
        rmtree(folder)


def row(engine: Engine, made: Measurement) -> dict[str, Any]:
    return {
        "engine": engine.name,
        "workers": engine.workers,
        "stage": made.name,
        "seconds": round(made.seconds, 2),
        "rows": made.rows,
        "CPU s": round(made.cpu_seconds, 2),
        "peak MiB": made.peak_rss_bytes >> 20,
    }


def cost(engine: Engine, stage: str, made: Measurement, tasks: "list[TaskCost]") -> dict[str, Any]:
    """What the tasks of a stage took on the workers, and the rest: sending, waiting, what client and scheduler do (they
    are one process here). The tasks are forgotten."""
    busy = sum(task.seconds for task in tasks)
    count = max(len(tasks), 1)
    found = {
        "engine": engine.name,
        "stage": stage,
        "tasks": len(tasks),
        "seconds per task": round(busy / count, 3),
        "CPU s per task": round(sum(task.cpu_seconds for task in tasks) / count, 3),
        "longest": round(max((task.seconds for task in tasks), default=0), 3),
        "bytes to": sum(task.sent for task in tasks) // count,
        "bytes back": sum(task.received for task in tasks) // count,
        "ms beside work": round(1000 * (made.seconds - busy / engine.workers) / count, 1),
        "CPU ms here": round(1000 * made.cpu_seconds / count, 1),
        "peak MiB of a worker": max((task.peak for task in tasks), default=0) >> 20,
    }
    tasks.clear()
    return found


def compared(seconds: dict[tuple[str, int, str], float]) -> Iterator[str]:
    """Two workers over one; the cluster over processes."""
    for stage in dict.fromkeys(stage for *_, stage in seconds):
        for one, two in (("processes", "processes"), ("local:1", "local:2")):
            if {(one, 1, stage), (two, 2, stage)} <= seconds.keys():
                times = seconds[one, 1, stage] / seconds[two, 2, stage]
                yield f"{stage}: {two} with two workers is {times:.2f} times as fast as with one"
        if {("processes", 2, stage), ("local:2", 2, stage)} <= seconds.keys():
            share = seconds["local:2", 2, stage] / seconds["processes", 2, stage] - 1
            yield f"{stage}: local:2 takes {share:+.1%} of the time of two processes"


def in_all(seconds: dict[tuple[str, int, str], float]) -> Iterator[str]:
    """All stages one after the other on one cluster, its start with them."""
    took = {engine.name: 0.0 for engine in ENGINES if engine.workers == 2}
    for (name, workers, _), stage in seconds.items():
        if workers == 2:
            took[name] += stage
    if all(took.values()):
        share = took["local:2"] / took["processes"] - 1
        yield f"all stages and the start of the cluster: local:2 takes {share:+.1%} of the time of two processes"
