"""Decompose the questions of a run, shard by shard in worker processes, into tables of nodes and edges."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.domains.video import VIDEO, Videos
from questree.domains.video.atoms import exists
from questree.faults import BadInput
from questree.progress import inside
from questree.readings.answer import answer
from questree.rules import NO, YES
from questree.stages.balance.rounds import selection
from questree.stages.decompose.columns import (
    DecomposeSummary,
    coverage,
    edge_table,
    executed_blocks,
    form_table,
    known,
    leaves,
    node_table,
    places,
    reached,
    renumbered,
    word_of,
)
from questree.stages.decompose.expand import Batch, Block, expand, marked_apart
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.negatives import Negatives
from questree.stages.decompose.propagate import Propagation, Teller
from questree.stages.decompose.spoken import Texts
from questree.stages.generate.annotated import actions_only
from questree.stages.question_forms import QuestionForm
from questree.stages.questions import Bank, Shard
from questree.tables.facts import StoredFacts
from questree.tables.nodes import ABSENT, DECOMPOSED
from questree.tables.questions import QUESTIONS, read_balanced
from questree.tables.run import Run, kept_while
from questree.tables.shard_folders import NewShard, ShardFolders
from questree.terms import UNKNOWN, Array, Node, slots, walk
from questree.workers import processes, results

OP = VIDEO.ops
BEYOND = {  # operators AGQA-Decomp has no sub-questions for: edition 1.0 only
    OP["first_done_to"]: "relation named by what was done first to an object",
    OP["instance_order"]: "order of two actions by their own frames",
    **dict.fromkeys((OP["longer_in"], OP["shorter_in"]), "lengths of two actions inside a time"),
}
ENDS = {"choose_first": OP["first"], "choose_last": OP["last"]}  # what decides such a choice, in edition 2.0 always
UNDECIDED = "choice that the first or last object of its time does not decide"
TIMES = ("before", "after", "while", "between")
TIMED = "reference with a time of its own"
IN_PART = "action named by its place or tool"


def beyond(form: QuestionForm) -> str | None:
    """Why AGQA-Decomp does not cover a form; None if it does."""
    inner = [term for term in walk(form.node) if isinstance(term, Node)]
    references = [inside for term in form.stands if isinstance(term, Node) for inside in walk(term)]
    found = next((BEYOND[term.op] for term in inner if term.op in BEYOND), None)
    timed = any(isinstance(term, Node) and term.op.name in TIMES for term in references)
    return found or (TIMED if timed else None)


def decided(form: QuestionForm, shard: Shard, rows: Array, world: Videos) -> Array:
    """[row] is a choice's answer the first or last object there is?"""
    end = ENDS.get(form.node.op.name)
    if end is None:
        return np.ones(len(rows), bool)
    found = end(*form.node.args[:2])
    words = {name: shard.words[name][rows].astype(np.int64) for name in slots(found)}
    return np.asarray(answer(found, world.ask(shard.video[rows]), words) == shard.column("answer")[rows])


def done_to(form: QuestionForm, shard: Shard, rows: Array) -> Array:
    """[row] are actions that are named by an object done to it? Sub-questions ask about the verb and that object."""
    vocabulary, fine = shard.vocabulary, np.ones(len(rows), bool)
    for name in slots(form.node):
        if name.endswith(".verb"):
            deed = shard.words[name.removesuffix(".verb")][rows]
            fine &= vocabulary.done_to[deed] == vocabulary.object_of[deed]
    return fine


def covered(shard: Shard, world: Videos) -> tuple[Shard, Counter[str]]:
    """The questions AGQA-Decomp covers, and how many it does not cover for which reason; world: of their videos."""
    kept, left = [np.zeros(0, np.int64)], Counter[str]()
    if shard.edition.decomposed:
        return shard, left
    for form, rows in shard.by_form():
        reason = beyond(form)
        if reason is not None:
            left[reason] += len(rows)
            continue
        clear, named = decided(form, shard, rows, world), done_to(form, shard, rows)
        kept.append(rows[clear & named])
        left += Counter({UNDECIDED: int((~clear).sum()), IN_PART: int((clear & ~named).sum())})
    return (shard.where(shard.questions[np.sort(np.concatenate(kept))]) if left else shard), left


def batches(shard: Shard, forms: NodeForms, rows: Array) -> Iterator[Batch]:
    """The questions at these rows of a shard."""
    asked = shard.where(shard.questions[rows])
    for form, at in asked.by_form():
        words = {name: asked.words[name][at] for name in slots(form.node)}
        yield from marked_apart(forms, form.node, words, asked.video[at], at)


NOTHING = Negatives()  # nobody said that anything is absent


