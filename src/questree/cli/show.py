"""`questree show`: one video or one question of a run, to look at."""

import shutil
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.api.shown import shown
from questree.cli.shared_options import BenchmarkOption
from questree.cli.terminal import output, say, write_json


@output
def show(
    run: Path,
    id: str = "",
    /,
    *,
    benchmark: BenchmarkOption = "",
    stage: Annotated[
        Literal["raw", "facts", "truth", "newest"] | None, Parameter(help="Videos: stage of the facts. [newest]")
    ] = None,
    dag: Annotated[bool, Parameter(negative="", help="Show a question's DAG of sub-questions, with answers.")] = False,
    svg: Annotated[Path | None, Parameter(help="Draw the DAG into this file.")] = None,
) -> None:
    """Show one video of a run on a timeline, one image, or one question with its program, answer and evidence.

    Parameters
    ----------
    run
        Run folder.
    id
        Id of a video, of an image, or of a question (VIDEO-NUMBER, or of an image set); the first one without it.
    """
    width = shutil.get_terminal_size((120, 40)).columns
    lines, record = shown(run, id, benchmark=benchmark, stage=stage, dag=dag, svg=svg, width=width)
    for text in lines:
        say(text)
    write_json(record)
