"""`make bench NAME=files`: whole commands on released files, their start included, beside the released programs."""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from bench.measured import Measurement, measure
from bench.runs import aside
from questree.cli.shared_options import Whole
from questree.cli.terminal import output, print_table, watching, write_json
from questree.faults import BadInput

# microseconds of processor time a node, a question, a program: the released programs, on one core
RELEASED = {"score decomp": 52.0, "score fpvg": 800.0, "covr execute": 45.0}
ONE_CORE = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
STARTS = (["--help"], ["score", "decomp", "--help"], ["show", "--help"], ["verify", "--help"], ["generate", "--help"])
SMALL = (
    ["synth", "--videos", "3", "--out", "world"],
    ["build", "world", "--out", "run"],
    ["answer", "run", "--model", "oracle"],
)
ON_SMALL = (
    ["verify", "run"],
    ["show", "run"],
    ["score", "decomp", "run"],
    ["generate", "run"],
)  # the last makes it anew
PER_VIDEO = 250  # DAGs, as in AGQA-Decomp
MANY = 5  # images of a corpus per thousand programs


@output
def files(
    *,
    nodes: Annotated[Whole, Parameter(help="Number of nodes of hierarchies, about.")] = 1_000_000,
    questions: Annotated[Whole, Parameter(help="Number of questions with detections.")] = 132_000,  # as in the paper
    programs: Annotated[Whole, Parameter(help="Number of image programs, of very many shapes.")] = 200_000,
    seed: Annotated[Whole, Parameter(help="Seed of the made-up files.")] = 1,
) -> None:
    """Score hierarchies read anew and kept ones, score grounding, run image programs, start commands; on one core."""
    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        folder = Path(place)
        found = decomp(folder, nodes, seed) + fpvg(folder, questions, seed) + covr(folder, programs, seed)
        found += [_measured(f"start of {' '.join(words[:-1]) or 'questree'}", folder, words, 1) for words in STARTS]
        for words in SMALL:
            _run(folder, words, 1)()
        found += [_measured(f"{' '.join(words[:-1])}, 3 videos", folder, words, 1) for words in ON_SMALL]
    print_table("Whole commands on files, one core", [_line(each) for each in found])
    write_json(found)


def decomp(folder: Path, nodes: int, seed: int) -> list[Measurement]:
    """The first time, and from the cache."""
    count = aside(made_hierarchies, folder / "decomp", nodes, seed)
    words = ["score", "decomp", "--hierarchies", "decomp/dags", "--predictions", "decomp/model.json"]
    return [
        _measured("score decomp, no cache", folder, [*words, "--no-cache"], count),
        measure("score decomp, first", count, _run(folder, words, count)),
        measure("score decomp, again", count, _run(folder, words, count)),
    ]


def made_hierarchies(folder: Path, nodes: int, seed: int) -> int:
    """Write hierarchies and predictions; the number of nodes."""
    from bench.made_up_hierarchies import made_up_hierarchies, made_up_predictions, write_hierarchies
    from questree.tables.store import new_file

    dags = max(1, round(nodes / 11.05))
    made = made_up_hierarchies(dags, max(1, dags // PER_VIDEO), seed)
    said = made_up_predictions(made, seed)[made.nodes["key"].unique()]
    count = write_hierarchies(made, folder / "dags")
    with new_file(folder / "model.json") as work:
        said.rename({"id": "csv_q_id"}).write_json(work)
    return count


def fpvg(folder: Path, questions: int, seed: int) -> list[Measurement]:
    from bench.grounded_files import write_grounded

    paths = aside(write_grounded, folder, questions, seed)
    words = [word for name, path in paths.items() for word in (f"--{name.replace('_', '-')}", str(path))]
    return [_measured("score fpvg", folder, ["score", "fpvg", *words], questions)]


def covr(folder: Path, programs: int, seed: int) -> list[Measurement]:
    """Programs of many shapes; and the start of the command, with one."""
    aside(made_programs, folder, programs, seed)
    words = ["covr", "execute", "--scenes", "scenes.json", "--programs"]
    return [
        _measured("covr execute", folder, [*words, "programs.json"], programs),
        _measured("covr execute, one program", folder, [*words, "one.json"], 1),
    ]


def made_programs(folder: Path, programs: int, seed: int) -> None:
    """Write scenes, programs and one of them."""
    from bench.image_programs import random_programs

    draw, names = random.Random(seed), [f"thing {n}" for n in range(60)]
    attributes, links = [f"kind {n}" for n in range(20)], [f"link {n}" for n in range(20)]

    def thing(things: int) -> dict[str, Any]:
        related = [{"object": str(draw.randrange(things)), "name": draw.choice(links)} for _ in range(2)]
        told = {"name": draw.choice(names), "attributes": draw.sample(attributes, 2), "relations": related}
        return told | dict.fromkeys(("x", "y", "w", "h"), 1)

    images = [f"{n}" for n in range(max(10, programs * MANY // 1000))]
    graphs = {name: {"objects": {str(at): thing(16) for at in range(16)}} for name in images}
    made = random_programs(programs, images, names, attributes, links, seed)
    (folder / "scenes.json").write_bytes(msgspec.json.encode({"gqa": graphs, "imsitu": {}, "attribute_groups": {}}))
    (folder / "programs.json").write_bytes(msgspec.json.encode(made))
    (folder / "one.json").write_bytes(msgspec.json.encode(made[:1]))


def _measured(name: str, folder: Path, words: Sequence[str], rows: int) -> Measurement:
    """The second time, when everything is compiled."""
    _run(folder, words, rows)()
    return measure(name, rows, _run(folder, words, rows))


def _run(folder: Path, words: Sequence[str], rows: int) -> Callable[[], int]:
    """A command in a process of its own, on one core and with a cache of its own."""

    def work() -> int:
        core = {min(os.sched_getaffinity(0))} if hasattr(os, "sched_setaffinity") else set[int]()
        done = subprocess.run(
            [sys.executable, "-m", "questree", *words],
            cwd=folder,
            env=_as_installed() | ONE_CORE | {"XDG_CACHE_HOME": str(folder / "cache")},
            capture_output=True,
            text=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, core)) if core else None,
        )
        if done.returncode:
            raise BadInput.at("questree " + " ".join(words[:2]), done.stderr.strip())
        return rows

    return work


def _as_installed() -> dict[str, str]:
    """Our environment, in which Python keeps what it compiles: an installed package is compiled."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _line(found: Measurement) -> dict[str, Any]:
    released = RELEASED.get(found.name.partition(",")[0]) if found.rows > 1 else None
    each = 1e6 * found.cpu_seconds / max(found.rows, 1)
    return {
        "command": found.name,
        "rows": found.rows,
        "CPU s": round(found.cpu_seconds, 2),
        "us a row": round(each, 2) if found.rows > 1 else None,
        "times the released": round(released / each, 1) if released else None,
        "peak MiB": round(found.peak_rss_bytes / 2**20),
    }