@dataclass(frozen=True)
class DecomposeOptions:
    balanced: bool = False  # only the balanced selection, or every question
    closed: bool = True  # what is not annotated is not there
    rules_only: bool = False  # no execution: answers are those of questions, and what rules make of them
    invalid_actions: int = 0  # per video: actions that do not occur, to ask about objects around them
    labels: str = ""  # digest of what people labelled absent

    def __post_init__(self) -> None:
        if self.invalid_actions < 0:
            raise BadInput.at("--invalid-actions", f"expected at least 0, got {self.invalid_actions}")


def decompose(
    run: Run,
    options: DecomposeOptions,
    workers: int = 2,
    pool: Executor | None = None,
    labels: pl.DataFrame | None = None,
) -> DecomposeSummary:
    """Write RUN/decomposed/<shard>/, whole or not at all; `labels` are rows of ABSENT."""
    bank = Bank(run)
    if options.balanced and selection(run) is None:
        raise BadInput.at(run.balanced, "no balanced selection yet; leave out --balanced to take every question")
    labels = ABSENT.empty() if labels is None else labels
    said = blake2b(labels.write_csv().encode(), digest_size=16).hexdigest() if len(labels) else ""
    options = replace(options, labels=said)
    plan = msgspec.json.encode({"options": options} | run.made_of(options.balanced))
    place, names = ShardFolders(run.decomposed, plan), [folder.name for folder in bank.folders()]
    shards, remedy = place.shards(names), partial(place.kept, names)
    with place.begun(names):
        if len(labels):
            ABSENT.write(labels, place.work)
        left = [new for new in shards if not new.done]
        with processes(workers, pool, remedy, len(left)) as executor:
            tasks = {f"shard {new.name}": executor.submit(shard, run.folder, new, options) for new in left}
            results(tasks, "decompose", remedy)
    summary = DecomposeSummary()
    for new in shards:
        summary.add(DecomposeSummary.read(new.note))
    place.finish()
    return summary


def world_is_closed(run: Run) -> bool:
    """A made-up world knows everything there is; it has its truth beside it."""
    return run.truth.is_dir()


@kept_while("vocabulary.toml", "facts", "ledger.json", "questions")
def corpus(run: Path) -> tuple[Bank, StoredFacts, NodeForms, Array]:
    """What all shards share, read once per process."""
    bank = Bank(Run(run))
    bare = actions_only(bank.run) & (not bank.options.get("closed_world"))
    return bank, Run(run).stored("facts"), NodeForms(bank.vocabulary), bare


def shard(run: Path, new: NewShard, options: DecomposeOptions) -> None:
    """Write the tables of one shard."""
    bank, facts, forms, bare = corpus(run)
    labels = ABSENT.read(new.out.parent) if options.labels else ABSENT.empty()
    first, last = QUESTIONS.ends(bank.run.questions / new.name, "video")
    chosen = read_balanced(bank.run.balanced, first, last) if options.balanced else None
    whole = bank.shard(bank.run.questions / new.name, None if options.rules_only else chosen)
    world = bank.edition.read(facts.between(first, last + 1), bank.vocabulary)
    part, beyond = covered(whole, world)
    if chosen is not None:
        beyond = covered(whole.where(whole.questions[selected(whole, chosen)]), world)[1]
    rows = selected(part, chosen)
    own = labels.filter(pl.col("video").is_between(part.first, last)).with_columns(pl.col("video") - part.first)
    absent = Negatives(own, world if facts.told else None, options.invalid_actions, bare[part.first : last + 1])
    if options.rules_only:
        found = tables_by_rules(forms, part, rows, absent)
    else:
        found = tables(forms, part, rows, world, options.closed, absent)
    found.summary.beyond = beyond
    with new.made() as folder:
        for table in DECOMPOSED:
            table.write(found.tables[table.name], folder)
        found.summary.write(new.note)
    inside(1)


def selected(part: Shard, chosen: pl.DataFrame | None) -> Array:
    """Rows of the shard's questions that are decomposed."""
    if chosen is None:
        return np.arange(len(part.questions))
    wanted = part.questions.select("video", "number").with_row_index("row")
    return wanted.join(chosen, on=["video", "number"], how="semi")["row"].to_numpy().astype(np.int64)


@dataclass(frozen=True)
class Decomposed:
    """The DAGs of some questions."""

    blocks: list[Block]
    tables: dict[str, pl.DataFrame]
    summary: DecomposeSummary


