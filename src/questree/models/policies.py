"""Ways to read free-form predictions: as they are, as the VQA evaluation compares them, or for what they say."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from questree.models.predictions import OPTIONS, PREDICTION, TRUTHS, truths_read
from questree.said.lexicon import normal
from questree.said.reading import ReadAnswer, Reader
from questree.said.settled import SHORT, settled
from questree.vocabulary.words import Vocabulary

Policy = Literal["exact", "vqa", "lenient"]
POLICIES: tuple[Policy, ...] = ("exact", "vqa", "lenient")
QuestionTexts = Callable[[pl.Series], pl.Series]  # ids of questions -> their texts, null where there is none
KIND = "kind"  # column of the kind of question, where more is known than its text tells
RAW, QUESTION, ANSWER, REASON = "raw", "question", "answer", "reason"
READ = {ANSWER: pl.String, REASON: pl.String, "rule": pl.String}


@dataclass(frozen=True)
class ReadPredictions:
    """Predictions as words of the benchmark where they could be read as one."""

    policy: Policy
    table: pl.DataFrame  # as given, with the predictions replaced
    others: pl.DataFrame  # of predictions that are not exactly an answer: id, raw, answer or null, reason, rule
    unparsed: int  # predictions that are no answer of the benchmark in this reading, nor a word of its vocabulary


def read_answers(
    table: pl.DataFrame,
    answers: Iterable[str],
    policy: Policy,
    vocabulary: Vocabulary | None = None,
    texts: QuestionTexts | None = None,
) -> ReadPredictions:
    """Map every prediction to the answer it means; one that means none keeps its (normalised) text and is wrong."""
    return understood(table, Reader(answers, vocabulary), policy, texts)


def understood(
    table: pl.DataFrame, reader: Reader, policy: Policy, texts: QuestionTexts | None = None
) -> ReadPredictions:
    """The same with a reader; texts of questions are looked at only where a prediction takes its question."""
    exact = table[PREDICTION].is_in(reader.answers)
    if table[PREDICTION].filter(~exact).is_in(list(TRUTHS)).any():  # seldom, and the column may be long
        table = table.with_columns(truths_read(table[PREDICTION], reader.answers))
        exact = table[PREDICTION].is_in(reader.answers)
    rest = table.filter(~exact)
    if policy == "lenient":
        found = _by_question(rest, reader, texts)
    else:
        found = (_as_it_is if policy == "exact" else _as_vqa)(rest, reader)
    others = pl.concat([rest.select("id", pl.col(PREDICTION).alias(RAW)), found], how="horizontal")
    known = [*reader.answers, *reader.words]
    lost = (~pl.col(ANSWER).is_in(known) | pl.col(ANSWER).is_null()) & ~pl.col(RAW).is_in(reader.words)
    unparsed = others.filter(lost).height
    if policy == "exact" or rest.is_empty():
        return ReadPredictions(policy, table, others, unparsed)
    meant = found[ANSWER].fill_null(_by_text(rest[PREDICTION], normal))
    said = table[PREDICTION].scatter((~exact).arg_true(), meant)
    return ReadPredictions(policy, table.with_columns(said), others, unparsed)


def _as_it_is(rest: pl.DataFrame, _: Reader) -> pl.DataFrame:
    columns = {ANSWER: pl.lit(None, pl.String), REASON: pl.lit("none"), "rule": pl.lit("")}
    return rest.with_columns(**columns).select(list(READ))


def _as_vqa(rest: pl.DataFrame, reader: Reader) -> pl.DataFrame:
    exact = {normal(answer): answer for answer in reversed(reader.answers)}
    answer = _by_text(rest[PREDICTION], lambda text: exact.get(normal(text)))
    reason = pl.when(pl.col(ANSWER).is_null()).then(pl.lit("none")).otherwise(pl.lit(""))
    return pl.DataFrame({ANSWER: answer}).with_columns(reason.alias(REASON), pl.lit("").alias("rule"))


def _by_text(texts: pl.Series, read: Callable[[str], str | None]) -> pl.Series:
    """[row] what each different text is read as."""
    known = texts.unique(maintain_order=True)
    found = pl.DataFrame({PREDICTION: known, ANSWER: pl.Series(list(map(read, known.to_list())), dtype=pl.String)})
    return texts.to_frame(PREDICTION).join(found, on=PREDICTION, how="left", maintain_order="left")[ANSWER]


def _by_question(rest: pl.DataFrame, reader: Reader, texts: QuestionTexts | None) -> pl.DataFrame:
    """Different short texts are read once, if they mean one thing; others once for every different question."""
    options = pl.col(OPTIONS) if OPTIONS in rest.columns else pl.lit(None, pl.List(pl.String)).alias(OPTIONS)
    kind = pl.col(KIND) if KIND in rest.columns else pl.lit("").alias(KIND)
    asked = rest.with_columns(options, kind).select(PREDICTION, OPTIONS, KIND)

    def alone(raw: str, options: list[str] | None, _: str) -> ReadAnswer | None:
        if options:
            return reader.read(raw, options=options) if len(raw.split()) <= SHORT else None
        return settled(reader, raw)

    found = _each(asked, alone)
    open = found["rule"].is_null().arg_true()
    if not len(open):
        return found
    question = pl.lit("") if texts is None else texts(rest["id"].gather(open)).fill_null("")
    beside = asked[open].with_columns(question.alias(QUESTION))
    again = _each(beside, lambda raw, options, kind, question: reader.read(raw, question, kind, options or ()))
    return found.with_columns(found[name].scatter(open, again[name]) for name in READ)


def _each(asked: pl.DataFrame, read: Callable[..., ReadAnswer | None]) -> pl.DataFrame:
    """[row] what every different row is read as; nulls where it was not read."""
    known = asked.unique(maintain_order=True)
    rows = [read(*row) or (None, None, None) for row in known.iter_rows()]
    found = pl.concat([known, pl.DataFrame(rows, schema=READ, orient="row")], how="horizontal")
    joined = asked.join(found, on=asked.columns, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(list(READ))
