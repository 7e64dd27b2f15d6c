"""All fifteen rules, two of ours, and those of plugins, in the order they work."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from questree.domains.video.actions import MARGIN
from questree.extensions import Registry
from questree.faults import BadInput
from questree.progress import report
from questree.stages.augment.actions import add_actions, infer_missing, merge_overlapping, numbered, trim_overlaps
from questree.stages.augment.annotations import (
    drop_sparse_spatial,
    heights_seen,
    merge_duplicates,
    merge_synonyms,
    settle_heights,
)
from questree.stages.augment.graphs import QUESTIONS, AugmentationRule, AugmentOptions, Change, Counts, Graphs, among
from questree.stages.augment.ledger import Entry, RuleCounts, classes, entry, retimed
from questree.stages.augment.opposites import close_entailments, settle_opposites
from questree.stages.augment.propagation import propagate
from questree.stages.augment.relations import add_unnamed, add_verbs
from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary

Counted = tuple[Graphs, list[Change]]


def leave_out_attention(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counted:
    """Rules 4, 13, 14 and 15 act when questions are made: the facts stay, here is counted what they will concern."""
    attention = graphs.relations.filter(among("relation", vocabulary.group("attention")))
    return graphs, [Change("relation facts", concerned=len(attention))]


def leave_out_single_object_verbs(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counted:
    verbs = vocabulary.relations_named(vocabulary.lists.single_object_verbs)
    return graphs, [Change("relation facts", concerned=graphs.relations.filter(among("relation", verbs)).height)]


def leave_out_close_lengths(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counted:
    """Pairs of instances of a video whose lengths nobody can compare by eye."""
    lasting = graphs.actions.select("video", length=pl.col("end") - pl.col("start")).sort("video", "length")
    video, length = (column.to_numpy() for column in lasting)
    at, step, close = np.arange(len(length)), 0, 0
    while len(at):  # those whose neighbour so many places on is close; a long video has millions of pairs
        step += 1
        at = at[at + step < len(length)]
        at = at[(video[at + step] == video[at]) & (length[at + step] - length[at] <= MARGIN)]
        close += len(at)
    return graphs, [Change("pairs of actions", concerned=close)]


def leave_out_transitions(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counted:
    """Instances that get no question about how long they last."""
    verbs = set(vocabulary.folded[vocabulary.relations_named(vocabulary.lists.transition_verbs)].tolist())
    named = {vocabulary.action_at[action] for action in vocabulary.lists.transition_actions}
    short = [at for at, verb in enumerate(vocabulary.verb_of) if verb in verbs or at in named]
    return graphs, [Change("actions", concerned=graphs.actions.filter(among("action", short)).height)]


PROMISED, LATER = "questions rest on it", "it acts when questions are made"
RULES = Registry[AugmentationRule]("augmentation")
for _rule in (
    AugmentationRule(
        1, "add actions", "frames at start <= seconds < end are the action's", add_actions, fixed=PROMISED
    ),
    AugmentationRule(2, "merge synonyms", "words for the same thing are one class", merge_synonyms, fixed=PROMISED),
    AugmentationRule(3, "merge duplicate boxes", "boxes of two classes in one place are one object", merge_duplicates),
    # judged on what people annotated: before annotations are deleted or copied
    AugmentationRule(
        12, "drop sparse spatial relations", "too few of a video's annotations have one", drop_sparse_spatial
    ),
    AugmentationRule(
        5, "settle above and beneath", "beneath means at head level or higher", settle_heights, seen=heights_seen
    ),
    AugmentationRule(
        11, "merge overlapping actions", "instances of one action that overlap are one", merge_overlapping
    ),
    AugmentationRule(8, "trim by order", "taking, then holding, then putting", trim_overlaps),
    AugmentationRule(9, "infer missing actions", "as released: no holding without taking and putting", infer_missing),
    AugmentationRule(
        6,
        "add verb relations",
        "an action says (verb, object) on each of its frames",
        add_verbs,
        fixed=PROMISED,
        remedy="no annotated frame shows them, so no question asks about them: more frames would keep them",
    ),
    # before anything is copied, and when it is known what actions say
    AugmentationRule(
        17, "settle opposites", "nobody touches and does not touch one thing", settle_opposites, fixed=PROMISED
    ),
    AugmentationRule(10, "propagate annotations", "copied within actions and to neighbouring frames", propagate),
    AugmentationRule(7, "close entailments", "carrying is holding is touching", close_entailments, fixed=PROMISED),
    # last: only where no other rule has named what the verb is done to
    AugmentationRule(
        16,
        "add unnamed things",
        "a verb done at a place or with a tool is done to something",
        add_unnamed,
        fixed=PROMISED,
    ),
    AugmentationRule(
        4, "leave out attention", "nobody can tell where a person looks", leave_out_attention, QUESTIONS, LATER
    ),
    AugmentationRule(
        13,
        "leave out single-object verbs",
        "the verb gives the object away",
        leave_out_single_object_verbs,
        QUESTIONS,
        LATER,
    ),
    AugmentationRule(
        14, "leave out close lengths", "lengths nobody can compare by eye", leave_out_close_lengths, QUESTIONS, LATER
    ),
    AugmentationRule(
        15, "leave out transitions", "no length questions about a moment", leave_out_transitions, QUESTIONS, LATER
    ),
):
    RULES.add(_rule.name, _rule)


def optional(spelling: str, place: object) -> AugmentationRule:
    """The rule of this number or name that can be left out; - may stand for the spaces of a name."""
    rule = next((r for r in RULES.values() if spelling in (str(r.number), r.name, r.name.replace(" ", "-"))), None)
    if rule is None or rule.fixed:
        choices = ", ".join(f"{each.number} ({each.name})" for each in RULES.values() if not each.fixed)
        why = f", but {rule.fixed}" if rule else ""
        raise BadInput.at(place, f"expected a rule that can be left out, got {spelling!r}{why}; choose from {choices}")
    return rule


def augment(
    facts: Facts,
    vocabulary: Vocabulary,
    options: AugmentOptions | None = None,
    chosen: Sequence[AugmentationRule] | None = None,
    seen: Counts | None = None,
) -> tuple[Facts, list[Entry]]:
    """The cleaned facts and the ledger. `seen`: what a rule counts in all videos, if these are some of them."""
    rules = [*RULES.values()] if chosen is None else chosen
    options = options or AugmentOptions()
    graphs, counts = applied(Graphs.of(facts), vocabulary, options, rules, seen)
    return finished(graphs), [entry(*each, vocabulary) for each in zip(rules, counts, strict=True)]


def applied(
    graphs: Graphs,
    vocabulary: Vocabulary,
    options: AugmentOptions,
    rules: Sequence[AugmentationRule],
    seen: Counts | None = None,
) -> tuple[Graphs, list[RuleCounts]]:
    """The graphs after the rules, and what each changed."""
    words, counts, after = options.words(vocabulary), list[RuleCounts](), classes(graphs, vocabulary)
    for done, rule in enumerate(rules):
        report("augment", done, len(rules))
        old, before = graphs, after
        graphs, changes = rule.apply(graphs, words, options, *([seen] if rule.seen and seen is not None else []))
        after = before if graphs is old else classes(graphs, vocabulary)
        counts.append(RuleCounts(changes, before, after, retimed(old, graphs, vocabulary)))
    report("augment", len(rules), len(rules))
    return graphs, counts


def finished(graphs: Graphs) -> Facts:
    facts = graphs.facts()
    return replace(facts, actions=numbered(facts.actions).sort("video", "start", "end", "action", "instance"))
