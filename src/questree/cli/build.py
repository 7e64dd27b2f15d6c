"""`questree build`: every stage from raw files to a decomposed, balanced, split benchmark, with defaults."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.catalogue import settings_of, source_of
from questree.cli.clusters import clustered
from questree.cli.ingest import Settings
from questree.cli.shared_options import (
    ClosedWorldOption,
    MostPerVideoOption,
    PhrasesOption,
    ShardOption,
    WithoutOption,
    WorkersOption,
)
from questree.cli.terminal import is_quiet, output, say, tell, watching, write_json


@output
@clustered
def build(
    folder: Annotated[Path, Parameter(help="Folder with the raw files (json, images: a file or a folder of them).")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Run folder to write.")],
    source: Annotated[
        str | None, Parameter(help="Kind of raw files, as in `ingest`. [default: told by their names]")
    ] = None,
    vocabulary: Annotated[Path | None, Parameter(help="Videos: vocabulary file. [default: AGQA's words]")] = None,
    fps: Annotated[float | None, Parameter(help="Videos: frames per second, as in `ingest`.")] = None,
    set: Settings = None,
    questions: Annotated[
        int | None, Parameter(help="Image sets: largest number of questions, as in `generate`.")
    ] = None,
    without: WithoutOption = (),
    closed_world: ClosedWorldOption = False,
    text: Annotated[
        bool | None, Parameter(help="Videos: write every question's text, or not. [default: --text]")
    ] = None,
    shard: ShardOption = None,
    phrases: PhrasesOption = None,
    most_per_video: MostPerVideoOption = None,
    as_released: Annotated[
        bool,
        Parameter(negative="", help="Videos: do as AGQA's release does in `augment`, `generate`, `balance`, `split`."),
    ] = False,
    tables: Annotated[bool, Parameter(negative="", help="Print what each stage's own command prints.")] = False,
    workers: WorkersOption = 2,
) -> None:
    """Raw files of videos or images into a benchmark, every stage with its defaults.

    Videos: ingest, augment, generate, balance, split, decompose. Images: the same without augment.
    """
    from questree.api.building import building

    given = dict(locals())
    kind, own = source_of(source, folder)
    plan = building(folder, out, kind, 1, workers, given | {"settings": settings_of(own, set or ()) or None})
    silent, seconds, made = is_quiet() or not tables, dict[str, float](), dict[str, int]()
    with watching() if silent else nullcontext():  # stages that speak show their own progress
        for number, name in enumerate(plan.steps, 1):
            place = f"{number}/{len(plan.steps)} {name}"
            if not silent:
                say(f"\n{place}")
            with nullcontext() if silent else watching():
                done = plan.do(name)
            tell(() if silent else done.made.said)
            seconds[name] = done.seconds
            if done.count is not None:
                made[name] = done.count
            said = "" if done.count is None else f"{done.count:,} {done.counted}, "
            say(f"{place}: {said}{done.seconds:.1f} s")
            if done.count == 0:
                say(f"    nothing is left here; `questree {name} {out}` says why")
            for line in done.made.remarks if silent else ():
                say(f"    {line}")
    say(f"wrote {out}")
    write_json({"out": str(out), "source": kind, "made": made, "seconds": seconds})
