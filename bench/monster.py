"""`make bench NAME=monster`: videos with very many questions, stage by stage: how memory grows with them."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from questree.cli.shared_options import Whole
from questree.cli.terminal import output, print_table, watching, write_json
from questree.faults import BadInput
from questree.tables.questions import BALANCED, QUESTIONS
from questree.tables.table import rows_in

STAGES = (
    "ingest json monster.json --out run",
    "augment run --workers 1",
    "generate run --workers 1",
    "balance run --workers 1",
    "audit run --workers 1",
    "export agqa run --out agqa --workers 1",
    "split run --all --workers 1",
    "split run --workers 1",
    "decompose run --workers 1",
    "answer run --model perception-noise --workers 1",
    "score run --model perception-noise --workers 1",
)
LONGEST = 20  # a relation holds for up to such a part of the video
UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in which the system tells memory


@dataclass(frozen=True)
class MeasuredStage:
    name: str
    cpu_seconds: float
    peak_rss_bytes: int


@output
def monster(
    *,
    frames: Annotated[Whole, Parameter(help="Number of frames of the video.")] = 1000,
    actions: Annotated[
        tuple[int, ...], Parameter(help="Numbers of actions: one video after the other.", consume_multiple=True)
    ] = (15, 30, 60),
    objects: Annotated[Whole, Parameter(help="Number of objects.")] = 30,
    stretches: Annotated[Whole, Parameter(help="Number of stretches of frames in which a relation holds.")] = 1000,
    most_per_video: Annotated[
        Whole | None, Parameter(help="Largest number of questions. [default: that of `generate`]")
    ] = None,
    seed: Annotated[Whole, Parameter(help="Seed of the video.")] = 1,
) -> None:
    """Make a benchmark of one dense video, each stage in a process of its own: its peak memory and processor time."""
    found = []
    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        for count in actions:
            folder = Path(place) / str(count)
            folder.mkdir()
            video = dense(frames, count, objects, stretches, random.Random(seed))
            (folder / "monster.json").write_bytes(msgspec.json.encode({"videos": [video]}))
            stages = [measured(folder, words) for words in lines(most_per_video)]
            found.append({"actions": count, **sizes(folder), "stages": stages})
    for title, shown in (("Peak memory, MiB", _mebibytes), ("Processor time, s", _seconds)):
        print_table(title, [_line(row, shown) for row in found])
    write_json(found)


def lines(most_per_video: int | None) -> Iterator[list[str]]:
    for line in STAGES:
        more = ["--most-per-video", str(most_per_video)] if most_per_video and line.startswith("generate") else []
        yield [*line.split(), *more, "--quiet"]


def measured(folder: Path, words: list[str]) -> MeasuredStage:
    """A command, whole; what it says goes to the terminal if it fails."""
    child = subprocess.Popen([sys.executable, "-m", "questree", *words], cwd=folder)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise BadInput.at(f"questree {' '.join(words)}", f"ended with {child.returncode}")
    return MeasuredStage(called(words), used.ru_utime + used.ru_stime, used.ru_maxrss * UNIT)


def called(words: list[str]) -> str:
    """`split --all` is measured beside `split`, and there are several exports."""
    return " ".join(word for word in words[:3] if word in (words[0], "--all", "agqa"))


def sizes(folder: Path) -> dict[str, int]:
    run = folder / "run"
    questions = sum(rows_in(path) for path in (run / "questions").glob(f"*/{QUESTIONS.name}.parquet"))
    return {"questions": questions, BALANCED.name: sum(map(rows_in, (run / "balanced").glob("*.parquet")))}


def dense(frames: int, actions: int, objects: int, stretches: int, draw: random.Random) -> dict[str, Any]:
    """A record of somebody's own: relations hold in stretches, actions of many classes follow one another."""
    from questree.vocabulary.load import default

    words = default()
    things = [each.id for each in words.objects if not each.part_only and each.id != "person"]
    things = draw.sample(things, min(objects, len(things)))
    relations = [each.id for each in words.relations if each.group in ("contact", "spatial")]
    seen: list[dict[str, set[str]]] = [{} for _ in range(frames)]
    for _ in range(stretches):
        thing, relation, begin = draw.choice(things), draw.choice(relations), draw.randrange(frames)
        for frame in seen[begin : begin + 1 + draw.randrange(max(1, frames // LONGEST))]:
            frame.setdefault(thing, set()).add(relation)
    known = [each.id for each in words.actions if not each.merged and each.id != words.other_action]
    pool = draw.sample(known, min(actions, len(known)))
    begins = [draw.random() * 0.98 * frames for _ in range(actions)]
    return {
        "id": "monster",
        "split": "train",
        "frames": [
            {
                "number": at,
                "seconds": float(at),
                "objects": [{"class": thing, "relations": sorted(own)} for thing, own in sorted(each.items())],
            }
            for at, each in enumerate(seen)
        ],
        "actions": [
            {
                "class": pool[at % len(pool)],
                "start": round(begin, 2),
                "end": round(min(frames - 1, begin + 1 + draw.random() * frames / 100), 2),
            }
            for at, begin in enumerate(begins)
        ],
    }


def _line(row: dict[str, Any], shown: Any) -> dict[str, Any]:
    told = {name: f"{row[name]:,}" for name in ("actions", "questions", BALANCED.name)}
    return told | {stage.name: shown(stage) for stage in row["stages"]}


def _mebibytes(stage: MeasuredStage) -> str:
    return f"{stage.peak_rss_bytes / 2**20:,.0f}"


def _seconds(stage: MeasuredStage) -> str:
    return f"{stage.cpu_seconds:,.1f}"
