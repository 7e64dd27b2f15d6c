"""`questree bench answer`: a bot answers a run, and its answers are scored, step by step."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.bench import Measurement, measure
from questree.cli.bench import Seed, Videos, _aside, _folder, _selected
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, say, watching, write_json
from questree.tables.run import Run


@output
def answer(
    *,
    videos: Videos = 200,
    seed: Seed = 1,
    per_video: Annotated[int, Parameter(help="Number of questions per video; AGQA's balanced set has 236.")] = 236,
    model: Annotated[str, Parameter(help="Bot to run.")] = "perception-noise",
    files: Annotated[bool, Parameter(negative="", help="Also read the exported JSON hierarchies of the run.")] = False,
    workers: WorkersOption = 2,
) -> None:
    """A bot answers a synthetic run made before the clock starts, its DAGs are read, it is scored; rows are nodes."""
    from questree.formats.decomp_files import read_hierarchies
    from questree.metrics.dags import score_decomp
    from questree.models.bots import BotOptions, answer_run
    from questree.models.stored import said
    from questree.stages.decompose.hierarchies import RunHierarchies, run_hierarchies
    from questree.tables.predictions import Stored

    found, results = list[RunHierarchies](), list[Measurement]()

    def read() -> int:
        found.append(run_hierarchies(run, None, workers))
        return len(found[0].hierarchies.nodes)

    def score() -> int:
        model_said = said(found[0], Stored.of(run, model))
        score_decomp(found[0].hierarchies, model_said).rows(model)
        return len(found[0].hierarchies.nodes)

    with watching(), _folder() as folder:
        run = _aside(_apart, folder, videos, seed, per_video, workers)
        results.append(measure(f"answer by {model}", videos, lambda: answer_run(run, BotOptions(model))))
        results.append(measure("DAGs of the run", videos, read))
        results.append(measure("score", videos, score))
        found.clear()
        if files:
            out = _aside(_exported, run.folder, folder.parent / "out", workers).folder
            places = sorted(path for path in out.glob("*_hierarchies"))
            results.append(
                measure("DAGs of files", videos, lambda: sum(len(read_hierarchies(at, workers).nodes) for at in places))
            )
    for result in results:
        say(str(result))
    write_json([asdict(result) for result in results])


def _apart(folder: Path, videos: int, seed: int, per_video: int, workers: int) -> Run:
    """A run of questions taken apart."""
    from questree.stages.decompose.dag_shards import DecomposeOptions, decompose

    run = _selected(folder, videos, seed, per_video)
    decompose(run, DecomposeOptions(balanced=True), workers)
    return run


def _exported(folder: Path, out: Path, workers: int) -> Run:
    from questree.formats.decomp import export_decomp

    export_decomp(Run(folder), out, workers)
    return Run(out)
