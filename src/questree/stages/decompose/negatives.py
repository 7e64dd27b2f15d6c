"""Objects that are not there: labelled absent by people, or asked about around an action that does not occur."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, reduce
from operator import and_
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl

from questree.columns.hashing import mix
from questree.columns.joins import against, starts
from questree.domains.video import Videos
from questree.domains.video.atoms import doing, exists, happening, interacting, interaction
from questree.domains.video.facts import ANY, KEY, anywhere
from questree.domains.video.kinds import WINDOW
from questree.domains.video.time import after, before, during, whole, within
from questree.faults import BadInput, Fault, refuse
from questree.readings.answer import evaluate
from questree.rules import NO
from questree.stages.decompose.expand import Batch, Block
from questree.stages.decompose.forms import NodeForms
from questree.stages.generate.unclassed import Related, done_in, from_actions, related
from questree.tables.nodes import ABSENT
from questree.terms import ACTION, BOOL, OBJECT, RELATION, Array, Node, Op, Slot, slots, walk
from questree.vocabulary.words import NONE, Vocabulary

COLUMNS = ("video", "object")
SHAPES = 'expected a CSV file with the columns video,object, or a JSON file {"<video>": ["<object>", ..], ..}'


class Label(NamedTuple):
    place: str  # in the file
    video: str
    object: str


def read_labels(path: Path, videos: Iterable[str], vocabulary: Vocabulary) -> pl.DataFrame:
    """The labels of a file as rows of ABSENT, by video and object; all that is wrong is told at once."""
    rows = {name: at for at, name in enumerate(videos)}
    found: dict[tuple[int, int], None] = {}
    faults: list[Fault] = []
    for label in labels_of(path):
        wrong = fault(label, rows, vocabulary)
        pair = (rows.get(label.video, -1), vocabulary.object_at.get(label.object, -1))
        if not wrong and pair in found:
            wrong = f"{label.object!r} is labelled twice for video {label.video!r}"
        if wrong:
            faults.append(Fault(f"{path}, {label.place}", wrong))
        found[pair] = None
    refuse(faults)
    return pl.DataFrame(sorted(found), schema=dict(ABSENT.types(vocabulary.wide)), orient="row")


def fault(label: Label, rows: dict[str, int], vocabulary: Vocabulary) -> str:
    """What is wrong with a label, "" if nothing is."""
    if label.video not in rows:
        return f"no video {label.video!r} here{like(label.video, rows)}"
    at = vocabulary.object_at.get(label.object)
    if at is None:
        names = [word.name for word in vocabulary.objects]
        return f"no object {label.object!r} in the vocabulary {vocabulary.name}{like(label.object, names)}"
    counted = vocabulary.objects[vocabulary.merged_object[at]].name
    if counted != vocabulary.objects[at].name:
        return f"{label.object!r} is counted as {counted!r}; label that"
    if counted in vocabulary.lists.always_there:
        never = ", ".join(vocabulary.lists.always_there)
        return f"{label.object!r} is in nearly every video, annotated or not; nobody is asked about {never}"
    return ""


def like(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, list(names), 3)
    return f"; did you mean {', '.join(near)}?" if near else ""


def labels_of(path: Path) -> Iterator[Label]:
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror}); {SHAPES}") from error
    except UnicodeDecodeError as error:
        raise BadInput.at(path, f"not UTF-8 ({error.reason}); {SHAPES}") from error
    return from_json(path, text) if path.suffix == ".json" else from_csv(path, text)


def from_json(path: Path, text: str) -> Iterator[Label]:
    try:
        found = msgspec.json.decode(text, type=dict[str, list[str]])
    except msgspec.MsgspecError as error:
        raise BadInput.at(path, f"{error}; {SHAPES}") from error
    for video, objects in found.items():
        yield from (Label(f"video {video}, label {number}", video, name) for number, name in enumerate(objects, 1))


def from_csv(path: Path, text: str) -> Iterator[Label]:
    table = csv.DictReader(text.splitlines())
    if not set(COLUMNS) <= set(table.fieldnames or ()):
        raise BadInput.at(path, f"its columns are {', '.join(table.fieldnames or ('none',))}; {SHAPES}")
    for row in table:
        yield Label(f"line {table.line_num}", *((row[name] or "").strip() for name in COLUMNS))


TIMES = (before, after, during)
ENDS = ("first", "last", "choose_first", "choose_last")  # what else has the relation may come before or after
THING = Slot("object", OBJECT)
Pairs = tuple[Array, Array]  # (video, object) or (video, action), each [row], by video


def about_existence(node: Node) -> bool:
    """Does it ask whether an object is there, at all or in a time?"""
    return _asks(node, exists)


def about_doing(node: Node) -> bool:
    """Does it ask whether a relation has any object, at all or in a time?"""
    return _asks(node, doing)


def _asks(node: Node, op: Op) -> bool:
    return node.op is op or (node.op is within and isinstance(node.args[0], Node) and node.args[0].op is op)


@dataclass(frozen=True)
class Negatives:
    """What is known not to be in the videos of a shard; videos are counted from its first one."""

    labels: pl.DataFrame = field(default_factory=ABSENT.empty)
    world: Videos | None = None  # without it nobody knows which actions do not occur
    invalid: int = 0  # actions per video that do not occur, to ask about objects around them
    actions_only: Array | None = None  # [video] has it no annotated relations? Then nobody knows what else was done

    @property
    def labelled_pairs(self) -> Pairs:
        video, thing = (self.labels[name].to_numpy().astype(np.int64) for name in ("video", "object"))
        return video, thing

    @cached_property
    def believed(self) -> "Negatives":
        """Without the labels of objects that facts show; those are told as contradictions."""
        if self.world is None:
            return self
        video, thing = self.labelled_pairs
        missing = ~anywhere(exists.run(self.world.ask(video), thing))
        return replace(self, labels=self.labels.filter(pl.Series(missing)))

    def labelled(self, block: Block, forms: NodeForms) -> Array:
        """[node] does it ask whether an object is there that was labelled absent?"""
        if not about_existence(block.form.node) or not len(self.labels):
            return np.zeros(len(block), bool)
        event = block.form.node.args[0] if block.form.node.op is within else block.form.node
        assert isinstance(event, Node) and isinstance(event.args[0], Slot)
        thing = forms.vocabulary.merged_object[block.values[event.args[0].name]]
        videos, things = self.labelled_pairs
        return np.isin(block.video * KEY + thing, videos * KEY + things)

    def nowhere(self, block: Block) -> Array:
        """[node] does it ask for an action that does not occur, or whether an object is there around such an action?"""
        found = np.zeros(len(block), bool)
        if self.world is None or not (block.form.node.op is happening or about_existence(block.form.node)):
            return found
        for term in [arg for arg in block.form.node.args if isinstance(arg, Node)] or [block.form.node]:
            for leaf in term.args:
                if isinstance(leaf, Slot) and leaf.kind == ACTION:
                    found |= never(self.world.ask(block.video), block.values[leaf.name])
        return found

    def hidden(self, block: Block, answers: Array) -> Array:
        """[node] is its answer what has no class, or might an action or a relation without a class change it? Of two
        parts that are joined only those are asked that it does not change."""
        node, found = block.form.node, np.zeros(len(block), bool)
        if self.world is None:
            return found
        words, kind = self.world.vocabulary, node.kind
        if kind in (OBJECT, ACTION):
            other = words.other_at if kind == OBJECT else words.other_action_at
            found = (answers == other) & (other != NONE)
        asked = {name: slot.kind for name, slot in slots(node).items()}
        sure = set(node.op.params.values()) == {BOOL} or not {OBJECT, RELATION} & {*asked.values()}
        if sure or about_existence(node):
            return np.asarray(found)
        if words.other_relation_at != NONE:
            found = found | self.unclear(block, answers)
        if words.other_action_at == NONE:
            return np.asarray(found)
        related = [words.folded[block.values[name]] for name, kind in asked.items() if kind == RELATION]
        may = reduce(and_, (from_actions(words)[own] for own in related), np.ones(len(block), bool))
        world = self.world.ask(block.video)
        window = next((term for term in walk(node) if isinstance(term, Node) and term.kind == WINDOW), whole())
        there = done_in(world, evaluate(window, world, block.values).values[window])
        return np.asarray(found | (may & there & ((answers == NO) | (not kind.yes))))

    @cached_property
    def related(self) -> Related:
        assert self.world is not None
        return related(self.world)

    def unclear(self, block: Block, answers: Array) -> Array:
        """[node] might a relation without a class change its answer? A pair's only if its object has one."""
        assert self.world is not None
        node, asked = block.form.node, self.related.at(block.video)
        things = [block.values[name] for name, slot in slots(node).items() if slot.kind == OBJECT]
        pair = things and any(_asks(node, op) for op in (interaction, interacting))
        there = asked.any_of([self.world.vocabulary.merged_object[things[0]]]) if pair else asked.there
        certain = node.kind.yes and {term.op.name for term in walk(node) if isinstance(term, Node)}.isdisjoint(ENDS)
        return np.asarray(there & ((answers == NO) | (not certain)))

    def batches(self, forms: NodeForms, seeds: Array, first: int) -> Iterator[Batch]:
        """Questions that are asked because their answer is no, numbered from `first` on."""
        assert self.world is not None
        video, thing = self.labelled_pairs
        yield Batch(forms.canonical(exists(THING))[0], video, (thing,), np.arange(first, first + len(video)))
        first += len(video)
        for things, actions in (
            (self.believed.labelled_pairs, occurring(self.world)),
            (there(self.world), drawn(self.world, seeds, self.invalid)),
        ):
            for batch in timed(things, actions, forms, len(self.world.ids), first):
                yield batch
                first += len(batch.question)


