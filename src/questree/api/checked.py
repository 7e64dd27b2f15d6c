"""A file of predictions looked at before it is scored."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from questree.api.score_sets import given_files
from questree.faults import BadInput
from questree.models.policies import Policy
from questree.models.predictions import FieldNames, Predictions, read_predictions
from questree.models.predictions import form_of as form_of
from questree.places import path_of
from questree.scoring.answer_kinds import kinds_of_nodes, kinds_of_records
from questree.scoring.checked import CheckedPredictions, check
from questree.scoring.compared import (
    OnePolicy,
    PredictionReader,
    answers_of,
    dag_reader,
    looked_up,
    one_source,
    run_reader,
    silent,
)
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.api.runs import StrPath


def check_predictions(
    file: "StrPath",
    *,
    run: "StrPath | None" = None,
    hierarchies: "StrPath | None" = None,
    questions: "StrPath | None" = None,
    split: str | None = None,
    benchmark: str = "",
    policy: Policy = "lenient",
    vocabulary: "StrPath | None" = None,
    synonyms: "StrPath | None" = None,
    id_column: str = "",
    answer_column: str = "",
) -> tuple[Predictions, CheckedPredictions]:
    """Whom a file of predictions answers, what can be read in it, and what is odd; as `questree predictions check`.

    >>> from questree.api.checked import check_predictions
    >>> given, found = check_predictions("predictions.jsonl", run="run")
    >>> found.predictions, found.exact, found.unparsed
    (1441, 1441, 0)
    """
    words, more = (None if path is None else path_of(path) for path in (vocabulary, synonyms))
    how = OnePolicy(
        "skip", policy=policy, vocabulary=words, synonyms=more, id_column=id_column, answer_column=answer_column
    )
    (there,) = given_files([path_of(file)])
    given = read_predictions(there, names=FieldNames(id_column, answer_column))
    dags, asked, place = (None if path is None else path_of(path) for path in (hierarchies, questions, run))
    try:
        reader = reader_for(dags, asked, place, split, benchmark, how)
    except BadInput as bad:
        if asked is None or dags or place or split:
            raise
        reader = of_images(asked, how, bad)
    return given, check(given, reader, policy)


def reader_for(
    hierarchies: Path | None,
    questions: Path | None,
    run: Path | None,
    split: str | None,
    benchmark: str,
    how: OnePolicy,
) -> PredictionReader:
    """Who reads predictions for the one source that is named."""
    from questree.formats.agqa_import import read_questions
    from questree.scoring.released_dags import released_dags, released_texts

    one_source(hierarchies, questions, run, split)
    if run is not None:
        return run_reader(Run.at(run), split, benchmark, how)[1]
    if hierarchies is not None:
        dags = released_dags(hierarchies)
        texts, kinds = released_texts(hierarchies), partial(kinds_of_nodes, dags)
        return dag_reader(dags, answers_of(dags), how, texts, kinds)
    assert questions is not None
    records = read_questions(questions)
    kinds = partial(kinds_of_records, records.table)
    return PredictionReader.of(records.table, how, silent, looked_up(records.texts), kinds)


def of_images(questions: Path, how: OnePolicy, bad: BadInput) -> PredictionReader:
    """COVR's questions; whatever is neither is blamed as AGQA's."""
    from questree.scoring import image_sets
    from questree.sources.covr import read_records

    try:
        asked = image_sets.of_records(read_records(questions))
        return PredictionReader.of(asked, how, silent, image_sets.texts_of(asked))
    except BadInput:
        raise bad from None
