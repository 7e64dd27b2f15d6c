"""How drafts are made: functions of a source and a template, which names the one it is made by."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import eq, gt, lt

from questree.benchmarks.covr.forms import ImageTemplate, those
from questree.benchmarks.covr.forms import inverse as inverse_program
from questree.benchmarks.covr.templates import BY_NAME, COMPARED, GROUPED, QUANTIFIERS
from questree.columns.draws import Draws
from questree.domains.images.english import (
    MADE_OF,
    Forms,
    after_is,
    are_of,
    can_follow_is,
    countable,
    has_verb,
    inverse,
    is_mixed,
    predicate,
    pronoun,
    reference,
    target,
    up_to,
)
from questree.domains.images.graph import Graph, GraphRelation
from questree.domains.images.links import asked_together, auxiliary, brings_article, is_verb, said_of
from questree.domains.images.links import relation as said
from questree.extensions import Registry
from questree.stages.drafts.sources import FURTHER, MOST, Draft, DraftSource, Images, Slot, draft, refer, word

Reasons = Counter[tuple[str, str]]  # (template, why a question was dropped or not made)
Made = Draft | str | None  # or why there is none
# why a reference has no question of a template
PLAIN = "without an attribute"
NEVER_SAID = 'whose attribute never follows "is"'
UNGROUPED = "whose attribute is of no group (ontology of the word tables)"
NO_FURTHER = "without an image that has another attribute and a further change"
NO_SECOND = "without a distracting image to take a second reference from"
UNCOUNTED = "to what is not counted"
NO_SETS = "without enough images, with it and without it"
SAME_TWICE = "whose second reference is the same"
BARE = "without an attribute or a relation to ask for"
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
    if first == second:
        return SAME_TWICE
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


DISTRACTORS = 2  # that a set to count in has at least
COMPARISONS: dict[str, Callable[[int, int], bool]] = {"more": gt, "fewer": lt, "equal": eq}
HOW, SIZES = tuple(COMPARISONS), tuple(GROUPED)


def count(source: DraftSource, template: ImageTemplate) -> Made:
    if not countable(source.graph) or not (sets := _different_numbers(source)):
        return NO_SETS if countable(source.graph) else UNCOUNTED
    draws, (counted, verified_by) = source.draws, _counted(template)
    form = draws.choice(("objects", "images"))
    return draft(counted, form, {"R": refer(source.graph)}, (source.graph,), sets, draws.below(2), verified_by)


def count_by_image(source: DraftSource, template: ImageTemplate) -> Made:
    if not countable(source.graph) or not (sets := _different_numbers(source)):
        return NO_SETS if countable(source.graph) else UNCOUNTED
    size = str(source.times)
    slots = {"R": refer(source.graph), "size": (size, {"": size, "up to": up_to(size)})}
    counted, verified_by = _counted(template)
    return draft(counted, source.draws.choice(SIZES), slots, (source.graph,), sets, verified_by=verified_by)


def _counted(template: ImageTemplate) -> tuple[ImageTemplate, ImageTemplate | None]:
    """The template that gives a number, and the one that asks about it."""
    return (BY_NAME[template.verifies], template) if template.verifies else (template, None)


def _different_numbers(source: DraftSource) -> list[Images]:
    """Two sets with different numbers of images that contain the reference, the first with the source."""
    draws = source.draws
    others, kinds = source.others(MOST), source.kinds
    most = min(1 + len(others), MOST - DISTRACTORS)
    first = 1 + draws.below(most)
    second = draws.choice([number for number in range(most + 1) if number != first])
    own, twin = [source.image, *others[: first - 1]], draws.shuffled([source.image, *others])[:second]
    sets = [source.filled_up(chosen, kinds) for chosen in (own, twin)]
    enough = all(len(images) - number >= DISTRACTORS for images, number in zip(sets, (first, second), strict=True))
    return sets if enough else []


def whether(probe: Draft, numbers: list[int], draws: Draws) -> Draft:
    """Asks whether the number is exactly, at least or at most so much, so that the two sets have different answers."""
    low, high = sorted(numbers)
    fitting = {
        "exactly": [number for number in (low, high) if number],
        "at least": list(range(low + 1, high + 1)),
        "at most": list(range(max(low, 1), high)),
    }
    how = draws.choice([how for how in COMPARED if fitting[how]])
    number, (graph,) = draws.choice(fitting[how]), probe.graphs
    assert probe.verified_by
    form = probe.verified_by.verified_form.format(how=how, form=probe.form.name)
    slots = {**probe.slots, "number": _number(number, reference(graph))}
    return draft(probe.verified_by, form, slots, probe.graphs, probe.sets)


def _number(number: int, said: Forms) -> Slot:
    one = number == 1
    return str(number), {
        "": str(number),
        "Are": "Is" if one else "Are",
        "things": said[""] if one else said["many"],
        "Do": "Does" if one else "Do",
        "images": "image" if one else "images",
    }


def of_one(template: ImageTemplate, form: str, source: DraftSource) -> Made:
    """Any question about one kind of things that can be counted."""
    if not countable(source.graph) or not (sets := _different_numbers(source)):
        return NO_SETS if countable(source.graph) else UNCOUNTED
    return draft(template, form, {"R": refer(source.graph)}, (source.graph,), sets, source.draws.below(2))


def of_two(template: ImageTemplate, form: str, source: DraftSource) -> Made:
    """Any question about two kinds of things that can be counted."""
    if source.second is None or not (countable(source.graph) and countable(source.second[0])):
        return UNCOUNTED if source.second else NO_SECOND
    return _compared(template, form, source, *source.second, source.draws.choice(HOW))


def compare_count(source: DraftSource, template: ImageTemplate) -> Made:
    """More of one than of the other; the twin has other numbers of images of each."""
    draws, second = source.draws, source.second
    if second is None:
        return NO_SECOND
    both = countable(source.graph) and countable(second[0])
    how, what = draws.choice(HOW), draws.choice(("objects", "images")) if both else "images"
    return _compared(template, f"{how}, {what}", source, *second, how)


def _compared(
    template: ImageTemplate, form: str, source: DraftSource, other: Graph, with_other: Images, how: str
) -> Draft:
    draws = source.draws
    swapped = draws.below(2) == 1
    own = [source.image, *source.others(2)]
    sets = [
        source.filled_up([*own[:a], *with_other[:b]], source.kinds, with_other)
        for a, b in _numbers(len(own), len(with_other), COMPARISONS[how], swapped, draws)
    ]
    graphs = (other, source.graph) if swapped else (source.graph, other)
    slots = {"A": refer(graphs[0]), "B": refer(graphs[1])}
    return draft(template, form, slots, graphs, sets)


def _numbers(
    most: int, most_others: int, holds: Callable[[int, int], bool], swapped: bool, draws: Draws
) -> Iterator[tuple[int, int]]:
    """How many images of each: once so that the comparison holds of the images, once so that it does not."""
    pairs = [(a, b) for a in range(1, most + 1) for b in range(min(most_others, 3) + 1) if a + b <= MOST]
    for wanted in (True, False):
        fitting = [(a, b) for a, b in pairs if (holds(b, a) if swapped else holds(a, b)) == wanted]
        yield from draws.some(fitting, 1)


Condition = tuple[str, Graph, Slot, list[str]]  # (form, what is spoken of, what is said of it, kinds that break it)


def verify_logic(source: DraftSource, template: ImageTemplate) -> Made:
    draws, second = source.draws, source.second
    if second is None:
        return NO_SECOND
    other, with_other = second
    form = draws.choice(("both", "either"))
    own, others = [source.image, *source.others(draws.below(2))], with_other[: 1 + draws.below(2)]
    one = draws.choice((own, others))
    yes, no = ([*own, *others], one) if form == "both" else (draws.choice((one, [*own, *others])), [])
    sets = [source.filled_up(chosen, source.kinds, with_other) for chosen in (yes, no)]
    graphs = (source.graph, other) if draws.below(2) else (other, source.graph)
    slots = {"A": refer(graphs[0]), "B": refer(graphs[1])}
    return draft(template, form, slots, graphs, sets, draws.below(2))


def verify_quantifier(source: DraftSource, template: ImageTemplate) -> Made:
    if not countable(source.graph):
        return UNCOUNTED
    choices = [*_attribute(source.graph), *_relations(source.graph)]
    if not choices:
        return BARE
    what, about, condition, broken = source.draws.choice(choices)
    how = source.draws.choice(tuple(QUANTIFIERS))
    slots = {"R": refer(about), "C": condition}
    sets = _held_and_broken(source, how, broken)
    told = about.relations or "" not in condition[1]
    return draft(template, f"{how}, {what}", slots, (source.graph,), sets, bool(told))


def _held_and_broken(source: DraftSource, how: str, broken: list[str]) -> list[Images]:
    """Sets in which the condition holds of some of the things, and of all or none, as the quantifier needs them."""
    draws, with_it = source.draws, [source.image, *source.others(2)]
    without = draws.shuffled(dict.fromkeys(image for kind in broken for image in source.images(kind)))
    rest = [kind for kind in source.kinds if kind not in broken]
    mixed = [*with_it[: 1 + draws.below(2)], *without[: 1 + draws.below(2)]] if without else []
    pure = with_it[: 2 + draws.below(2)] if how == "all" else without[: 2 + draws.below(2)]
    return [source.filled_up(chosen, rest, without) for chosen in (mixed, pure) if chosen]


def _attribute(graph: Graph) -> list[Condition]:
    if graph.attribute is None or not can_follow_is(graph.attribute):
        return []
    said = after_is(graph.attribute)
    forms = {"": said, "Is": "Is", "Are": "Are", "is": f"is {said}", "are": f"are {said}"}
    return [("attribute", graph.without_attribute(), (those(Graph("", graph.attribute)), forms), ["0_attr"])]


def _relations(graph: Graph) -> list[Condition]:
    """Each relation of the root, and both together."""
    found, each = list[Condition](), list(graph.elements)
    for chosen in [[one] for one in each] + ([each] if len(each) == 2 else []):
        gone = Graph("", None, tuple(relation for _, relation in chosen))
        left = Graph(graph.name, graph.attribute, tuple(r for r in graph.relations if r not in gone.relations))
        broken = [kind for n, _ in chosen for kind in (f"{n}_relation", f"{n + 1}_name", f"{n + 1}_attr")]
        found.append(("relation", left, (those(gone), _asked_and_told(gone)), broken))
    return found


def _asked_and_told(graph: Graph) -> Forms:
    """Relations as a condition; those that neither "is" nor "does" asks for can only be told."""
    told = {are: predicate(graph, are) for are in ("is", "are")}
    if is_mixed(graph):
        return told
    asks = ("Does", "Do") if has_verb(graph) else ("Is", "Are")
    return told | {"": predicate(graph), "Is": asks[0], "Are": asks[1]}


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
        return self.link, {"": self.verb, "is": self.asks, "Is": self.asks.capitalize()}


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


Builder = Callable[[DraftSource, ImageTemplate], Made]


def references(source: DraftSource, template: ImageTemplate) -> Made:
    """Of a template that says only what it refers to: R, or A and B; its two sets have other numbers of them."""
    form = source.draws.choice(template.forms)
    of = of_one if form.slots == ("R",) else of_two
    made = of(template, form.name, source)
    if not isinstance(made, Draft):
        return made
    return replace(made, wording=Draws(*source.key, "wording").below(len(form.frames)))


BUILDERS = Registry[Builder]("builder")
for _name, _builder in {
    "references": references,
    "attribute": verify_attribute,
    "two attributes": choose_attribute,
    "attribute of a group": query_attribute,
    "attribute of all": all_same_attribute,
    "attribute of two": same_attribute,
    "compared counts": compare_count,
    "count": count,
    "count by image": count_by_image,
    "logic": verify_logic,
    "quantifier": verify_quantifier,
    "related object": query_object,
    "two related objects": choose_object,
    "two relations": choose_relation,
}.items():
    BUILDERS.add(_name, _builder)


def drafts(
    source: DraftSource, templates: Iterable[ImageTemplate], unmade: Counter[tuple[str, str]]
) -> Iterator[Draft]:
    """One of every template that the reference and its images allow; the others are counted with their reason."""
    for template in templates:
        if template.by_image == (source.times > 1):
            made = BUILDERS[template.builder](source, template)
            if isinstance(made, Draft) and made.sets:
                yield made
            else:
                unmade[template.name, made if isinstance(made, str) else NO_SETS] += 1
