"""The audit of questions about videos: how often each answer is given to each content key, and their texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import Template
from questree.columns.hashing import Hashes, mix, seed_of
from questree.columns.joins import Ints
from questree.readings.answer import spell
from questree.stages.audit.audited import (
    COUNTS,
    TEXTS,
    Audit,
    AuditedQuestions,
    AuditOptions,
    AuditTask,
    RulesAloneCount,
    audit_questions,
    write_audit,
)
from questree.stages.audit.categories import categories
from questree.stages.audit.guesses import SETS, Types, type_column
from questree.stages.audit.key_counts import GROUPED, Shares, count_answers, question_shares, sampled
from questree.stages.balance.rounds import has_selection
from questree.stages.balance.shard_tables import COLUMNS
from questree.stages.generate.text import Lexicon, lexicon, texts
from questree.stages.questions import Bank
from questree.stages.rules_alone import RulesAlone
from questree.stages.shard_tables import ShardTables
from questree.stages.template_columns import TemplateColumns
from questree.tables.facts import ACTIONS, OBJECTS, TRACKS, VIDEOS
from questree.tables.questions import keys_of, read_balanced, time_without_kind
from questree.tables.run import Run, kept_while
from questree.tables.store import scratch
from questree.workers import over, whole

SAID = {"frames": "yes or no", "bool": "yes or no", "order": "before or after"}  # what is answered
ALONE = ("alone", "alone after")  # of all questions and of the selection: their answers follow from rules alone


class AuditCorpus(NamedTuple):
    bank: Bank
    test: NDArray[np.bool_]  # [video]
    lexicon: Lexicon
    seeds: Hashes  # [video]
    rules: RulesAlone


@kept_while("vocabulary.toml", "raw", "facts", "ledger.json", "questions")
def corpus(run: Path, seed: int) -> AuditCorpus:
    """Read once per process."""
    bank = Bank(Run(run))
    test = (bank.run.table("facts", VIDEOS)["split"] != "train").to_numpy()
    seeds = np.array([seed_of(seed, f"audit {video}") for video in bank.ids], np.uint64)
    rules = RulesAlone.of(bank.run, bank.templates, bank.edition.name)
    return AuditCorpus(bank, test, lexicon(bank.vocabulary, bank.edition), seeds, rules)


def audit(run: Run, options: AuditOptions, workers: int = 2) -> Audit:
    """Write RUN/audit."""
    bank, target = Bank(run), run.folder / "audit"
    shards = [folder.name for folder in bank.folders()]
    with scratch(target) as place:
        task = AuditTask(run.folder, ShardTables(place), options, has_selection(run))
        with bank.pool(workers, times=3) as pool:
            over(pool, "counting answers", "shard", shards, write_counts, task)
            over(pool, "saying questions", "shard", shards, write_texts, task, whole(video_shares, task))
        return write_audit(target, *whole(audit_videos, task))


def video_shares(task: AuditTask) -> Shares:
    return question_shares(count_answers(task.tables.scan(COUNTS)), task.options.most)


def audit_videos(task: AuditTask) -> tuple[Audit, dict[str, str]]:
    bank, rows = corpus(task.run, task.options.seed).bank, task.tables.scan(COUNTS)
    counts, types = count_answers(rows), types_of(bank.edition.by_code)
    questions = AuditedQuestions(
        rows,
        counts,
        task.tables.scan(TEXTS),
        types,
        answer_bars(bank),
        spellings(bank),
        categories=[*categories(counts, bank.edition)],
        rules_alone=[*rules_alone(rows, types["structure"])],
        labels=[*map(labels_of, bank.edition.by_code)],
        size=size_of(bank.run),
    )
    return audit_questions(task, questions)


def types_of(templates: tuple[Template, ...]) -> Types:
    return {
        "all": ["all"] * len(templates),
        "answers": [t.answer_type for t in templates],
        "structure": [t.categories.structural for t in templates],
        "semantic": [t.categories.semantic for t in templates],
        "template": [t.name for t in templates],
    }


def labels_of(template: Template) -> dict[str, Any]:
    """As in Table 14."""
    own = template.categories
    kinds = {"reasoning": ", ".join(own.reasoning), "structural": own.structural, "semantic": own.semantic}
    return {**kinds, "steps": template.steps}


LENGTH = "average length, s"
MENTIONED = {"relationships": TRACKS, "actions": ACTIONS}


def size_of(run: Run) -> dict[str, Any]:
    """As in Table 1: videos, and what is annotated in them."""
    seconds = run.table("facts", VIDEOS)["length"].to_numpy()
    known = seconds[np.isfinite(seconds)]
    size: dict[str, Any] = {"videos": len(seconds), LENGTH: round(float(known.mean()), 1) if len(known) else ""}
    if not run.has_facts():
        return size
    seen = int(run.table("facts", OBJECTS.only("visible"))["visible"].sum())
    done = {name: len(run.table("facts", table.only("video"))) for name, table in MENTIONED.items()}
    return size | {"objects": seen} | done


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


def marked(run: Run, questions: pl.DataFrame, chosen: bool) -> NDArray[np.bool_]:
    """[question] of a shard: is it in the selection? All are, if there is none."""
    if not chosen or questions.is_empty():
        return np.ones(len(questions), bool)
    video = questions["video"].to_numpy()
    selection = read_balanced(run.balanced, int(video.min()), int(video.max()))
    return np.isin(keys_of(questions), keys_of(selection))


def write_counts(task: AuditTask, shard: str) -> None:
    """Write key, template, answer, test, before, after: how many questions of all, and of the selection; and of how
    many the answers follow from rules alone."""
    (bank, test, *_, rules), folder = corpus(task.run, task.options.seed), task.run / "questions" / shard
    references = rules.references.read(folder)
    for at, questions in enumerate(COLUMNS.pieces(folder)):
        after, alone = marked(bank.run, questions, task.chosen), rules.of_questions(questions, references)
        table = pl.DataFrame(
            {
                "key": content_keys(questions, bank.templates),
                "template": questions["template"],
                "answer": answer_codes(questions, bank.templates).astype(np.uint32),
                "test": test[questions["video"].to_numpy()],
                "before": np.ones(len(questions), bool),
                "after": after,
                "alone": alone,
                "alone after": alone & after,
            }
        )
        counts = table.group_by(GROUPED).agg(pl.col(*SETS, *ALONE).sum())
        task.tables.write(COUNTS, f"{shard}.{at:06}", counts)


def rules_alone(rows: pl.LazyFrame, structure: list[str]) -> Iterator[RulesAloneCount]:
    """structure: [template]"""
    columns = ("alone", "before", "alone after", "after")
    sums = rows.group_by("template").agg(pl.col(columns).cast(pl.Int64).sum()).collect(engine="streaming")
    typed = sums.with_columns(structure=type_column(structure, sums))
    for name in ("all", *dict.fromkeys(structure)):
        of_structure = typed if name == "all" else typed.filter(structure=name)
        yield RulesAloneCount(name, *of_structure.select(pl.col(columns).sum()).row(0))


def write_texts(task: AuditTask, shard: str, shares: Shares) -> None:
    task.tables.write(TEXTS, shard, sample_texts(task.run, shard, task.options.seed, task.chosen, shares))


def sample_texts(run: Path, shard: str, seed: int, chosen: bool, shares: Shares) -> pl.DataFrame:
    """question, template, answer, kind, test, hash, and for every set whether it looks at the question; shares: of the
    train and of the test questions that sets look at."""
    bank, test, spoken, seeds, _ = corpus(run, seed)
    tables = []
    for piece in bank.pieces(run / "questions" / shard):
        video = piece.questions["video"].to_numpy()
        every = piece.questions.with_columns(
            test=test[video],
            hash=mix(seeds[video], piece.questions["number"].to_numpy()),
            before=pl.lit(True),
            after=marked(bank.run, piece.questions, chosen),
        )
        few = every.with_columns(sampled(shares)).filter(pl.any_horizontal(*shares))
        columns = {
            "question": texts(piece.where(few.select(piece.questions.columns)), spoken),
            "answer": answer_codes(few, bank.templates),
            "kind": bank.templates.answer_kind[few["template"].to_numpy()].astype(np.int64),
        }
        tables.append(few.select("template", "test", "hash", *shares, **columns))
    return pl.concat(tables)
