"""A file of predictions looked at before it is scored."""

from pathlib import Path
from typing import TYPE_CHECKING

from questree.api.score_sets import given_files
from questree.faults import BadInput
from questree.models.policies import Policy
from questree.models.predictions import FieldNames, Predictions, read_predictions
from questree.models.predictions import form_of as form_of
from questree.places import path_of
from questree.scoring.checked import CheckedPredictions, check
from questree.scoring.compared import OnePolicy, PredictionReader, compared

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
        reader = compared(dags, asked, place, split, benchmark, how).reader
    except BadInput as bad:
        if asked is None or dags or place or split:
            raise
        reader = of_images(asked, how, bad)
    return given, check(given, reader, policy)


def of_images(questions: Path, how: OnePolicy, bad: BadInput) -> PredictionReader:
    """COVR's questions; whatever is neither is blamed as AGQA's."""
    from questree.scoring import image_sets

    try:
        return image_sets.of_questions(image_sets.of_files(questions, None)[0], None, how).reader
    except BadInput:
        raise bad from None
