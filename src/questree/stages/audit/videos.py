"""The audit of questions about videos: how often each answer is given to each content key, and their texts."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import Template
from questree.columns.hashing import mix, seed_of
from questree.columns.joins import Ints
from questree.progress import watch
from questree.readings.answer import spell
from questree.stages.audit.audited import Audit, AuditedQuestions, AuditOptions, audited, shares, without_keys
from questree.stages.audit.categories import categories
from questree.stages.audit.guesses import Parts, Types
from questree.stages.balance.binary import COLUMNS
from questree.stages.balance.rounds import selection
from questree.stages.generate.text import lexicon, texts
from questree.stages.questions import Bank
from questree.stages.template_columns import TemplateColumns
from questree.tables.facts import VIDEOS
from questree.tables.questions import time_without_kind
from questree.tables.run import Run
from questree.tables.store import scratch

PART = 8_000_000  # rows of counts in memory together
GROUP = 65_536  # rows of counts read together
EVERY = 1_000  # of so many keys one says where parts begin
GROUPED = ["key", "template", "answer", "test"]
SAID = {"frames": "yes or no", "bool": "yes or no", "order": "before or after"}  # what is answered


def audit(run: Run, options: AuditOptions, workers: int = 2) -> Audit:
    """Write RUN/audit."""
    bank, chosen = Bank(run), selection(run)
    test = (run.table("facts", VIDEOS)["split"] != "train").to_numpy()
    types = types_of(bank.edition.by_code)
    with scratch(run.folder / "audit") as place, ThreadPoolExecutor(workers) as pool:
        keys = counts(bank, test, chosen, pool, place)
        table = without_keys(keys)
        said = {
            name: sample(bank, test, few, shares(table, name, options.most), options.seed, pool)
            for name, few in (("before", None), ("after", chosen))
        }
        bars, counted = answer_bars(bank), [*categories(table, bank.edition)]
        asked = AuditedQuestions(chosen is not None, keys, table, said, types, bars, spellings(bank), counted)
        return audited(asked, options, run.folder / "audit")


def types_of(templates: tuple[Template, ...]) -> Types:
    return {
        "all": ["all"] * len(templates),
        "answers": [t.answer_type for t in templates],
        "structure": [t.categories.structural for t in templates],
        "semantic": [t.categories.semantic for t in templates],
        "template": [t.name for t in templates],
    }


def answer_bars(bank: Bank) -> list[str]:
    """[template] its group, and what is answered."""
    return [f"{t.group}, {SAID.get(t.node.kind.name, t.answer_type)}" for t in bank.edition.by_code]


def spellings(bank: Bank) -> dict[int, str]:
    """Answer code -> word."""
    found: dict[int, str] = {}
    for at, template in enumerate(bank.edition.by_code):
        kind = template.node.kind
        count = len(getattr(bank.vocabulary, kind.words)) if kind.words else 2
        found |= {
            int(bank.templates.answer_kind[at]) << 16 | a: spell(kind, a, bank.vocabulary) or "" for a in range(count)
        }
    return found


def content_keys(questions: pl.DataFrame, known: TemplateColumns) -> Ints:
    """[question] the key balancing works by: of open questions without the kind of the time."""
    column = {name: questions[name].to_numpy().astype(np.int64) for name in ("template", "relation", "x", "y", "time")}
    template, time = column["template"], column["time"]
    actions = np.where(known.with_time[template], time_without_kind(time), 0)
    time = np.where(known.open[template], actions, time)
    own = np.where(known.open, known.family, np.arange(len(known)))  # the same for templates that share content keys
    if questions["x"].dtype == pl.UInt16:  # many words: no 64 bits have room for them, but two hashes are hardly alike
        return mix(np.uint64(0), own[template], *(column[name] for name in ("relation", "x", "y")), time).view(np.int64)
    key = own[template] << 48 | column["relation"] << 40 | column["x"] << 32 | column["y"] << 24 | time
    return np.asarray(key)


def answer_codes(questions: pl.DataFrame, known: TemplateColumns) -> Ints:
    """[question] its kind and the answer: the same number for the same word."""
    return np.asarray(known.answer_kind[questions["template"].to_numpy()] << 16 | questions["answer"].to_numpy())


def selected(questions: pl.DataFrame, chosen: pl.DataFrame | None) -> NDArray[np.bool_]:
    """[question] is it in the selection? All are, if there is none."""
    if chosen is None or questions.is_empty():
        return np.ones(len(questions), bool)
    place = questions["video"].to_numpy().astype(np.uint64) << np.uint64(32) | questions["number"].to_numpy()
    video = chosen["video"].to_numpy()
    lo, hi = np.searchsorted(video, [place.min() >> np.uint64(32), (place.max() >> np.uint64(32)) + np.uint64(1)])
    own = video[lo:hi].astype(np.uint64) << np.uint64(32) | chosen["number"].to_numpy()[lo:hi]
    return np.isin(place, own)


def counts(
    bank: Bank, test: NDArray[np.bool_], chosen: pl.DataFrame | None, pool: ThreadPoolExecutor, place: Path
) -> Parts:
    """key, template, answer, test, before, after: how many questions of all, and of the selection.

    Long videos have as many keys as questions: what shards count is put down in `place` and joined part by part.
    """

    def one(folder: Path) -> tuple[int, pl.Series]:
        questions = COLUMNS.read(folder)
        table = pl.DataFrame(
            {
                "key": content_keys(questions, bank.templates),
                "template": questions["template"],
                "answer": answer_codes(questions, bank.templates).astype(np.uint32),
                "test": test[questions["video"].to_numpy()],
                "after": selected(questions, chosen),
            }
        )
        own = table.group_by(GROUPED).agg(before=pl.len(), after=pl.col("after").sum()).sort(GROUPED)
        own.write_parquet(
            place / f"{folder.name}.parquet", compression="zstd", compression_level=1, row_group_size=65536
        )
        return len(own), own["key"].gather_every(EVERY)

    folders = bank.folders()
    found = list(watch(pool.map(one, folders), "counting answers", len(folders)))
    parts = max(sum(rows for rows, _ in found) // PART, 1)
    keys = pl.concat([some for _, some in found]).sort()
    begins = keys.gather([len(keys) * part // parts for part in range(1, parts)]).unique().sort().to_list()
    merged = [place / f"part {number}" for number in range(len(begins) + 1)]
    for path, low, high in zip(merged, [None, *begins], [*begins, None], strict=True):
        rows = pl.scan_parquet(sorted(place.glob("*.parquet")))
        rows = rows if low is None else rows.filter(pl.col("key") >= low)
        rows = rows if high is None else rows.filter(pl.col("key") < high)
        whole = rows.group_by(GROUPED).agg(pl.col("before", "after").sum()).collect(engine="streaming")
        whole.sort(GROUPED).write_parquet(path, compression="zstd", compression_level=1)
    return [pl.scan_parquet(path) for path in merged]


def sample(
    bank: Bank,
    test: NDArray[np.bool_],
    chosen: pl.DataFrame | None,
    shares: tuple[float, float],
    seed: int,
    pool: ThreadPoolExecutor,
) -> pl.DataFrame:
    """question, template, answer, kind, test, hash; shares: of the train and of the test questions that are taken."""
    said = lexicon(bank.vocabulary, bank.edition)
    keys = np.array([seed_of(seed, f"audit {video}") for video in bank.ids], np.uint64)

    def one(folder: Path) -> pl.DataFrame:
        shard = bank.shard(folder)
        table = shard.questions
        video = table["video"].to_numpy()
        hashes = mix(keys[video], table["number"].to_numpy())
        share = np.where(test[video], shares[1], shares[0])
        kept = selected(table, chosen) & ((hashes >> np.uint64(11)).astype(np.float64) < share * 2.0**53)
        few = table.filter(kept)
        return pl.DataFrame(
            {
                "question": texts(shard.where(few), said),
                "template": few["template"],
                "answer": answer_codes(few, bank.templates),
                "kind": bank.templates.answer_kind[few["template"].to_numpy()],
                "test": test[few["video"].to_numpy()],
                "hash": hashes[kept],
            },
            schema_overrides={"answer": pl.Int64, "kind": pl.Int64},
        )

    folders = bank.folders()
    found = watch(pool.map(one, folders), "saying questions", len(folders))
    return pl.concat(list(found)).sort("hash")
