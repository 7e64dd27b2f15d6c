"""Models scored on AGQA's questions of a run, each alone, shard by shard."""

from collections.abc import Sequence

from questree.metrics.answers import AnswerCounts, agqa_cells
from questree.models.predictions import FieldNames
from questree.scoring.agqa_questions import by_splits, most_steps, nothing_asked, shard_names
from questree.scoring.compared import Given, Scoring, for_run
from questree.scoring.question_counts import QuestionTask, question_answers, score_questions
from questree.scoring.run_shards import ShardsTogether, ShardWork, counted, given_files, stored_in, with_answers
from questree.stages.balance.rounds import has_selection
from questree.stages.decompose.hierarchies import FEW
from questree.stages.questions import Bank
from questree.tables.predictions import samples
from questree.tables.run import Run
from questree.workers import shared_out

QUESTIONS = ShardWork(question_answers, score_questions, with_answers)


def questions_together(
    run: Run,
    models: Sequence[str],
    split: str,
    every: bool,
    how: Scoring,
    workers: int,
    files: Sequence[Given] = (),
    as_released: bool = False,
) -> ShardsTogether:
    """The counts of all shards with the balanced questions of a split, or with all of them."""
    stored_in(run, models)
    bank, own = Bank(run), for_run(run, how)
    names, workers = shard_names(bank), workers if bank.bytes() > FEW else 1
    with (
        given_files(run.predictions, files, FieldNames(how.id_column, how.answer_column)) as given,
        shared_out(workers, len(names)) as pool,
    ):
        task = QuestionTask(
            *(run.folder, split, own, tuple(models), given, samples(run)),
            chosen=not every and has_selection(run),
            most_steps=most_steps(bank),
            by_splits=by_splits(run, as_released),
        )
        task, found = counted(QUESTIONS, task, names, pool, unknown=True)
    if not found:
        raise nothing_asked(run, split)
    return ShardsTogether(task, found, agqa_cells)


def answer_counts(found: ShardsTogether) -> AnswerCounts:
    return AnswerCounts.together([shard.listing for shard in found.shards])
