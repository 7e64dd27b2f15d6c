"""What fills the slots of one question, said twice: as a term of its program and as phrases of its text."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from questree.benchmarks.agqa import phrases
from questree.benchmarks.agqa.frames import Forms
from questree.benchmarks.agqa.templates import ALL, TIMES, WHOLE
from questree.domains.video import VIDEO
from questree.notation.grammar import name
from questree.tables.questions import time_actions, time_kind
from questree.terms import ACTION, OBJECT, RELATION, Kind, Term, Word
from questree.vocabulary.words import Vocabulary

OP = VIDEO.ops


class Argument(NamedTuple):
    term: Term
    forms: Forms


@dataclass(frozen=True)
class ArgumentMaker:
    """Makes arguments out of positions in a vocabulary; numbers choose among several ways to say the same."""

    vocabulary: Vocabulary
    edition: str = "2.0"
    words: dict[tuple[Kind, int], Argument] = field(default_factory=dict, repr=False, compare=False)  # made before

    def relation(self, at: int) -> Argument:
        return self._word(RELATION, at, phrases.relation)

    def object(self, at: int) -> Argument:
        return self._word(OBJECT, at, phrases.noun)

    def action(self, at: int) -> Argument:
        return self._word(ACTION, at, phrases.action)

    def _word(self, kind: Kind, at: int, forms: Callable[[int, Vocabulary], Forms]) -> Argument:
        if (kind, at) not in self.words:
            self.words[kind, at] = Argument(Word(name(kind, at, self.vocabulary), kind), forms(at, self.vocabulary))
        return self.words[kind, at]

    def object_reference(self, kind: str, relation: int, wording: int, time: Argument | None = None) -> Argument:
        """An object named by its relation, over the whole video or (edition 1.0) over a time of its own."""
        said, window = self.relation(relation), time.term if time else OP["whole"]()
        term = OP["only"](OP["objects"](said.term, window)) if kind == WHOLE else OP[kind](said.term, window)
        return Argument(term, phrases.object_reference(kind, said.forms, wording, time.forms if time else None))

    def action_reference(self, kind: str, wording: int) -> Argument:
        return Argument(OP[kind](), phrases.action_reference(kind, wording))

    def indirect_action(self, at: int, reference: Argument) -> Argument | None:
        """An action whose object is a reference; None where its phrase has no noun to replace."""
        forms = phrases.indirect_action(at, reference.forms, self.vocabulary)
        verb = Word(self.vocabulary.relations[self.vocabulary.verb_of[at]].name, RELATION)
        return None if forms is None else Argument(OP["to_action"](verb, reference.term), forms)

    def relation_reference(self, object: int) -> Argument:
        """Edition 1.0: the relation named by what was done first to an object."""
        return Argument(
            OP["first_done_to"](self.object(object).term), phrases.relation_reference(object, self.vocabulary)
        )

    def packed_time(self, time: int, wording: int) -> Argument:
        """A time as tables pack it."""
        actions = [self.action(at) for at in time_actions(time) if at >= 0]
        return self.time(TIMES[time_kind(time)], wording, *actions)

    def time(self, kind: str, wording: int, *actions: Argument) -> Argument:
        said = {slot: action.forms for slot, action in zip("ab", actions, strict=False)}
        term = OP["whole" if kind == ALL else kind](*(action.term for action in actions))
        return Argument(term, phrases.time(kind, said, wording, self.edition))
