"""`questree answer`: somebody answers the questions of a run."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.clusters import clustered
from questree.cli.shared_options import BenchmarkOption, WorkersOption
from questree.cli.terminal import output, print_table, tell_made, watching


@output
@clustered
def answer(
    run: Path,
    /,
    *,
    model: Annotated[
        str, Parameter(help="Bot to answer, or with --predictions the name of the model. `--model ?` lists the bots.")
    ] = "",
    predictions: Annotated[
        Path | None, Parameter(help="File of predictions to store, with the ids that `export decomp` writes.")
    ] = None,
    id_column: Annotated[
        str, Parameter(help="Column or field of the question's id in --predictions. [default: id, csv_q_id, ...]")
    ] = "",
    answer_column: Annotated[
        str, Parameter(help="Column or field of what was said in --predictions. [default: prediction]")
    ] = "",
    seed: Annotated[int, Parameter(help="Seed of a bot's mistakes and guesses.")] = 0,
    noise: Annotated[float, Parameter(help="Probability that a noisy bot is mistaken.")] = 0.1,
    name: Annotated[str, Parameter(help="Store the bot's answers under another name.")] = "",
    out: Annotated[
        Path | None, Parameter(help='File for {"id", "prediction"} lines, with ids as in `export decomp`.')
    ] = None,
    facts: Annotated[
        Path | None, Parameter(help="Imported questions: facts to answer from, if the run has none.")
    ] = None,
    released_last: Annotated[
        bool, Parameter(help="Imported questions: read `last` and between as the released generator does.")
    ] = False,
    benchmark: BenchmarkOption = "",
    workers: WorkersOption = 1,
) -> None:
    """Let a bot answer every question and sub-question of a run, or store anybody's predictions in it.

    Without --model, or if the run has imported questions only: answer those again by executing their programs, and
    list where the answers differ.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`), or with
        imported questions (`questree import`).
    """
    from questree.api import answering

    if model == "?":
        print_table("Bots", answering.bots(run, benchmark))
        return
    with watching():
        made = answering.answer(
            run,
            model,
            predictions=predictions,
            id_column=id_column,
            answer_column=answer_column,
            seed=seed,
            noise=noise,
            name=name,
            out=out,
            facts=facts,
            released_last=released_last,
            benchmark=benchmark,
            workers=workers,
        )
    tell_made(made)
