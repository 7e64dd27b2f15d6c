"""Drafts that ask for a word, or whether it is said of something: attributes, objects, relations."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from questree.benchmarks.covr.forms import ImageTemplate
from questree.benchmarks.covr.forms import inverse as inverse_program
from questree.domains.images.english import (
    MADE_OF,
    Forms,
    after_is,
    are_of,
    can_follow_is,
    countable,
    inverse,
    pronoun,
    reads_well,
    reference,
    target,
)
from questree.domains.images.graph import Graph, GraphRelation
from questree.domains.images.links import asked_together, asks_for, auxiliary, brings_article, is_verb, said_of
from questree.domains.images.links import relation as said
from questree.stages.drafts.sources import (
    FURTHER,
    UNCOUNTED,
    DraftSource,
    Images,
    Made,
    Slot,
    draft,
    refer,
    word,
)

# why a reference has no question of a template
PLAIN = "without an attribute"
NEVER_SAID = 'whose attribute never follows "is"'
UNGROUPED = "whose attribute is of no group (ontology of the word tables)"
NO_FURTHER = "without an image that has another attribute and a further change"
SAME_TWICE = "whose second reference is the same"
AWKWARD = "whose second reference says something twice"
NO_LEAF = "without a relation whose end differs in an image with a further change"
NO_OTHER_LINK = "without a relation that another excludes in some image (word tables)"
TWIN = "0_attr"  # images where the thing has an attribute that excludes the root's


def verify_attribute(source: DraftSource, template: ImageTemplate) -> Made:
    attribute, further = source.graph.attribute, source.kinds_ending(FURTHER)
    if attribute is None or not further:
        return NO_FURTHER if attribute else PLAIN
    if not can_follow_is(attribute):
        return NEVER_SAID
    slots = {"R": source.without_attribute, "attribute": word(attribute, after_is(attribute))}
    sets = source.one_each(source.draws.some(source.images(TWIN), 1), further)
    return draft(template, "attribute", slots, (source.graph,), sets, source.graph.is_long)


def choose_attribute(source: DraftSource, template: ImageTemplate) -> Made:
    attribute, further = source.graph.attribute, source.kinds_ending(FURTHER)
    if attribute is None or not further:
        return NO_FURTHER if attribute else PLAIN
    hit, twins = source.contrast(TWIN, further)
    other = source.attribute_at(hit)
    if not (can_follow_is(attribute) and can_follow_is(other)):
        return NEVER_SAID
    first, second = source.draws.shuffled([attribute, other])
    said = after_is(second)
    slots = {
        "R": source.without_attribute,
        "first": word(first, after_is(first)),
        "second": word(second, said.removeprefix(MADE_OF) if after_is(first).startswith(MADE_OF) else said),
    }
    return draft(template, "attributes", slots, (source.graph,), source.one_each(twins, further), source.graph.is_long)


def _without_group(source: DraftSource) -> str:
    return NO_FURTHER if source.group else UNGROUPED if source.graph.attribute else PLAIN


def query_attribute(source: DraftSource, template: ImageTemplate) -> Made:
    group, further = source.group, source.kinds_ending(FURTHER)
    if group is None or not further:
        return _without_group(source)
    alike = [hit for hit in source.hits_of([TWIN]) if source.group_of(source.attribute_at(hit)) == group]
    sets = source.one_each([source.image_of(hit) for hit in source.draws.some(alike, 1)], further)
    slots = {"R": source.without_attribute, "group": word(group)}
    form = group if group in {known.name for known in template.forms} else "any group"
    return draft(template, form, slots, (source.graph,), sets, source.draws.below(2))


def same_attribute(source: DraftSource, template: ImageTemplate) -> Made:
    """Two things of one name; the second differs in one more word, and its attribute is the first's or excludes it."""
    group, further, draws = source.group, source.kinds_ending(FURTHER), source.draws
    if group is None or not further:
        return _without_group(source)
    other, alike = draws.choice(further), defaultdict[int, list[list[int]]](lambda: [[], []])
    for same, kind in enumerate((other, other.removesuffix(FURTHER))):
        for hit in source.hits_of([kind]):
            alike[source.near.finds.filled_but_attribute[hit]][same].append(hit)
    hits = draws.choice([both for both in alike.values() if all(both)] or list(alike.values()))
    first, second = source.graph.without_attribute(), source.instance([*hits[0], *hits[1]][0]).without_attribute()
    if first == second or not reads_well(second):
        return SAME_TWICE if first == second else AWKWARD
    avoid = [source.image_of(hit) for each in hits for hit in each]
    chosen = [source.image_of(draws.choice(each)) for each in hits if each]
    sets = [source.filled_up([source.image, image], further, avoid) for image in chosen]
    slots = {"A": source.without_attribute, "B": refer(second), "group": word(group)}
    return draft(template, "group", slots, (source.graph, second), sets)


def all_same_attribute(source: DraftSource, template: ImageTemplate) -> Made:
    """In the one set all that contain the reference have its attribute, in the other some have one that excludes it."""
    if source.group is None or not countable(source.graph):
        return UNCOUNTED if source.group else _without_group(source)
    draws, sets = source.draws, list[Images]()
    others, broken = source.others(3), draws.some(source.images(TWIN), 2)
    rest = [kind for kind in source.kinds if kind != TWIN]
    if others:
        sets.append(source.filled_up([source.image, *others[: 1 + draws.below(3)]], rest))
    if broken:
        sets.append(source.filled_up([source.image, *others[: draws.below(2)], *broken[: 1 + draws.below(2)]], rest))
    slots = {"R": source.without_attribute, "group": word(source.group)}
    return draft(template, "group", slots, (source.graph,), sets, draws.below(2))


