"""Cores: direct arguments in a span, with every column the rules may look at, computed when it is looked at."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from questree.benchmarks.agqa.templates import BOTH, NOT_BOTH, SIDES, UNDECIDED, Template
from questree.columns.joins import Ints
from questree.columns.sets import Sets, has, joined, some
from questree.domains.video import VIDEO, Videos
from questree.notation.own import parse
from questree.readings.answer import answer
from questree.stages.generate.arguments import DirectArguments
from questree.stages.generate.localised import VideoChunk, pieces
from questree.stages.generate.word_columns import WordColumns
from questree.terms import ACTION, BOOL, OBJECT, Node, Slot, Term, walk
from questree.vocabulary.words import Vocabulary


def _frames(yes: Ints) -> Ints:
    """A yes/no column as the kind frames: [row, 1]."""
    return yes.astype(np.uint64)[:, None]


def _choice(local: "Local") -> Ints:
    """The one of two objects that holds and stops holding inside the window."""
    x, y = has(local.objects, local.x), has(local.objects, local.y)
    chosen = np.where(x, local.x, local.y)
    return np.where((x != y) & has(local.closing, chosen), chosen, -1)


# Programs read off the localised relations (`Local`) instead of the frames; the tests hold every law against the
# operators themselves. Those of the choices hold for what passes their rules: without these there is no such law.
LAWS: dict[str, Callable[[Any], Ints]] = {
    "objects($relation, $time)": lambda local: local.objects,
    "annotated($time)": lambda local: local.objects,
    "first($relation, $time)": lambda local: local.first,
    "last($relation, $time)": lambda local: local.last,
    "within(doing($relation), $time)": lambda local: _frames(some(local.objects)),
    "within(interacting($object), $time)": lambda local: _frames(has(local.objects, local.x)),
    "within(interaction($relation, $object), $time)": lambda local: _frames(has(local.objects, local.x)),
    "within(interaction($relation, $first), $time)": lambda local: _frames(has(local.objects, local.x)),
    "within(interaction($relation, $second), $time)": lambda local: _frames(has(local.objects, local.y)),
    "choose($relation, $time, $first, $second)": _choice,
    "choose_first($relation, $time, $first, $second)": lambda local: local.first,
    "choose_last($relation, $time, $first, $second)": lambda local: local.last,
}
PROGRAMS: dict[Term, Callable[[Any], Ints]] = {parse(text, VIDEO): law for text, law in LAWS.items()}
CONDITIONS = {  # operator -> the rules without which its law does not hold
    "choose": {BOTH},
    "choose_first": {NOT_BOTH, UNDECIDED},
    "choose_last": {NOT_BOTH, UNDECIDED},
}


def lawful(term: Node, template: Template) -> bool:
    """Does the law of a sub-program hold, under the template's rules and for what fills its slots?"""
    anything = template.every_object and bool(template.relations)  # a class that was merged into another has no track
    return CONDITIONS.get(term.op.name, set()) <= set(template.rules) and not anything


def relation_read(term: Node, vocabulary: Vocabulary) -> int | None:
    """The relation in whose localised columns a law looks: None is the relation asked about."""
    names = {inner.op.name for inner in walk(term) if isinstance(inner, Node)}
    if "interacting" in names:
        return vocabulary.relation_at[vocabulary.interacting]
    return vocabulary.relation_at[vocabulary.annotated] if "annotated" in names else None


def lawful_parts(template: Template) -> list[Node]:
    """The largest sub-programs of a template that laws give."""
    return list(dict.fromkeys(_parts(template.node, template)))


def _parts(term: Term, template: Template, asked: bool = True) -> Iterator[Node]:
    """asked: only whether it holds matters, not on which frames, which laws do not say."""
    if not isinstance(term, Node):
        return
    if term in PROGRAMS and lawful(term, template) and (asked or not term.kind.yes):
        yield term
        return
    for want, arg in zip(term.op.params.values(), term.args, strict=True):
        yield from _parts(arg, template, want == BOOL)


FRAMES = 1 << 20  # words of bits of frames in the columns that a program is run on at once
KEPT = ("answer", "x", "y")  # columns that are not computed again for some of the cores
SHARED = ("x", "y", "local")  # and for the same cores under another template


