"""What a question is grounded in, with sets and loops, from section 7 of the description of AGQA."""

from typing import Any

from judges.facts import INTERACTING, WORDS, Frames, Video, after, before, between, during, merged, seen
from judges.operators import meaning
from questree.benchmarks.agqa.templates import TIMES
from questree.stages.questions import Question
from questree.terms import ACTION, Node, Term, Word, fold

Nodes = list[str]


class Grounded:
    """One question and the video it is about; names: of the annotated frames."""

    def __init__(self, question: Question, video: Video, names: list[str]):
        self.question, self.video, self.names = question, video, names
        self.template, row = question.template.name, question.row
        self.relation = WORDS.relations[row["relation"]].id if "relation" in question.spans else ""
        self.actions = {"a": row["x"], "b": row["y"]}
        self.things = {"object": row["x"], "first": row["x"], "second": row["y"]}
        time = row["time"]
        self.kind, self.times = TIMES[time % 256], {"a": (time >> 8) % 256 - 1, "b": (time >> 16) - 1}
        self.window = self.frames_of_time()

    def expected(self) -> dict[str, Nodes]:
        """By "begin-end"."""
        return {f"{lo}-{hi}": self.nodes(name) for name, (lo, hi) in self.question.spans.items()}

    def nodes(self, name: str) -> Nodes:
        if name == "time":
            return [self.names[frame] for frame in sorted(self.window)]
        if name == "relation":
            return self.vertices(self.relation, self.relation_frames())
        if name in ("object", "first", "second"):
            thing = WORDS.objects[self.things[name]].id
            return self.vertices(thing, self.object_frames(name, thing))
        slot, _, inner = name.removeprefix("time.").partition(".")
        action = (self.times if name.startswith("time") else self.actions)[slot]
        return self.reference(slot, name.startswith("time")) if inner else [f"{WORDS.actions[action].id}/1"]

    def vertices(self, word: str, frames: Frames) -> Nodes:
        return [f"{word}/{self.names[frame]}" for frame in sorted(frames)]

    def frames_of_time(self) -> Frames:
        named = [WORDS.actions[at].id for at in self.times.values() if at >= 0]
        windows: dict[str, Any] = {"before": before, "after": after, "while": during, "between": between}
        return windows[self.kind](self.video, *named) if named else self.video.frames

    def related(self, *things: str) -> Frames:
        """The frames of the window on which the relation holds with one of the things."""
        return {frame for thing in things for frame in seen(self.video, self.relation, merged(thing))} & self.window

    def option(self, name: str) -> str:
        return WORDS.objects[self.things[name]].id

    def deciding(self) -> Frames:
        """The frame that settles a first, last or which-of-two question."""
        if "Choose" in self.template:
            frames = self.related(self.option("first"), self.option("second"))
        else:
            frames = seen(self.video, self.relation) & self.window
        if "Verify" in self.template and self.question.answer == "no":
            return set()
        return {max(frames) if "Last" in self.template else min(frames)}

    def relation_frames(self) -> Frames:
        if self.template == "relTime":
            return seen(self.video, self.relation)
        if self.template in ("relExists", "objWhat"):
            return seen(self.video, self.relation) & self.window
        if self.template == "objRelExists":
            return self.related(self.option("object"))
        if self.template in ("andObjRelExists", "xorObjRelExists"):
            return self.related(self.option("first"), self.option("second"))
        return self.deciding()

    def object_frames(self, name: str, thing: str) -> Frames:
        if self.template in ("objExists", "objTime"):
            frames = seen(self.video, INTERACTING, thing)
            return frames if self.template == "objTime" else frames & self.window
        if self.template in ("objRelExists", "andObjRelExists", "xorObjRelExists"):
            return self.related(thing)
        if "Choose" in self.template and self.question.answer != WORDS.objects[self.things[name]].name:
            return set()
        return self.deciding()

    def reference(self, slot: str, in_time: bool) -> Nodes:
        """An object reference inside an action: the object where it is found."""
        action = self.action_term(self.question.program, slot, in_time)
        assert isinstance(action, Node) and action.op.name == "to_action"
        term = action.args[1]
        assert isinstance(term, Node)
        thing = meaning(by_id(term), self.video, {})
        inner = term.args[0]
        first = inner.args[0] if isinstance(inner, Node) else inner  # only(objects(relation, ..))
        frames = seen(self.video, meaning(by_id(first), self.video, {}))
        at = {"first": min(frames), "last": max(frames)}.get(term.op.name)
        return self.vertices(thing, frames if at is None else {at})

    def action_term(self, term: Term, slot: str, in_time: bool) -> Term:
        if in_time:
            window = next(window for window in windows(term) if window.op.name != "whole")
            return window.args["ab".index(slot)]
        assert isinstance(term, Node)
        return term.args[-1] if slot == "b" else term.args[0]


def windows(term: Term) -> list[Node]:
    if not isinstance(term, Node):
        return []
    if term.kind.name == "window":
        return [term]
    return [window for arg in term.args for window in windows(arg)]


def by_id(term: Term) -> Term:
    """Actions are named by their ids for the judge."""

    def leaf(word: Any) -> Term:
        return Word(WORDS.actions[WORDS.action_at[word.name]].id, ACTION) if word.kind == ACTION else word

    return fold(term, leaf, lambda node, kids: Node(node.op, tuple(kids.values())))
