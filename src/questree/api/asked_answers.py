"""What a model said, read as answers and stored as predictions; and what came of asking, told."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from questree.api.asked_views import VIEWS, AskedViews
from questree.api.given_predictions import predictions_of
from questree.api.made import Made
from questree.api.stored_answers import keep
from questree.ask.engine import Outcome
from questree.ask.journal import Journal, Said
from questree.ask.requests import Requests
from questree.benchmarks import Said as Told
from questree.models.policies import KIND, ReadPredictions, understood
from questree.models.predictions import PREDICTION
from questree.tables.store import new_file

if TYPE_CHECKING:
    from questree.api.asked import Ask
    from questree.api.asked_items import AskedItems

CHUNK = 20_000  # rows looked up at a time
MINUTE, HOUR = 60, 3600


@dataclass(frozen=True)
class Answers:
    name: str
    requests: Requests
    work: "AskedItems | AskedViews"
    outcome: Outcome
    journal: Journal

    def table(self) -> pl.DataFrame:
        """id, question, raw and what it took, of all that was answered."""
        rows = self.outcome.answered.nonzero()[0]
        asked = self.work.table[rows]
        return pl.concat([asked, pl.concat([_frame([]), *self._said(rows)])], how="horizontal")

    def _said(self, rows: Any) -> Iterator[pl.DataFrame]:
        for begin in range(0, len(rows), CHUNK):
            keys = [self.outcome.keys[row].tobytes() for row in rows[begin : begin + CHUNK]]
            found = self.journal.said(list(dict.fromkeys(keys)))
            yield _frame([found[key] for key in keys])

    def read(self, table: pl.DataFrame, policy: Any) -> ReadPredictions:
        texts = dict(zip(table["id"], table["question"], strict=True))

        def text_of(ids: pl.Series) -> pl.Series:
            return pl.Series([texts.get(id) for id in ids.to_list()], dtype=pl.String)

        said = table.select("id", KIND, pl.col("raw").alias(PREDICTION))
        return understood(said, self.requests.reader, policy, text_of)


def _frame(said: list[Said]) -> pl.DataFrame:
    kinds = (pl.String, pl.String, pl.Int64, pl.Int64, pl.Float64, pl.Int64, pl.Float64, pl.Float64)
    return pl.DataFrame(said, schema=dict(zip(Said._fields, kinds, strict=True)), orient="row").rename({"text": "raw"})


def kept(answers: Answers, whole: "Ask") -> Made:
    """Predictions of the run, or files; and what was said, if somebody wants it."""
    table, outcome = answers.table(), answers.outcome
    reading = answers.read(table, whole.policy)
    table = table.with_columns(reading.table[PREDICTION].alias(PREDICTION))
    if whole.raw:
        _write(whole.raw, table.drop(PREDICTION, "scope").rename({KIND: "answer_type"}))
    stored = _stored(answers, table, whole) if len(table) else []
    lost = f"{reading.unparsed:,} of {len(table):,} texts are no answer of this data, read by {whole.policy}"
    said = [*_spent(answers, whole), *_missing(outcome), *([lost] if reading.unparsed else []), *stored]
    record = {
        "name": answers.name,
        "questions": len(outcome.answered),
        "answered": int(outcome.answered.sum()),
        "known": outcome.known,
        "requests": outcome.spent.requests,
        "failed": outcome.spent.failed,
        "tokens in": outcome.spent.tokens_in,
        "tokens out": outcome.spent.tokens_out,
        "seconds": round(outcome.seconds, 3),
        "unread": reading.unparsed,
        "stopped": outcome.stopped or outcome.hopeless,
        "finished": bool(outcome.answered.all()),
        "prompt": {"name": answers.requests.prompt.name, "digest": answers.requests.prompt.digest},
    }
    return Made("ask", said, record)


def _spent(answers: Answers, whole: "Ask") -> list[Told]:
    outcome = answers.outcome
    rate = outcome.spent.requests / max(outcome.seconds, 1e-9)
    cost = whole.paced.prices.of(outcome.spent.tokens_in, outcome.spent.tokens_out)
    return [
        f"{answers.name}: {outcome.spent.requests:,} requests in {_time(outcome.seconds)} ({rate:,.1f}/s), "
        f"{outcome.known:,} answers known before, {outcome.spent.tokens_in:,} tokens sent and "
        f"{outcome.spent.tokens_out:,} answered{f', cost {cost:,.2f}' if cost else ''}"
    ]


def _time(seconds: float) -> str:
    hours, rest = divmod(int(seconds), HOUR)
    if hours:
        return f"{hours} h {rest // MINUTE} min"
    return f"{rest // MINUTE} min {rest % MINUTE} s" if rest >= MINUTE else f"{seconds:.1f} s"


def _missing(outcome: Outcome) -> list[Told]:
    said: list[Told] = [f"warning: {times:,} times {fault}" for fault, times in outcome.faults.most_common(5)]
    if left := int((~outcome.answered).sum()):
        why = outcome.stopped or (f"it is of no use: {outcome.hopeless}" if outcome.hopeless else "some failed")
        said.append(f"warning: stopped ({why}); {left:,} of {len(outcome.answered):,} are not answered: run it again")
    return said


def _stored(answers: Answers, table: pl.DataFrame, whole: "Ask") -> list[Told]:
    run = whole.run
    if isinstance(answers.work, AskedViews):
        return _views(answers, table, whole)
    lines, said = table.select("id", PREDICTION), list[Told]()
    decomposed = run._own.has(run._place, "decomposed")
    if decomposed:
        how: dict[str, Any] = {
            "asked": whole.who.called,
            "mode": whole.put.mode,
            "prompt": answers.requests.prompt.name,
        }
        how |= {"digest": answers.requests.prompt.digest, "policy": whole.policy, "frames": whole.seen.frames}
        keep(run._place, run._own, predictions_of(lines, answers.name), how)
        place = run._place.predictions / answers.name
        said.append(f"predictions for {len(lines):,} questions and sub-questions stored in {place}")
    if whole.out or not decomposed:
        place = whole.out or run.folder / "asked" / f"{answers.name}.jsonl"
        _write(place, lines)
        said.append(f"wrote {len(lines):,} predictions to {place}")
    return said


def _views(answers: Answers, table: pl.DataFrame, whole: "Ask") -> list[Told]:
    """A file of predictions per view, as `score fpvg` takes them."""
    folder = whole.out or whole.run.folder / "asked" / answers.name
    folder.mkdir(parents=True, exist_ok=True)
    whole_view = dict(table.filter(view="all").select("id", PREDICTION).iter_rows())
    for view, name in VIEWS.items():
        some = table.filter(view=view)
        if len(some):
            rows = some.select("id", "yes", "no").iter_rows(named=True)
            chance = [_chance(row, whole_view.get(row["id"])) for row in rows]
            lines = some.select("id", PREDICTION)
            if any(each is not None for each in chance):
                lines = lines.with_columns(probability=pl.Series(chance, dtype=pl.Float64))
            _write(folder / f"{name}.jsonl", lines)
    said = f"wrote {len(table):,} predictions to {folder}"
    if len(answers.work.views) < len(VIEWS):  # type: ignore[union-attr]
        return [said]
    names = " ".join(f"--{name} {folder / name}.jsonl" for name in VIEWS.values())
    return [f"{said}; score them: questree score fpvg {whole.run.folder} {names}"]


def _chance(row: dict[str, Any], answer: str | None) -> float | None:
    """The probability of the answer that is given when all is seen."""
    told = row.get(answer or "") if answer in ("yes", "no") else None
    return None if told is None else exp(told)


def _write(path: Path, lines: pl.DataFrame) -> None:
    with new_file(path) as work:
        lines.write_ndjson(work)
