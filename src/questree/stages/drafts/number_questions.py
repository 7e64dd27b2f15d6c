"""Drafts about how many there are: counts, comparisons, both or either, all, some or none."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import eq, gt, lt

from questree.benchmarks.covr.forms import ImageTemplate, those
from questree.benchmarks.covr.templates import BY_NAME, COMPARED, GROUPED, QUANTIFIERS
from questree.columns.draws import Draws
from questree.domains.images.english import (
    Forms,
    after_is,
    can_follow_is,
    countable,
    has_verb,
    is_mixed,
    predicate,
    reference,
    up_to,
)
from questree.domains.images.graph import Graph
from questree.stages.drafts.sources import (
    MOST,
    NO_SETS,
    UNCOUNTED,
    Draft,
    DraftSource,
    Images,
    Made,
    Slot,
    draft,
    refer,
)

# why a reference has no question of a template
NO_SECOND = "without a distracting image to take a second reference from"
BARE = "without an attribute or a relation to ask for"
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


def references(source: DraftSource, template: ImageTemplate) -> Made:
    """Of a template that says only what it refers to: R, or A and B; its two sets have other numbers of them."""
    form = source.draws.choice(template.forms)
    of = of_one if form.slots == ("R",) else of_two
    made = of(template, form.name, source)
    if not isinstance(made, Draft):
        return made
    return replace(made, wording=Draws(*source.key, "wording").below(len(form.frames)))
