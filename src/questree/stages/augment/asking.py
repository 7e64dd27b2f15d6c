"""Rules 4, 13, 14 and 15 act when questions are made: the facts stay, here is counted what they will concern."""

import polars as pl

from questree.domains.video.actions import MARGIN
from questree.stages.augment.graphs import Graphs, among
from questree.stages.augment.rule import AugmentOptions, Change
from questree.vocabulary.words import Vocabulary

Counted = tuple[Graphs, list[Change]]


def leave_out_attention(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counted:
    attention = graphs.relations.filter(among("relation", vocabulary.group("attention")))
    return graphs, [Change("relation facts", concerned=len(attention))]


def leave_out_single_object_verbs(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counted:
    verbs = vocabulary.relations_named(vocabulary.lists.single_object_verbs)
    return graphs, [Change("relation facts", concerned=graphs.relations.filter(among("relation", verbs)).height)]


def leave_out_close_lengths(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counted:
    """Pairs of instances of a video whose lengths nobody can compare by eye."""
    lengths = graphs.actions.with_row_index("row").select("video", "row", length=pl.col("end") - pl.col("start"))
    pairs = lengths.join(lengths, on="video", suffix="_other").filter(pl.col("row") < pl.col("row_other"))
    close = pairs.filter((pl.col("length") - pl.col("length_other")).abs() <= MARGIN)
    return graphs, [Change("pairs of actions", concerned=len(close))]


def leave_out_transitions(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counted:
    """Instances that get no question about how long they last."""
    verbs = set(vocabulary.folded[vocabulary.relations_named(vocabulary.lists.transition_verbs)].tolist())
    named = {vocabulary.action_at[action] for action in vocabulary.lists.transition_actions}
    short = [at for at, verb in enumerate(vocabulary.verb_of) if verb in verbs or at in named]
    return graphs, [Change("actions", concerned=graphs.actions.filter(among("action", short)).height)]
