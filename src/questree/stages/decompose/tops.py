"""Generated questions in batches of one form, as decomposition takes them; what it does not cover is counted."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from questree.domains.video import VIDEO, Videos
from questree.program import ACTION, Array, Node, Term, fill, slots, walk
from questree.readings.answer import answer
from questree.stages.decompose.expand import Batch
from questree.stages.decompose.forms import NodeForms
from questree.stages.question_forms import QuestionForm
from questree.stages.questions import Shard
from questree.vocabulary.words import NONE

OP = VIDEO.ops
BEYOND = {  # operators AGQA-Decomp has no sub-questions for: edition 1.0 only
    OP["first_done_to"]: "relation named by what was done first to an object",
    OP["instance_order"]: "order of two actions by their own frames",
}
ENDS = {"choose_first": OP["first"], "choose_last": OP["last"]}  # what decides such a choice, in edition 2.0 always
UNDECIDED = "choice that the first or last object of its time does not decide"
TIMES = ("before", "after", "while", "between")
TIMED = "reference with a time of its own"


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


def covered(shard: Shard, world: Videos) -> tuple[Shard, Counter[str]]:
    """The questions AGQA-Decomp covers, and how many it does not cover for which reason; world: of their videos."""
    kept, left = [np.zeros(0, np.int64)], Counter[str]()
    if not (shard.edition.relation_references or shard.edition.timed_references):
        return shard, left
    for form, rows in shard.by_form():
        reason = beyond(form)
        if reason is not None:
            left[reason] += len(rows)
            continue
        fine = decided(form, shard, rows, world)
        kept.append(rows[fine])
        left += Counter({UNDECIDED: int((~fine).sum())})
    return (shard.where(shard.questions[np.sort(np.concatenate(kept))]) if left else shard), left


def batches(shard: Shard, forms: NodeForms, rows: Array) -> Iterator[Batch]:
    """The questions at these rows of a shard."""
    asked = shard.where(shard.questions[rows])
    for form, at in asked.by_form():
        words = {name: asked.words[name][at] for name in slots(form.node)}
        yield from by_objects(form.node, words, asked.video[at], at, forms)


def by_objects(node: Node, words: dict[str, Array], video: Array, rows: Array, forms: NodeForms) -> Iterator[Batch]:
    """The questions of one form; actions without an object are another form."""
    deeds = [slot for slot in slots(node).values() if slot.kind == ACTION]
    alone = np.zeros(len(rows), np.int64)
    for at, slot in enumerate(deeds):
        alone |= (forms.vocabulary.noun_of[words[slot.name]] == NONE).astype(np.int64) << at
    for code in np.unique(alone).tolist():
        own = alone == code
        named: dict[str, Term] = {slot.name: replace(slot, alone=bool(code >> at & 1)) for at, slot in enumerate(deeds)}
        program = fill(node, named)
        assert isinstance(program, Node)
        form, origins = forms.canonical(program)
        yield Batch(form, video[own], tuple(forms.column(o, words, len(rows))[own] for o in origins), rows[own])
