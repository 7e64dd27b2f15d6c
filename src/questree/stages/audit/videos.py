"""The audit of questions about videos: how often each answer is given to each content key, and their texts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
    Audit,
    AuditedQuestions,
    AuditOptions,
    RulesAloneCount,
    audited,
    shares,
    without_keys,
)
from questree.stages.audit.categories import categories
from questree.stages.audit.guesses import SETS, Types
from questree.stages.audit.key_counts import COUNTS, GROUPED, CountedShard, merged, put_counts, texts_of
from questree.stages.balance.rounds import has_selection
from questree.stages.balance.shard_tables import COLUMNS
from questree.stages.generate.text import Lexicon, lexicon, texts
from questree.stages.questions import Bank, Shard
from questree.stages.rules_alone import RulesAlone
from questree.stages.template_columns import TemplateColumns
from questree.tables.facts import ACTIONS, OBJECTS, TRACKS, VIDEOS
from questree.tables.questions import keys_of, read_balanced, time_without_kind
from questree.tables.run import Run, kept_while
from questree.tables.store import for_others, scratch
from questree.workers import over

SAID = {"frames": "yes or no", "bool": "yes or no", "order": "before or after"}  # what is answered


@dataclass(frozen=True)
class AuditTask:
    """What every shard is looked at with; small enough to send anywhere that sees the run."""

    run: Path
    seed: int
    chosen: bool  # is there a selection?
    scratch: Path | None = None  # for counts and texts


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
    bank, chosen = Bank(run), has_selection(run)
    types, shards = types_of(bank.edition.by_code), [folder.name for folder in bank.folders()]
    with scratch(run.folder / "audit") as place:
        task = AuditTask(run.folder, options.seed, chosen, place)
        with bank.pool(workers, times=4) as pool:
            counts = over(pool, "counting answers", "shard", shards, count_shard, task)
            keys = merged(place, [each.answers for each in counts])
            table = without_keys(keys)
            for name in SETS:
                how = replace(task, chosen=chosen and name == "after"), name, shares(table, name, options.most)
                over(pool, "saying questions", "shard", shards, write_said, *how)
        said = {
            name: texts_of(pl.scan_ipc(place / f"{shard}.{name}", glob=False).collect() for shard in shards)
            for name in SETS
        }
        bars, counted = answer_bars(bank), [*categories(table, bank.edition)]
        alone = [*rules_alone(np.sum([each.alone for each in counts], axis=0), table, types["structure"])]
        more = [labels_of(each) for each in bank.edition.by_code], size_of(run)
        asked = AuditedQuestions(chosen, keys, table, said, types, bars, spellings(bank), counted, alone, *more)
        return audited(asked, options, run.folder / "audit")


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


def marked(task: AuditTask, questions: pl.DataFrame) -> NDArray[np.bool_]:
    """[question] of a shard: is it in the selection? All are, if there is none."""
    if not task.chosen or questions.is_empty():
        return np.ones(len(questions), bool)
    video = questions["video"].to_numpy()
    chosen = read_balanced(Run(task.run).balanced, int(video.min()), int(video.max()))
    return np.isin(keys_of(questions), keys_of(chosen))


class CountedVideos(NamedTuple):
    """What was counted about some videos."""

    answers: CountedShard
    alone: Ints  # [before or after, template] questions whose answers follow from rules alone


def count_shard(task: AuditTask, shard: str) -> CountedVideos:
    """Write key, template, answer, test, before, after: how many questions of all, and of the selection."""
    assert task.scratch is not None
    found, (bank, *_, rules), folder = list[CountedShard](), corpus(task.run, task.seed), task.run / "questions" / shard
    alone, references = np.zeros((len(SETS), len(bank.templates)), np.int64), rules.references.read(folder)
    for at, questions in enumerate(COLUMNS.pieces(folder)):
        after = marked(task, questions)
        follow = rules.of_questions(questions, references)
        for row, kept in enumerate((follow, follow & after)):
            alone[row] += np.bincount(questions["template"].to_numpy()[kept], minlength=len(bank.templates))
        found.append(put_counts(count_piece(task, questions, after), task.scratch / f"{shard}.{at}{COUNTS}"))
    some = np.concatenate([piece.some for piece in found])
    return CountedVideos(CountedShard(sum(piece.rows for piece in found), some), alone)


def rules_alone(alone: Ints, counts: pl.DataFrame, structure: list[str]) -> Iterator[RulesAloneCount]:
    """alone: [before or after, template]; counts: template, before, after."""
    whole = [np.bincount(counts["template"], counts[name], len(structure)).astype(np.int64) for name in SETS]
    for name in ("all", *dict.fromkeys(structure)):
        own = np.array([name in ("all", each) for each in structure])
        numbers = [int(part[own].sum()) for pair in zip(alone, whole, strict=True) for part in pair]
        yield RulesAloneCount(name, *numbers)


def count_piece(task: AuditTask, questions: pl.DataFrame, after: NDArray[np.bool_]) -> pl.DataFrame:
    bank, test, *_ = corpus(task.run, task.seed)
    table = pl.DataFrame(
        {
            "key": content_keys(questions, bank.templates),
            "template": questions["template"],
            "answer": answer_codes(questions, bank.templates).astype(np.uint32),
            "test": test[questions["video"].to_numpy()],
            "after": after,
        }
    )
    return table.group_by(GROUPED).agg(before=pl.len(), after=pl.col("after").sum())


def say_shard(task: AuditTask, shard: str, shares: tuple[float, float]) -> pl.DataFrame:
    """question, template, answer, kind, test, hash; shares: of the train and of the test questions that are taken."""
    pieces = corpus(task.run, task.seed)[0].pieces(task.run / "questions" / shard)
    return pl.concat([say_piece(task, piece, shares) for piece in pieces])


def say_piece(task: AuditTask, whole: Shard, shares: tuple[float, float]) -> pl.DataFrame:
    bank, test, said, seeds, _ = corpus(task.run, task.seed)
    table = whole.questions
    video = table["video"].to_numpy()
    hashes = mix(seeds[video], table["number"].to_numpy())
    share = np.where(test[video], shares[1], shares[0])
    kept = marked(task, table) & ((hashes >> np.uint64(11)).astype(np.float64) < share * 2.0**53)
    few = table.filter(kept)
    return pl.DataFrame(
        {
            "question": texts(whole.where(few), said),
            "template": few["template"],
            "answer": answer_codes(few, bank.templates),
            "kind": bank.templates.answer_kind[few["template"].to_numpy()],
            "test": test[few["video"].to_numpy()],
            "hash": hashes[kept],
        },
        schema_overrides={"answer": pl.Int64, "kind": pl.Int64},
    )


def write_said(task: AuditTask, shard: str, name: str, shares: tuple[float, float]) -> None:
    """The same for the set of this name, as a file."""
    assert task.scratch is not None
    with for_others(task.scratch / f"{shard}.{name}") as file:
        say_shard(task, shard, shares).write_ipc(file)
