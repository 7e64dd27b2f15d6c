"""What a question about a video is about, with sets and loops: (object, frame) of everything that is relevant."""

from judges.facts import ANNOTATED, PERSON, WORDS, Frames, Video, exists, happening, merged, named, seen, things
from judges.naive_grounding import Grounded
from questree.benchmarks.agqa.templates import ACTION_REFERENCES, INDIRECT, REFERENCES
from questree.stages.questions import Question, Shard
from questree.terms import slots

ALONE = ("relExists", "objWhat", "objFirst", "objLast", "relTime", "objFirstVerify", "objLastVerify")
ACTION_ANSWER = ("actWhatAfterAll", "actWhatBefore", "actFirst", "actLast", "actLongest", "actShortest")
LENGTHS = ("actLengthLongerChoose", "actLengthShorterChoose")
Spots = set[tuple[str, int]]


class Relevant(Grounded):
    def __init__(self, question: Question, video: Video, shard: Shard):
        super().__init__(question, video, [str(frame) for frame in range(len(video.seconds))])
        self.shard = shard
        if not self.relation and self.template in ALONE:  # its span may be left out of the text, its word is not
            self.relation = WORDS.relations[question.row["relation"]].id

    def spots(self) -> Spots:
        found = self.named_objects() | self.of_the_relation() | self.of_the_answer() | self.of_sides()
        return found | {(PERSON, frame) for _, frame in found} | {(PERSON, frame) for frame in self.action_frames()}

    def named_objects(self) -> Spots:
        found: Spots = set()
        for slot in self.slots("object", "first", "second"):
            thing = self.option(slot)
            frames = self.object_frames(slot, thing) or exists(self.video, thing) & self.window
            found |= {(merged(thing), frame) for frame in frames}
        return found

    def slots(self, *names: str) -> list[str]:
        return [name for name in slots(self.question.template.node) if name in names]

    def of_the_relation(self) -> Spots:
        """Whatever has it, where no object is named beside it."""
        if self.template == "objWhatGeneral":
            return {(o, frame) for frame in self.window for o in things(self.video, ANNOTATED, frame)}
        if self.template not in ALONE:
            return set()
        return {(o, frame) for frame in self.relation_frames() for o in things(self.video, self.relation, frame)}

    def answered(self) -> tuple[str, Frames] | None:
        if self.template in (*ACTION_ANSWER, *LENGTHS):
            action = WORDS.actions[self.question.row["answer"]].id
            return action, happening(self.video, action) & self.window
        return None

    def of_the_answer(self) -> Spots:
        found = self.answered()
        return done_to(*found) if found else set()

    def actions_said(self) -> list[dict[str, int]]:
        """The rows of the actions that are said: kind, action, reference."""
        sides = [("first", slot) for slot in self.slots("a")] + [("second", slot) for slot in self.slots("b")]
        rows = [self.question.row[side] for side, _ in sides]
        phrase = self.shard.side("phrases", self.question.video, self.question.row["phrase"])
        rows += [phrase[side] for side in "ab" if phrase[side] != 65535]
        return [self.shard.side("action_references", self.question.video, row) for row in rows]

    def of_sides(self) -> Spots:
        found: Spots = set()
        for said in self.actions_said():
            action = WORDS.actions[said["action"]].id
            found |= done_to(action, happening(self.video, action))
            if ACTION_REFERENCES[said["kind"]] == INDIRECT:
                found |= self.referred(said["reference"])
        if not self.question.template.every_object:
            columns = {"object": "first", "first": "first", "second": "second"}
            for slot in self.slots(*columns):
                found |= self.referred(self.question.row[columns[slot]])
        return found

    def referred(self, row: int) -> Spots:
        """The object a reference stands for, where it is found."""
        said = self.shard.side("references", self.question.video, row)
        kind, thing = REFERENCES[said["kind"]], merged(WORDS.objects[said["object"]].id)
        if kind == "direct":
            return set()
        frames = seen(self.video, WORDS.relations[said["relation"]].id)
        return {
            (thing, frame)
            for frame in ({min(frames)} if kind == "first" else {max(frames)} if kind == "last" else frames)
        }

    def action_frames(self) -> Frames:
        """Of every action that is said or answered, with or without an object."""
        said = [WORDS.actions[said["action"]].id for said in self.actions_said()]
        found = {frame for action in said for frame in happening(self.video, action)}
        answered = self.answered()
        return found | (answered[1] if answered else set())


def done_to(action: str, frames: Frames) -> Spots:
    return {(named(action), frame) for frame in frames} if named(action) else set()
