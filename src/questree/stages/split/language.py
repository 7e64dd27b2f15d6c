"""The language of predicates: `has(before, action="standing up") & ~has(first)`, read with all its faults."""

from collections.abc import Callable, Iterator

from questree.benchmarks.agqa import held_out
from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.templates import TIMES, Template
from questree.domains.video import VIDEO
from questree.readings.answer import spell
from questree.stages.split import predicates
from questree.stages.split.algebra import Has, Predicate, PredicateWord
from questree.stages.split.grammar import PredicateReader, Wrong, check
from questree.vocabulary.words import Vocabulary

FLAGS = {name: 1 << bit for bit, name in enumerate(held_out.FLAGS)}
FLAGS |= {"novel": held_out.NOVEL, "indirect": held_out.INDIRECT}
OF_TEMPLATE: dict[str, Callable[[Template], tuple[str, ...]]] = {
    "template": lambda t: (t.name,),
    "structure": lambda t: (t.categories.structural,),
    "semantic": lambda t: (t.categories.semantic,),
    "reasoning": lambda t: t.categories.reasoning,
    "type": lambda t: (t.answer_type,),
}
WORDS = ("action", "object", "relation")
KNOWN = ("has", "uses", *OF_TEMPLATE, "time", "answer", "steps", "more_steps", *FLAGS)


class VideoReader(PredicateReader):
    known = KNOWN

    def __init__(self, text: str, vocabulary: Vocabulary, most_steps: tuple[int, ...], edition: Edition):
        super().__init__(text)
        self.vocabulary = vocabulary
        self.most_steps = most_steps
        self.edition, self.templates = edition, edition.by_code

    def atom(self, name: str) -> Predicate:
        if name in FLAGS:
            return predicates.Flags(name, FLAGS[name])
        if name == "more_steps":
            return predicates.MoreSteps(self.most_steps)
        if name == "steps":
            return self.steps()
        plain, named = self.arguments(name)
        if name in ("has", "uses"):
            return self.program(name, plain, named)
        if named or not plain:
            raise Wrong(f"{name}(...) takes one or more values")
        if name == "time":
            check("time", plain, list(TIMES))
            return predicates.Time(plain, tuple(TIMES.index(kind) for kind in plain))
        if name == "answer":
            return self.answer(plain)
        valid = list(dict.fromkeys(value for t in self.edition.templates for value in OF_TEMPLATE[name](t)))
        check(name, plain, valid)
        return predicates.OfTemplate(
            name, plain, tuple(bool(set(plain) & set(OF_TEMPLATE[name](t))) for t in self.templates)
        )

    def steps(self) -> predicates.Steps:
        relation = self.take().text
        number = self.take()
        if relation not in predicates.COMPARE or number.kind != "number":
            raise Wrong(f"at {number.at}: steps are compared with a number, as in (steps > 4)")
        return predicates.Steps(relation, int(number.text))

    def program(self, name: str, plain: tuple[str, ...], named: dict[str, str]) -> Has:
        if len(plain) != (name == "has") or (name == "uses" and not named):
            usage = "has(operator, action=..., object=..., relation=...)" if name == "has" else 'uses(action="...")'
            raise Wrong(f"{name}: expected {usage}")
        check("operator", plain, list(VIDEO.ops))
        check("kind of word", tuple(named), list(WORDS))
        return Has(plain[0] if plain else "", tuple(self.word(kind, name) for kind, name in named.items()))

    def word(self, kind: str, name: str) -> PredicateWord:
        at = getattr(self.vocabulary, f"{kind}_at")
        check(kind, (name,), list(at))
        return PredicateWord(kind, at[name], name)

    def answer(self, values: tuple[str, ...]) -> predicates.Answer:
        spelled = [{a: code for code, a in self.spellings(template)} for template in self.templates]
        check("answer", values, sorted({answer for own in spelled for answer in own}))
        return predicates.Answer(values, tuple(frozenset(own[v] for v in values if v in own) for own in spelled))

    def spellings(self, template: Template) -> Iterator[tuple[int, str]]:
        kind = template.node.kind
        count = len(getattr(self.vocabulary, kind.words)) if kind.words else 2
        return ((code, spell(kind, code, self.vocabulary) or "") for code in range(count))


def read(text: str, vocabulary: Vocabulary, most_steps: tuple[int, ...] = (), edition: Edition = SECOND) -> Predicate:
    """The predicate a text says; most_steps: per template, for `more_steps`."""
    return VideoReader(text, vocabulary, most_steps, edition).whole()
