"""Questions about what a thing is related to, and how: QUERYOBJECT, CHOOSEOBJECT, CHOOSEREL."""

from collections.abc import Iterator
from dataclasses import dataclass

from questree.benchmarks.covr.forms import Template
from questree.benchmarks.covr.programs import inverse as inverse_program
from questree.domains.images.english import brings_article, inverse, is_verb, pronoun, target
from questree.domains.images.english import relation as said
from questree.domains.images.graph import Graph, Relation
from questree.stages.drafts.drafts import Draft, Slot, draft, refer, word
from questree.stages.drafts.sources import DraftSource

TWO_STEPS = ", two steps"  # forms that first say who is meant, then ask


@dataclass(frozen=True)
class AskedLeaf:
    """A leaf that may be asked for."""

    number: int
    subject: Slot
    who: str  # the subject's name
    link: str  # what leads from the subject to the leaf
    verb: str  # the same in English
    name: str  # of the leaf
    steps: str = ""  # which form asks for it

    @property
    def relation(self) -> Slot:
        return word(self.link, self.verb)


def query_object(source: DraftSource, template: Template) -> Draft | None:
    found = _asked(source)
    if found is None:
        return None
    asked, further = found
    sets = source.one_each(source.draws.some(source.images(f"{asked.number}_name"), 1), further)
    slots = {"R": asked.subject, "relation": asked.relation}
    return draft(template, f"object{asked.steps}", slots, (source.graph,), sets)


def choose_object(source: DraftSource, template: Template) -> Draft | None:
    found = _asked(source)
    if found is None:
        return None
    asked, further = found
    twin = f"{asked.number}_name"
    hit = source.draws.choice(source.hits_of([twin] if twin in source.hits else further))
    first, second = source.draws.shuffled([asked.name, source.name_at(hit, asked.number)])
    if first == second:
        return None
    slots = {
        "R": asked.subject,
        "relation": asked.relation,
        "first": word(first, target(asked.link, Graph(first), asked.who)),
        "second": word(second, target(asked.link, Graph(second), asked.who)),
    }
    sets = source.one_each([source.image_of(hit)] if twin in source.hits else [], further)
    return draft(template, f"objects{asked.steps}", slots, (source.graph,), sets)


def _asked(source: DraftSource) -> tuple[AskedLeaf, list[str]] | None:
    """A leaf, and the kinds of distractors with another one and a further change."""
    choices = [(asked, source.kinds_ending(f"_neg_object_{asked.number}")) for asked in _leaves(source.graph)]
    choices = [(asked, further) for asked, further in choices if further and not brings_article(asked.link)]
    return source.draws.choice(choices) if choices else None


def _leaves(graph: Graph) -> Iterator[AskedLeaf]:
    for number, relation in graph.elements:
        if relation.prepositions:
            yield from _after_prepositions(graph, number, relation)
        elif not relation.target.relations:
            rest = graph.without(relation)
            steps = TWO_STEPS if rest.relations and not is_verb(relation.name) else ""
            yield AskedLeaf(
                number + 1, refer(rest), rest.name, relation.name, said(relation.name), relation.target.name, steps
            )
        elif len(graph.relations) == 1 and len(relation.target.relations) == 1:
            last, described = relation.target.relations[0], (inverse_program(graph), inverse(graph))
            name = relation.target.name
            yield AskedLeaf(number + 3, described, name, last.name, said(last.name), last.target.name, TWO_STEPS)


def _after_prepositions(graph: Graph, number: int, relation: Relation) -> Iterator[AskedLeaf]:
    """Of "erasing a mark from a board": what is it erased from?"""
    number += 1 + relation.target.length
    for preposition in relation.prepositions:
        left = tuple(each for each in relation.prepositions if each is not preposition)
        kept = tuple(Relation(r.name, r.target, left) if r is relation else r for r in graph.relations)
        verb = f"{said(relation.name)} {pronoun(relation.target.name)} {said(preposition.name)}"
        subject = refer(Graph(graph.name, graph.attribute, kept))
        yield AskedLeaf(number + 1, subject, graph.name, preposition.name, verb, preposition.target.name)
        number += 1 + preposition.target.length


def choose_relation(source: DraftSource, template: Template) -> Draft | None:
    graph = source.graph
    further = source.kinds_ending("_neg_relation_1")
    if graph.length != 3 or not further:
        return None
    (relation,), twin = graph.relations, "1_relation"
    hit = source.draws.choice(source.hits_of([twin] if twin in source.hits else further))
    other = source.relation_at(hit, 1)
    if relation.name == other or brings_article(relation.name) or brings_article(other):
        return None
    first, second = source.draws.shuffled([relation.name, other])
    slots = {
        "R": refer(Graph(graph.name, graph.attribute)),
        "B": refer(relation.target),
        "first": word(first, said(first)),
        "second": word(second, said(second)),
    }
    sets = source.one_each([source.image_of(hit)] if twin in source.hits else [], further)
    return draft(template, "relations", slots, (graph,), sets)
