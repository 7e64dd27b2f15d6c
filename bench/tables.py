"""`make bench NAME=questions`: how fast questions are read as a table in words."""

from functools import partial
from typing import Annotated

from cyclopts import Parameter

from bench.measured import measure
from bench.runs import made_run
from questree.cli.terminal import output, say, write_json


@output
def questions(
    *,
    videos: Annotated[int, Parameter(help="Number of videos.")] = 1200,
    seed: Annotated[int, Parameter(help="Seed of the world.")] = 1,
    per_video: Annotated[int, Parameter(help="Number of questions per video that are selected.")] = 3000,
    every: Annotated[bool, Parameter(negative="", help="Also go through all questions, in pieces.")] = False,
) -> None:
    """The selected questions of a synthetic run, made before the clock starts, with texts and programs."""
    import questree

    with made_run("selected", videos, seed, per_video) as place:
        run = questree.open(place.folder)
        results = [
            measure("run.questions()", videos, lambda: len(run.questions())),
            measure("without programs", videos, lambda: len(run.questions(columns=["id", "question", "answer"]))),
        ]
        if every:
            pieces = partial(run.iter_questions, balanced=False)
            results.append(measure("run.iter_questions(balanced=False)", videos, lambda: sum(map(len, pieces()))))
    for result in results:
        say(str(result))
    write_json(results)