def tables(
    forms: NodeForms, part: Shard, rows: Array, world: Videos, closed: bool, absent: Negatives = NOTHING
) -> Decomposed:
    """Every node answered by execution."""
    blocks, tops, negatives = expanded(forms, part, rows, absent)
    inside(0.4)
    answers = executed_blocks(blocks, lambda form, video, values: answer(form, world.ask(video), values))
    inside(0.7)
    how = known(blocks, answers, closed, absent, forms)
    edges, relabelled = edge_table(blocks, answers)
    inside(0.9)
    found = tables_of(blocks, answers, how, edges, part, rows, tops, negatives)
    summary = DecomposeSummary(len(rows), leaves(blocks, tops), len(edges), relabelled, len(found["negatives"]))
    summary.types = coverage(blocks, how)
    there = labelled_and_seen(blocks, answers, absent, forms)
    summary.clashes = len(there)
    summary.contradictions = teller(found, part).seen(there)
    return Decomposed(blocks, found, summary)


def tables_by_rules(forms: NodeForms, part: Shard, rows: Array, absent: Negatives = NOTHING) -> Decomposed:
    """Nodes answered by all questions of the shard and by rules; those below the questions at `rows` are kept."""
    everything = np.arange(len(part.questions))
    blocks, tops, negatives = expanded(forms, part, everything, absent)
    given = part.questions["answer"].to_numpy().astype(np.int16)
    made = Propagation.of(forms, blocks, tops, given, absent).run()
    how = made.known
    edges, _ = edge_table(blocks, np.full(len(how), UNKNOWN))  # without facts no label depends on answers
    found = tables_of(blocks, made.answers, how, edges, part, rows, tops[rows], negatives)
    below = reached(blocks, np.append(tops[rows], negatives))
    kept = only_reached(found, below)
    summary = DecomposeSummary(len(rows), leaves(blocks, tops[rows]), len(kept["edges"]), 0, len(found["negatives"]))
    summary.types, summary.everything = coverage(blocks, how, below), coverage(blocks, how)
    summary.places, summary.all_places = places(tops[rows], how, edges), places(tops, how, edges)
    summary.clashes = len(made.contradictions)
    summary.contradictions = teller(found, part).derived(made)
    return Decomposed(blocks, kept, summary)


def only_reached(found: dict[str, pl.DataFrame], below: Array) -> dict[str, pl.DataFrame]:
    """Tables without the nodes that no DAG has; what was expanded for its answer only is many times as much."""
    place = np.cumsum(below) - 1
    moved = {name: moved_nodes(found[name], place) for name in ("tops", "negatives")}
    edges = renumbered(found["edges"], below, place)
    return found | moved | {"nodes": found["nodes"].filter(pl.Series(below)), "edges": edges}


def moved_nodes(table: pl.DataFrame, place: Array) -> pl.DataFrame:
    nodes = table["node"]
    return table.with_columns(node=pl.Series(place[nodes.to_numpy()], dtype=nodes.dtype))


def expanded(forms: NodeForms, part: Shard, rows: Array, absent: Negatives) -> tuple[list[Block], Array, Array]:
    """All nodes, [question] the number of its node, and those of the negatives."""
    extra = list(absent.batches(forms, part.seeds, len(rows))) if absent.world else []
    total = len(rows) + sum(len(batch.question) for batch in extra)
    blocks, tops = expand(forms, [*batches(part, forms, rows), *extra], total)
    return blocks, tops[: len(rows)], tops[len(rows) :]


def tables_of(
    blocks: list[Block],
    answers: Array,
    how: Array,
    edges: pl.DataFrame,
    part: Shard,
    rows: Array,
    tops: Array,
    negatives: Array,
) -> dict[str, pl.DataFrame]:
    nodes = node_table(blocks, answers, how, part.first, word=word_of(part.vocabulary))
    sure = pl.Series("node", np.unique(negatives[answers[negatives] == NO]), dtype=pl.UInt32)
    return {
        "forms": form_table(blocks),
        "nodes": nodes,
        "edges": edges,
        "tops": part.questions[rows].select("video", "number").with_columns(node=pl.Series(tops)),
        "negatives": pl.DataFrame([nodes["video"].gather(sure), sure]),
    }


def teller(found: dict[str, pl.DataFrame], part: Shard) -> Teller:
    return Teller(found["forms"], found["nodes"], Texts(part.vocabulary), part.ids)


def labelled_and_seen(blocks: list[Block], answers: Array, absent: Negatives, forms: NodeForms) -> Array:
    """Nodes of objects that facts show, although they were labelled absent."""
    found = [np.zeros(0, np.int64)]
    for block in blocks:
        if block.form.node.op is exists:
            seen = answers[block.rows] == YES
            found.append(block.first + np.flatnonzero(seen & absent.labelled(block, forms)))
    return np.concatenate(found)
