"""The audit of questions about image sets: what their text alone tells about their answers, template by template."""

import polars as pl

from questree.benchmarks.covr.templates import TEMPLATES
from questree.columns.hashing import mix, seed_of, seeds_of
from questree.stages.audit.audited import (
    COUNTS,
    Audit,
    AuditedQuestions,
    AuditOptions,
    AuditTask,
    audit_questions,
    write_audit,
)
from questree.stages.audit.guesses import SETS
from questree.stages.audit.key_counts import count_answers, question_shares, sampled
from questree.stages.shard_tables import ShardTables
from questree.tables.image_questions import QuestionChunk, chunks, has_selection
from questree.tables.run import Run
from questree.tables.store import scratch
from questree.workers import over, processes, whole

KNOWN = {template.name: template for template in TEMPLATES}
BINARY = ("yes", "no")


def audit(run: Run, options: AuditOptions, workers: int = 1) -> Audit:
    """Write RUN/covr/audit. The key of a question is its text; questions of dev are left out."""
    parts, target = chunks(run), run.covr / "audit"
    with scratch(target) as place:
        task = AuditTask(run.folder, ShardTables(place), options, has_selection(run))
        with processes(workers, tasks=min(workers, len(parts))) as pool:
            over(pool, "reading questions", "questions", parts, write_questions, task)
        return write_audit(target, *whole(audit_sets, task))


def write_questions(task: AuditTask, chunk: QuestionChunk) -> None:
    """Write key, template, answer, test, before, after, hash, question of every question."""
    every = chunk.read("split", "id", "template", "question", "answer").filter(pl.col("split") != "dev")
    texts = every["question"].unique()
    keys = pl.DataFrame({"question": texts, "key": seeds_of(0, texts).view("int64")})
    table = every.join(keys, on="question", how="left", maintain_order="left").select(
        *("key", "template", "answer", "question"),
        test=pl.col("split") == "test",
        before=pl.lit(True),
        after=chunk.chosen(every["id"]) if task.chosen else pl.lit(True),
        hash=pl.Series(mix(seed_of(task.options.seed, "audit"), seeds_of(task.options.seed, every["id"]))),
    )
    task.tables.write(COUNTS, chunk.name, table)


def audit_sets(task: AuditTask) -> tuple[Audit, dict[str, str]]:
    """Templates are numbered in the order of their first questions, answers in their alphabet. A template whose answers
    are yes and no alone is binary."""
    rows = task.tables.scan(COUNTS)
    is_open = (~pl.col("answer").is_in(BINARY)).any()
    seen = rows.group_by("template").agg(pl.col("hash").min(), is_open=is_open).sort("hash").collect()
    templates, known = seen["template"].to_list(), rows.select(pl.col("answer").unique().sort()).collect()["answer"]
    kinds = pl.col("template").replace_strict([*KNOWN], range(len(KNOWN)), default=len(KNOWN), return_dtype=pl.Int64)
    rows = rows.with_columns(
        kind=kinds,
        template=pl.col("template").cast(pl.Enum(templates)).to_physical().cast(pl.Int64),
        answer=pl.col("answer").cast(pl.Enum(known)).to_physical().cast(pl.Int64),
    )
    counts = count_answers(rows)
    texts = rows.with_columns(sampled(question_shares(counts, task.options.most))).filter(pl.any_horizontal(SETS))
    types = {
        "all": ["all"] * len(templates),
        "answers": ["open" if answers else "binary" for answers in seen["is_open"]],
        "template": templates,
    }
    words, labels = dict(enumerate(known)), [*map(labels_of, templates)]
    return audit_questions(
        task, AuditedQuestions(rows, counts, texts, types, templates, words, ["hash"], labels=labels)
    )


def labels_of(name: str) -> dict[str, str]:
    """As in Table 2; a template that came from elsewhere says nothing of itself."""
    template = KNOWN.get(name)
    return {
        "preconditions": template.needs if template else "",
        "wording": template.forms[0].frames[0] if template else "",
    }
