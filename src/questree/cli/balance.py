"""`questree balance`: a selection of a run's questions whose answers cannot be guessed."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.shared_options import BenchmarkOption, SeedOption, WorkersOption, carry_out
from questree.cli.terminal import output
from questree.stages.balance.options import Smoothing

PAPER = Smoothing()
Share = float | None


@output
def balance(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    seed: SeedOption = 1,
    questions: Annotated[
        int | None, Parameter(help="Image sets: N in S = N / T, over all splits. [default: all questions]")
    ] = None,
    shares: Annotated[
        str | None,
        Parameter(
            help="Videos: per cent of each structure. [default: query=50,compare=15,choose=15,verify=15,logic=5]"
        ),
    ] = None,
    tail: Annotated[
        Share, Parameter(help=f"Videos: share of the rarest answers to leave alone. [{PAPER.tail}]")
    ] = None,
    ratio: Annotated[Share, Parameter(help=f"Videos: ratio of head to tail answers at first. [{PAPER.ratio}]")] = None,
    factor: Annotated[
        Share, Parameter(help=f"Videos: factor of the ratio after a failed pass. [{PAPER.factor}]")
    ] = None,
    few: Annotated[int | None, Parameter(help=f"Videos: questions of an answer that end a pass. [{PAPER.few}]")] = None,
    top_answers: Annotated[
        Share, Parameter(help=f"Videos: stop when this share of the answers ... [{PAPER.top_answers}]")
    ] = None,
    top_questions: Annotated[
        Share, Parameter(help=f"Videos: ... has at most this share of the questions. [{PAPER.top_questions}]")
    ] = None,
    least: Annotated[
        Share, Parameter(help=f"Videos: share of a key's questions that must stay. [{PAPER.least}]")
    ] = None,
    workers: WorkersOption = 2,
) -> None:
    """Select questions so that their answers are balanced, each split apart.

    Videos: answers and structures, as AGQA does. Image sets: templates, answers and sizes of references, as COVR does.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate`).
    """
    smoothing = {"tail": tail, "ratio": ratio, "factor": factor, "few": few, "least": least}
    smoothing |= {"top_answers": top_answers, "top_questions": top_questions}
    given = {"seed": seed, "questions": questions, "shares": shares, **smoothing}
    carry_out("balance", run, benchmark, given, workers)
