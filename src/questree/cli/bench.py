"""`questree bench`: measures a stage on the synthetic world; one line, and the numbers as JSON."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from questree.bench import Measurement, measure
from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.synth.noise import Rates
from questree.tables.run import Run
from questree.tables.store import new_folder

Videos = Annotated[int, Parameter(name="--videos", help="How many videos.")]
Seed = Annotated[int, Parameter(name="--seed", help="Another seed, another world.")]
Workers = Annotated[int | None, Parameter(name="--workers", help="Processes to use; all processors without it.")]


def synth(
    *, videos: Videos = 200, seed: Seed = 1, workers: Workers = None, quiet: Quiet = False, json: Json = None
) -> None:
    """Write a synthetic world; rows are object annotations, the truth's not counted."""
    from questree.synth.world import write_world

    with watching(quiet), _folder() as folder:
        result = measure("synth", videos, lambda: int(write_world(folder, videos, seed, Rates(), workers)["entries"]))
    _tell(result, quiet, json)


def augment(
    *, videos: Videos = 200, seed: Seed = 1, workers: Workers = None, quiet: Quiet = False, json: Json = None
) -> None:
    """Clean the facts of a synthetic world, made and read before the clock starts; rows are relation facts."""
    from questree.sources.action_genome import read_action_genome
    from questree.stages.augment import augment as clean
    from questree.synth.world import write_world
    from questree.vocabulary import default

    with watching(quiet), _folder() as folder:
        write_world(folder, videos, seed, Rates(), workers)
        raw = read_action_genome(folder, default(), None).facts
        result = measure("augment", videos, lambda: len(clean(raw, default())[0].relations))
    _tell(result, quiet, json)


def generate(
    *,
    videos: Videos = 200,
    seed: Seed = 1,
    text: Annotated[bool, Parameter(help="With the questions' text.")] = False,
    workers: int = 2,
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Generate the questions of a synthetic world, made and cleaned before the clock starts; rows are questions."""
    from questree.benchmarks.agqa.published import TABLE_14
    from questree.stages.generate.work import Options
    from questree.stages.generate.work import generate as work

    with watching(quiet), _folder() as folder:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as aside:  # its memory is not what is measured
            run = aside.submit(_cleaned, folder, videos, seed).result()
        counts = dict[str, int]()

        def generated() -> int:
            counts.update({name: tally.kept for name, tally in work(run, Options(text=text), workers).items()})
            return sum(counts.values())

        result = measure("generate with text" if text else "generate", videos, generated)
        size = sum(path.stat().st_size for path in run.questions.rglob("*.parquet"))
    _tell(result, quiet, json)
    rows = [{"template": name, "questions": n, "paper, thousands": TABLE_14[name]} for name, n in counts.items()]
    print_table("Questions per template, beside Table 14 of the AGQA paper (edition 1.0, real videos)", rows, quiet)
    say(f"{size / max(result.rows, 1):.2f} bytes per question", quiet)


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


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="questree-bench-") as place:
        yield Path(place) / "world"


def _tell(result: Measurement, quiet: bool, json: Path | None) -> None:
    say(str(result), quiet)
    write_json(json, result)
