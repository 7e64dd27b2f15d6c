"""Videos in which only actions are annotated, and what follows from actions alone: all that is about actions, and
whether or when the verb of an action was done to its object."""

from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks.agqa.editions import edition_of
from questree.benchmarks.agqa.templates import Template
from questree.columns.joins import Ints
from questree.columns.sets import Flags
from questree.domains.video.atoms import interaction
from questree.domains.video.facts import ANY
from questree.domains.video.objects import choose, choose_first, choose_last
from questree.stages.generate.localised import TOGETHER, pieces
from questree.stages.generate.rules import Tally
from questree.tables.facts import TRACKS, VIDEOS
from questree.tables.run import Run
from questree.tables.store import own_note
from questree.terms import Node, walk
from questree.vocabulary.words import Vocabulary

NOTED = "actions_only"  # where the plan of the questions counts such videos
UNSAID = "actions alone do not say"  # why a candidate is rejected
OWN_PAIRS = (interaction, choose, choose_first, choose_last)  # they look at nothing but the pairs they name


def actions_only(run: Run) -> Flags:
    """[video] has it no annotated relation? Nobody knows then what the person did besides its actions; in a made-up
    world, whose truth lies beside it, everything is known."""
    count = len(run.table("facts", VIDEOS))
    if run.truth.is_dir() or not run.raw.is_dir():
        return np.zeros(count, bool)
    given = ~pl.col("relation").is_in(run.vocabulary().group("derived").tolist())
    found = np.ones(count, bool)
    for begin, _, rows in run.stored("raw").ranges(TRACKS.only("video", "relation")):
        found[begin + rows.filter(given)["video"].unique().to_numpy().astype(np.int64)] = False
    return found


def needs_relations(template: Template) -> bool:
    """Does its answer rest on what else was annotated, besides actions and the pairs it names?"""
    return rests_on_relations(template.node)


def rests_on_relations(program: Node) -> bool:
    for term in walk(program):
        if isinstance(term, Node) and term.op not in OWN_PAIRS:
            kinds = {kind.name for kind in (*term.op.params.values(), term.op.result)}
            if not kinds.isdisjoint(("object", "objects", "relation")):
                return True
    return False


def undecided(core: Any) -> Flags:
    """[core] does it ask about a pair of which the actions of its video say nothing? Yes follows from an action of this
    verb and object; no follows in another part of a video with such an action, where nothing else is done to the
    object: after taking a bag people may well hold it."""
    found = np.zeros(len(core.row), bool)
    rows = np.flatnonzero(core.chunk.actions_only[core.args.video[core.row]])
    if not {"relation", "object"} <= core.template.features or not len(rows):
        return found
    done = pairs_done(core.chunk.world, core.words.vocabulary)
    for piece in pieces(len(rows), TOGETHER):
        found[rows[piece]] = ~follows(core.take(rows[piece]), done)
    return found


def follows(core: Any, done: Ints) -> Flags:
    """[core] does its answer follow from pairs that were done in its video?"""
    world, words, video, decided = core.world, core.words.vocabulary, core.args.video[core.row], []
    for thing in core.things:
        own = np.isin(pair_key(words, video, core.relation, thing), done)
        merged = words.merged_object[thing]
        holds = world.holds(words.folded[core.relation], merged, core.window)
        decided.append(own & (holds | ~world.holds(ANY, merged, core.window)))
    return np.asarray(reduce(and_, decided))


def pairs_done(world: Any, vocabulary: Vocabulary) -> Ints:
    """Keys of the (video, verb, object) of the actions that occur."""
    video, action = world.deeds()
    kept = vocabulary.done_to[action] >= 0
    return pair_key(vocabulary, video[kept], vocabulary.verb_of[action[kept]], vocabulary.done_to[action[kept]])


def pair_key(vocabulary: Vocabulary, video: Ints, relation: Ints, thing: Ints) -> Ints:
    return (video.astype(np.int64) * len(vocabulary.relations) + relation) * len(vocabulary.objects) + thing


def told(run: Run) -> Iterator[str]:
    """What the questions of such videos are about, as noted when they were made."""
    plan = run.questions / "plan.json"
    note = own_note(plan, "options") if plan.is_file() else {}
    if not (bare := note.get(NOTED, 0)):
        return
    of = f"{bare:,} of {len(run.table('facts', VIDEOS)):,} videos have no annotated relations"
    if note["options"].get("closed_world"):
        yield f"{of}: what nobody annotated there is taken for absent (--closed-world)"
        return
    names = [each.name for each in edition_of(note["options"]).templates if needs_relations(each)]
    yield f"{of}: asked is what follows from their actions alone, not asked are {', '.join(names)} (but --closed-world)"


def drop_undecided(core: Any, weight: Ints, tally: Tally) -> tuple[Any, Ints]:
    if not core.chunk.actions_only.any():
        return core, weight
    failed = undecided(core)
    tally.reject(UNSAID, weight[failed].sum())
    kept = np.flatnonzero(~failed)
    return core.take(kept), weight[kept]