def timed(things: Pairs, actions: Pairs, forms: NodeForms, videos: int, first: int) -> Iterator[Batch]:
    """Is each thing there before, after, while each action of its video?"""
    row, at = against(things[0], starts(actions[0], videos))
    video, thing, action = things[0][row], things[1][row], actions[1][at]
    alone = forms.vocabulary.noun_of[action] == NONE
    for time in TIMES:
        for single in (False, True):
            own = np.flatnonzero(alone == single)
            form, _ = forms.canonical(within(exists(THING), time(Slot("action", ACTION, alone=single))))
            yield Batch(form, video[own], (thing[own], action[own]), np.arange(first, first + len(own)))
            first += len(own)


def occurring(world: Videos) -> Pairs:
    """Actions that may stand in a time phrase."""
    video, action = world.deeds()
    kept = ~np.isin(action, unlocalised(world))
    return video[kept], action[kept]


def there(world: Videos) -> Pairs:
    """Objects that are seen, but for those nearly every video shows."""
    video, relation, thing = world.tracks()
    kept = (relation == ANY) & (thing != ANY) & anywhere(world.bits[:-1])
    always = (world.vocabulary.person, *world.vocabulary.lists.always_there)
    kept &= ~np.isin(thing, world.vocabulary.objects_named(always))
    return video[kept], thing[kept]


