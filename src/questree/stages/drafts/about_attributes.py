"""Questions about attributes: VERIFYATTR, CHOOSEATTR, QUERYATTR, VERIFYSAMEATTR, VERIFYQUANTATTR."""

from collections import defaultdict

from questree.benchmarks.covr.forms import Template
from questree.domains.images.english import MADE_OF, after_is, can_follow_is, countable
from questree.stages.drafts.drafts import Draft, Images, draft, refer, word
from questree.stages.drafts.sources import FURTHER, DraftSource

TWIN = "0_attr"  # images where the thing has an attribute that excludes the root's


def verify_attribute(source: DraftSource, template: Template) -> Draft | None:
    attribute, further = source.graph.attribute, source.kinds_ending(FURTHER)
    if attribute is None or not further or not can_follow_is(attribute):
        return None
    slots = {"R": source.without_attribute, "attribute": word(attribute, after_is(attribute))}
    sets = source.one_each(source.draws.some(source.images(TWIN), 1), further)
    return draft(template, "attribute", slots, (source.graph,), sets, source.graph.is_long)


def choose_attribute(source: DraftSource, template: Template) -> Draft | None:
    attribute, further = source.graph.attribute, source.kinds_ending(FURTHER)
    if attribute is None or not further:
        return None
    has_twin = TWIN in source.hits
    hit = source.draws.choice(source.hits_of([TWIN] if has_twin else further))
    other = source.attribute_at(hit)
    if not (can_follow_is(attribute) and can_follow_is(other)):
        return None
    first, second = source.draws.shuffled([attribute, other])
    said = after_is(second)
    slots = {
        "R": source.without_attribute,
        "first": word(first, after_is(first)),
        "second": word(second, said.removeprefix(MADE_OF) if after_is(first).startswith(MADE_OF) else said),
    }
    sets = source.one_each([source.image_of(hit)] if has_twin else [], further)
    return draft(template, "attributes", slots, (source.graph,), sets, source.graph.is_long)


def query_attribute(source: DraftSource, template: Template) -> Draft | None:
    group, further = source.group, source.kinds_ending(FURTHER)
    if group is None or not further:
        return None
    alike = [hit for hit in source.hits_of([TWIN]) if source.group_of(source.attribute_at(hit)) == group]
    sets = source.one_each([source.image_of(hit) for hit in source.draws.some(alike, 1)], further)
    slots = {"R": source.without_attribute, "group": word(group)}
    form = group if group in {known.name for known in template.forms} else "any group"
    return draft(template, form, slots, (source.graph,), sets, source.draws.below(2))


def same_attribute(source: DraftSource, template: Template) -> Draft | None:
    """Two things of one name; the second differs in one more word, and its attribute is the first's or excludes it."""
    group, further, draws = source.group, source.kinds_ending(FURTHER), source.draws
    if group is None or not further:
        return None
    other, alike = draws.choice(further), defaultdict[int, list[list[int]]](lambda: [[], []])
    for same, kind in enumerate((other, other.removesuffix(FURTHER))):
        for hit in source.hits_of([kind]):
            alike[source.near.finds.filled_but_attribute[hit]][same].append(hit)
    hits = draws.choice([both for both in alike.values() if all(both)] or list(alike.values()))
    first, second = source.graph.without_attribute(), source.instance([*hits[0], *hits[1]][0]).without_attribute()
    if first == second:
        return None
    avoid = [source.image_of(hit) for each in hits for hit in each]
    chosen = [source.image_of(draws.choice(each)) for each in hits if each]
    sets = [source.filled_up([source.image, image], further, avoid) for image in chosen]
    slots = {"A": source.without_attribute, "B": refer(second), "group": word(group)}
    return draft(template, "group", slots, (source.graph, second), sets)


def all_same_attribute(source: DraftSource, template: Template) -> Draft | None:
    """In the one set all that contain the reference have its attribute, in the other some have one that excludes it."""
    if source.group is None or not countable(source.graph):
        return None
    draws, sets = source.draws, list[Images]()
    others, broken = source.others(3), draws.some(source.images(TWIN), 2)
    rest = [kind for kind in source.kinds if kind != TWIN]
    if others:
        sets.append(source.filled_up([source.image, *others[: 1 + draws.below(3)]], rest))
    if broken:
        sets.append(source.filled_up([source.image, *others[: draws.below(2)], *broken[: 1 + draws.below(2)]], rest))
    slots = {"R": source.without_attribute, "group": word(source.group)}
    return draft(template, "group", slots, (source.graph,), sets, draws.below(2))
