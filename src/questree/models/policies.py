"""Named ways to read a free-form answer: exact, vqa, lenient; which one was used stands in every output."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from questree.vocabulary.words import Vocabulary

Policy = Literal["exact", "vqa", "lenient"]
POLICIES: tuple[Policy, ...] = ("exact", "vqa", "lenient")

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = re.compile(r"[^\w\s'/-]|_")
NUMBERS = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
}
ANSWER_IS = re.compile(r".*\b(?:answer|prediction)\s*(?:is|:)\s*:?\s*(.+)$", re.IGNORECASE | re.DOTALL)
LETTER = re.compile(r"^\(?([a-h])(?:\)|[.:])\s*(.*)$|^([A-H])$", re.DOTALL | re.IGNORECASE)
LEADING = re.compile(r"^(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True)
class ReadPredictions:
    """Predictions as words of the benchmark where they could be read as one."""

    policy: Policy
    table: pl.DataFrame  # as given, with the predictions replaced
    unparsed: int  # predictions that are no answer of the benchmark in this reading


def read_answers(
    table: pl.DataFrame, answers: Iterable[str], policy: Policy, vocabulary: Vocabulary | None = None
) -> ReadPredictions:
    """Map every prediction to the answer it means; one that means none keeps its (normalised) text and is wrong."""
    known = list(dict.fromkeys(answers))
    if policy == "exact":
        unparsed = table.filter(~pl.col("prediction").is_in(known)).height
        return ReadPredictions(policy, table, unparsed)
    spellings = _spellings(known, vocabulary if policy == "lenient" else None)
    read = (lambda text, options: _lenient(text, options, spellings)) if policy == "lenient" else None
    has_options = policy == "lenient" and "options" in table.columns and table["options"].null_count() < len(table)
    keys = ["prediction", "options"] if has_options else ["prediction"]
    distinct = table.select(keys).unique(maintain_order=True)
    texts = distinct["prediction"].to_list()
    options = distinct["options"].to_list() if has_options else [None] * len(texts)
    meant = [read(t, o) if read else _plain(t, spellings) for t, o in zip(texts, options, strict=True)]
    mapped = distinct.with_columns(pl.Series("meant", meant, pl.String))
    joined = table.select("id", *keys).join(mapped, on=keys, how="left", nulls_equal=True, maintain_order="left")
    result = table.with_columns(joined["meant"].alias("prediction"))
    return ReadPredictions(policy, result, result.filter(~pl.col("prediction").is_in(known)).height)


def normal(text: str) -> str:
    """As the VQA evaluation compares answers: lower case, no punctuation or articles, number words as digits."""
    words = ARTICLES.sub(" ", PUNCTUATION.sub(" ", text.lower())).split()
    return " ".join(NUMBERS.get(word, word) for word in words)


def _spellings(answers: Iterable[str], vocabulary: Vocabulary | None) -> dict[str, str]:
    """Normal form -> answer; the answers themselves before synonyms."""
    found: dict[str, str] = {}
    known = list(answers)
    for answer in known:
        found.setdefault(normal(answer), answer)
    if vocabulary is not None:
        for answer, others in synonyms(vocabulary).items():
            if answer in known:
                for other in others:
                    found.setdefault(normal(other), answer)
    return found


def synonyms(vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Answer -> other ways to say it: labels of the word, words counted as it, its other tenses, its noun phrase."""
    found: dict[str, list[str]] = {}
    for at, thing in enumerate(vocabulary.objects):
        name = vocabulary.objects[vocabulary.merged_object[at]].name
        parts = [part for label in thing.labels for part in label.split("/")]
        found.setdefault(name, []).extend([thing.name, f"{thing.article} {thing.name}".strip(), *thing.labels, *parts])
    for at, action in enumerate(vocabulary.actions):
        phrase = vocabulary.actions[vocabulary.merged_action[at]].phrase
        found.setdefault(phrase, []).extend([action.phrase, action.present, action.past, *action.labels])
    return found


def _plain(text: str, spellings: Mapping[str, str]) -> str:
    return spellings.get(normal(text), normal(text))


def _lenient(text: str, options: list[str] | None, spellings: Mapping[str, str]) -> str:
    """The first reading that is an answer: as it stands, after "the answer is", an option, a leading yes or no."""
    tries: list[Callable[[str], str | None]] = [lambda t: t, lambda t: _option(t, options), _leading_yes_no]
    for candidate in dict.fromkeys([text.strip(), _after_answer_is(text)]):
        for attempt in tries:
            read = attempt(candidate)
            if read is not None and normal(read) in spellings:
                return spellings[normal(read)]
    return normal(text)


def _after_answer_is(text: str) -> str:
    found = ANSWER_IS.match(text)
    return (found[1] if found else text).strip()


def _option(text: str, options: list[str] | None) -> str | None:
    """ "(B) cup" -> "cup"; "B" -> the second option, if the options are known."""
    found = LETTER.match(text)
    if found is None:
        return None
    letter, rest = (found[1] or found[3]).lower(), (found[2] or "").strip()
    if rest:
        return rest
    place = ord(letter) - ord("a")
    return options[place] if options and place < len(options) else None


def _leading_yes_no(text: str) -> str | None:
    found = LEADING.match(text)
    return found[1].lower() if found else None