def drawn(world: Videos, seeds: Array, count: int) -> Pairs:
    """So many actions of each video that do not occur in it, by a keyed hash."""
    words, videos = world.vocabulary, len(world.ids)
    allowed = (words.merged_action == np.arange(len(words.actions))) & ~np.isin(
        np.arange(len(words.actions)), unlocalised(world)
    )
    actions = np.flatnonzero(allowed)
    video, action = np.repeat(np.arange(videos), len(actions)), np.tile(actions, videos)
    kept = never(world.ask(video), action)
    video, action = video[kept], action[kept]
    order = np.lexsort((mix(seeds[video], action, len(words.actions)), video))
    place = np.arange(len(video)) - starts(video, videos)[video]
    few = order[place < count]
    return video[few], action[few]


def unlocalised(world: Videos) -> list[int]:
    return world.vocabulary.never_localised


def never(world: Videos, action: Array) -> Array:
    """[row] the action does not occur, and neither does its verb with its object, which would read the same; of an
    action that does not name its object, with any. A relation without a class may be this verb."""
    words = world.vocabulary
    thing = words.done_to[words.merged_action[action]]
    asked = np.where(thing == words.unnamed_at, ANY, np.maximum(thing, 0))
    seen = anywhere(world.track(words.verb_of[words.merged_action[action]], asked))
    seen |= related(world).at(world.row).about(thing)
    seen &= thing != NONE
    return np.asarray((world.action(action, "count") == 0) & ~world.unseen(words.merged_action[action]) & ~seen)