TWO_STEPS = ", two steps"  # forms that first say who is meant, then ask


@dataclass(frozen=True)
class AskedLeaf:
    """A leaf that may be asked for."""

    number: int
    subject: Slot
    who: str  # the subject's name
    link: str  # what leads from the subject to the leaf
    verb: str  # the same in English
    asks: str  # "is", "are", "does" or "do"
    name: str  # of the leaf
    steps: str = ""  # which form asks for it

    @property
    def relation(self) -> Slot:
        return self.link, {
            "": self.verb,
            "is": self.asks,
            "Is": self.asks.capitalize(),
            "What": asks_for(self.link),
        }


def query_object(source: DraftSource, template: ImageTemplate) -> Made:
    found = _asked(source)
    if found is None:
        return NO_LEAF
    asked, further = found
    sets = source.one_each(source.draws.some(source.images(f"{asked.number}_name"), 1), further)
    slots = {"R": asked.subject, "relation": asked.relation}
    return draft(template, f"object{asked.steps}", slots, (source.graph,), sets)


def choose_object(source: DraftSource, template: ImageTemplate) -> Made:
    found = _asked(source)
    if found is None:
        return NO_LEAF
    asked, further = found
    hit, twins = source.contrast(f"{asked.number}_name", further)
    first, second = source.draws.shuffled([asked.name, source.name_at(hit, asked.number)])
    if first == second:
        return SAME_TWICE
    slots = {
        "R": asked.subject,
        "relation": asked.relation,
        "first": word(first, target(asked.link, Graph(first), asked.who)),
        "second": word(second, target(asked.link, Graph(second), asked.who)),
    }
    return draft(template, f"objects{asked.steps}", slots, (source.graph,), source.one_each(twins, further))


def _asked(source: DraftSource) -> tuple[AskedLeaf, list[str]] | None:
    """A leaf, and the kinds of distractors with another one and a further change."""
    choices = [(asked, source.kinds_ending(f"_neg_object_{asked.number}")) for asked in _leaves(source.graph)]
    choices = [(asked, further) for asked, further in choices if further and not brings_article(asked.link)]
    return source.draws.choice(choices) if choices else None


def _leaves(graph: Graph) -> Iterator[AskedLeaf]:
    for number, relation in graph.elements:
        link, end = relation.name, relation.target
        if relation.prepositions:
            yield from _after_prepositions(graph, number, relation)
        elif not end.relations:
            rest, asks = graph.without(relation), auxiliary(link, are_of(graph.name))
            steps = TWO_STEPS if rest.relations and not is_verb(link) else ""
            yield AskedLeaf(number + 1, refer(rest), rest.name, link, said(link), asks, end.name, steps)
        elif len(graph.relations) == 1 and len(end.relations) == 1:
            last, described = end.relations[0], (inverse_program(graph), inverse(graph))
            asks = auxiliary(last.name, are_of(end.name))
            yield AskedLeaf(
                number + 3, described, end.name, last.name, said(last.name), asks, last.target.name, TWO_STEPS
            )


def _after_prepositions(graph: Graph, number: int, relation: GraphRelation) -> Iterator[AskedLeaf]:
    """Of "erasing a mark from a board": what is somebody erasing a mark from?"""
    number += 1 + relation.target.length
    asks = auxiliary(relation.name, are_of(graph.name))
    for preposition in relation.prepositions:
        left = tuple(each for each in relation.prepositions if each is not preposition)
        kept = tuple(GraphRelation(r.name, r.target, left) if r is relation else r for r in graph.relations)
        program, forms = refer(Graph(graph.name, graph.attribute, kept))
        if left:  # "pouring it into", of what is poured from a jug
            end = pronoun(relation.target.name)
        else:
            end, forms = target(relation.name, relation.target), reference(graph.without(relation))
        verb = f"{said(relation.name)} {end} {said(preposition.name)}"
        yield AskedLeaf(number + 1, (program, forms), graph.name, preposition.name, verb, asks, preposition.target.name)
        number += 1 + preposition.target.length


def choose_relation(source: DraftSource, template: ImageTemplate) -> Made:
    graph = source.graph
    further = source.kinds_ending("_neg_relation_1")
    if graph.length != 3 or not further:
        return NO_OTHER_LINK
    (relation,) = graph.relations
    hit, twins = source.contrast("1_relation", further)
    other = source.relation_at(hit, 1)
    if relation.name == other or brings_article(relation.name) or brings_article(other):
        return NO_OTHER_LINK
    first, second = source.draws.shuffled([relation.name, other])
    slots = {
        "R": refer(Graph(graph.name, graph.attribute)),
        "B": refer(relation.target),
        "first": (first, _link_forms(first, graph.name)),
        "second": (second, _link_forms(second, graph.name)),
    }
    told = not asked_together(first, second)
    return draft(template, "relations", slots, (graph,), source.one_each(twins, further), told)


def _link_forms(link: str, subject: str) -> Forms:
    are = are_of(subject)
    return {"": said(link), "is": said_of(link, are), "Is": auxiliary(link, are).capitalize()}