@dataclass(frozen=True)
class Core:
    template: Template
    chunk: VideoChunk
    args: DirectArguments
    row: Ints  # [core] of args, ascending
    span: Ints

    def take(self, kept: Ints | slice) -> "Core":
        """Only these cores, with what is known about them already."""
        few = Core(self.template, self.chunk, self.args, self.row[kept], self.span[kept])
        few.__dict__.update({name: self.__dict__[name][kept] for name in KEPT if name in self.__dict__})
        return few

    def asked_by(self, template: Template) -> "Core":
        """The same cores under another template: other answers."""
        other = Core(template, self.chunk, self.args, self.row, self.span)
        other.__dict__.update({name: self.__dict__[name] for name in SHARED if name in self.__dict__})
        if template is self.template and "answer" in self.__dict__:
            other.__dict__["answer"] = self.answer
        return other

    @property
    def words(self) -> WordColumns:
        return self.chunk.words

    @property
    def world(self) -> Videos:
        """The facts, asked about the video of each core."""
        return self.chunk.world.ask(self.args.video[self.row])

    @cached_property
    def relation(self) -> Ints:
        return self.args.relation[self.row]

    @cached_property
    def x(self) -> Ints:
        return self.args.x[self.row]

    @cached_property
    def y(self) -> Ints:
        return self.args.y[self.row]

    @property
    def things(self) -> list[Ints]:
        """The classes that fill the object slots."""
        return self._filled(OBJECT.name)

    @property
    def deeds(self) -> list[Ints]:
        """The actions that fill the action slots."""
        return self._filled(ACTION.name)

    def _filled(self, kind: str) -> list[Ints]:
        return [(self.x, self.y)[at] for at, slot in self.template.sides.items() if self.template.kinds[slot] == kind]

    @property
    def done_to(self) -> Ints:
        return self.args.done_to[self.row]

    @property
    def direct(self) -> Ints:
        """[core] a number for its direct arguments."""
        return self.args.direct[self.row] if self.words.edition.relation_references else self.row

    @cached_property
    def local(self) -> "Local":
        """What the relation asked about does in the span."""
        return Local(self, self.args.at)

    def local_of(self, relation: Any) -> "Local":
        """What another relation does in the span."""
        return Local(self, self.chunk.localised.at[self.args.video, relation])

    @cached_property
    def answer(self) -> Ints:
        """The template's program: by the laws of localised relations where they hold, and what does not depend on the
        time once per argument. Frames take much room in a long video."""
        if len(parts := list(pieces(len(self.row), FRAMES // self.chunk.world.words))) > 1:
            return np.concatenate([self.take(part).answer for part in parts])
        known: dict[Term, Ints] = {}
        for part in lawful_parts(self.template):
            relation = relation_read(part, self.words.vocabulary)
            known[part] = PROGRAMS[part](self.local if relation is None else self.local_of(relation))
        few = slice(self.row[0], self.row[-1] + 1) if len(self.row) else slice(0, 0)  # of the arguments
        for part in timeless(self.template.node, known) if "time" in self.template.kinds else ():
            world, slots = self.chunk.world.ask(self.args.video[few]), Slots(self.template, self.args)
            found = part.op.run(world, **{name: slots[arg.name][few] for name, arg in part.named()})  # type: ignore[union-attr]
            known[part] = found[self.row - few.start]
        return answer(self.template.node, self.world, Slots(self.template, self), known)

    @property
    def window(self) -> Ints:
        """[core, 4]"""
        return self.chunk.spans.window[self.span]

    @property
    def time_objects(self) -> Sets:
        """The objects of the actions in the time phrase or in the action slots."""
        words = self.words.vocabulary
        return self._with_deeds(self.chunk.spans.objects, words.object_of, len(words.objects))

    @property
    def time_verbs(self) -> Sets:
        words = self.words.vocabulary
        return self._with_deeds(self.chunk.spans.verbs, words.verb_of, len(words.relations))

    def _with_deeds(self, of_span: Sets, of_action: Ints, words: int) -> Sets:
        found = of_span[self.span]
        for deed in self.deeds:
            found = joined(found, of_action[deed], words)
        return found

    def in_time(self, action: Ints) -> Ints:
        """Is it an action of the time phrase?"""
        spans = self.chunk.spans
        return np.asarray((action == spans.a[self.span]) | (action == spans.b[self.span]))

    @property
    def decisive(self) -> Ints:
        return np.asarray(self.local.first if "choose_first" in self.template.operators else self.local.last)


def timeless(term: Term, known: Mapping[Term, Ints]) -> Iterator[Node]:
    """Frames of a program that depend on its direct arguments alone."""
    if term in known or not isinstance(term, Node):
        return
    if term.kind.name == "frames" and all(isinstance(arg, Slot) and arg.name != "time" for arg in term.args):
        yield term
        return
    for arg in term.args:
        yield from timeless(arg, known)


@dataclass(frozen=True)
class Slots(Mapping[str, Ints]):
    """The columns that fill the slots of a template, of its cores or its arguments, gathered when they are wanted."""

    template: Template
    filled: Any

    def __getitem__(self, slot: str) -> Ints:
        column = {"relation": "relation", "time": "window"}.get(slot) or "xy"[SIDES[slot]]
        return np.asarray(getattr(self.filled, column))

    def __iter__(self) -> Iterator[str]:
        return iter(self.template.kinds)

    def __len__(self) -> int:
        return len(self.template.kinds)


class Local:
    """Localised columns of a relation in the spans of the cores, gathered when they are wanted, and their objects.

    It does not know the cores: these know it, and what refers to each other stays in memory for a long time.
    """

    def __init__(self, core: Core, at: Ints):
        self.chunk, self.args, self.row, self.span = core.chunk, core.args, core.row, core.span
        self.at = at  # [argument] row of the localised relations, -1 if it does not occur
        self.__dict__.update({"xy"[side]: getattr(core, "xy"[side]) for side in core.template.sides})

    @cached_property
    def place(self) -> Ints:
        return self.chunk.place(self.args.video, self.at, self.row, self.span)

    def __getattr__(self, column: str) -> Any:
        """objects, first, last, closing. Called once per column, which is kept."""
        self.__dict__[column] = found = getattr(self.chunk.localised, column)[self.place]
        return found
