"""What models said in free text -> answers, or why it is none: a file at a time."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from questree.api.vocabularies import read_vocabulary
from questree.places import path_of
from questree.said.files import ReadFile, read_all, read_raw, write_read
from questree.said.lexicon import possible_answers, read_synonyms, shipped
from questree.said.reading import Reader
from questree.said.second import Agreement, Endpoint, second_readings, summary

if TYPE_CHECKING:
    from questree.api.runs import StrPath


class SecondReader(NamedTuple):
    """A model that is asked about what stays unread, and about some of the rest to compare."""

    endpoint: str  # with OpenAI's chat completions: http://HOST/v1
    model: str
    sample: int = 200


class ReadAgain(NamedTuple):
    """What a second reader came to."""

    told: dict[str, Any]
    agreement: Agreement
    unread: int  # by rules
    store: Path  # what it said


class ReadTexts(NamedTuple):
    texts: ReadFile
    again: ReadAgain | None


def read_answers(
    file: "StrPath",
    *,
    out: "StrPath",
    vocabulary: "StrPath | None" = None,
    synonyms: "StrPath | None" = None,
    second: SecondReader | None = None,
) -> ReadTexts:
    """Read every raw text of a file as the answer it states, or say why it states none, as `questree read` does.

    Parameters
    ----------
    file
        JSON Lines with id, question, raw; perhaps options and answer_type.
    out
        JSON Lines to write: id, answer or null, reason, rule.
    vocabulary
        Vocabulary file. AGQA's words if left out.
    synonyms
        TOML file of further ways to say answers.
    second
        Who is asked about what stays unread.
    """
    words, place = read_vocabulary(vocabulary), path_of(out)
    known = shipped() if synonyms is None else read_synonyms(path_of(synonyms))
    reader = Reader(possible_answers(words), words, known)
    found, again = read_all(reader, read_raw(path_of(file))), None
    if second:
        store = place.with_suffix(".second.jsonl")
        endpoint = Endpoint(second.endpoint, second.model)
        more, agreement = second_readings(reader, found.asked, found.found, endpoint, store, second.sample)
        told = dict(summary(agreement, found.found, more))
        again = ReadAgain(told, agreement, sum(found.reasons.values()), store)
        found = ReadFile(found.asked, more)
    write_read(place, found)
    return ReadTexts(found, again)
