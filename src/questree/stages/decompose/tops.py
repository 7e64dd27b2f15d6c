"""Generated questions in batches of one form, as decomposition takes them; what it does not cover is counted."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from questree.domains.video import VIDEO, Videos
from questree.program import Array, Node, slots, walk
from questree.readings.answer import answer
from questree.stages.decompose.expand import Batch
from questree.stages.decompose.forms import Forms
from questree.stages.question_forms import Form
from questree.stages.questions import Shard

OP = VIDEO.ops
BEYOND = {  # operators AGQA-Decomp has no sub-questions for: edition 1.0 only
    OP["first_done_to"]: "relation named by what was done first to an object",
    OP["instance_order"]: "order of two actions by their own frames",
}
ENDS = {"choose_first": OP["first"], "choose_last": OP["last"]}  # what decides such a choice, in edition 2.0 always
UNDECIDED = "choice that the first or last object of its time does not decide"
TIMES = ("before", "after", "while", "between")
TIMED = "reference with a time of its own"


def beyond(form: Form) -> str | None:
    """Why AGQA-Decomp does not cover a form; None if it does."""
    inner = [term for term in walk(form.node) if isinstance(term, Node)]
    references = [inside for term in form.stands if isinstance(term, Node) for inside in walk(term)]
    found = next((BEYOND[term.op] for term in inner if term.op in BEYOND), None)
    timed = any(isinstance(term, Node) and term.op.name in TIMES for term in references)
    return found or (TIMED if timed else None)


def decided(form: Form, shard: Shard, rows: Array, world: Videos) -> Array:
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


def batches(shard: Shard, forms: Forms, rows: Array) -> Iterator[Batch]:
    """The questions at these rows of a shard."""
    asked = shard.where(shard.questions[rows])
    for form, at in asked.by_form():
        node, origins = forms.canonical(form.node)
        words = tuple(forms.column(origin, asked.words, len(at))[at] for origin in origins)
        yield Batch(node, asked.video[at], words, at)
