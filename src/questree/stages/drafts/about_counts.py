"""Questions that count: COUNT, VERIFYCOUNT, COMPARECOUNT, and by image COUNTGROUPBY, VERIFYCOUNTGROUPBY."""

from collections.abc import Callable, Iterator
from operator import eq, gt, lt

from questree.benchmarks.covr.forms import Template
from questree.benchmarks.covr.templates import BY_NAME, COMPARED, GROUPED
from questree.columns.draws import Draws
from questree.domains.images.english import Forms, countable, reference
from questree.domains.images.graph import Graph
from questree.stages.drafts.drafts import Draft, Images, Slot, draft, refer, word
from questree.stages.drafts.sources import MOST, DraftSource

DISTRACTORS = 2  # that a set to count in has at least
COMPARISONS: dict[str, Callable[[int, int], bool]] = {"more": gt, "fewer": lt, "equal": eq}
HOW, SIZES = tuple(COMPARISONS), tuple(GROUPED)


def count(source: DraftSource, template: Template) -> Draft | None:
    if not countable(source.graph) or not (sets := _different_numbers(source)):
        return None
    draws, (counted, verified_by) = source.draws, _counted(template)
    form = draws.choice(("objects", "images"))
    return draft(counted, form, {"R": refer(source.graph)}, (source.graph,), sets, draws.below(2), verified_by)


def count_by_image(source: DraftSource, template: Template) -> Draft | None:
    if not countable(source.graph) or not (sets := _different_numbers(source)):
        return None
    slots = {"R": refer(source.graph), "size": word(str(source.times))}
    counted, verified_by = _counted(template)
    return draft(counted, source.draws.choice(SIZES), slots, (source.graph,), sets, verified_by=verified_by)


def _counted(template: Template) -> tuple[Template, Template | None]:
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


def of_one(template: Template, form: str, source: DraftSource) -> Draft | None:
    """Any question about one kind of things that can be counted."""
    if not countable(source.graph) or not (sets := _different_numbers(source)):
        return None
    return draft(template, form, {"R": refer(source.graph)}, (source.graph,), sets, source.draws.below(2))


def of_two(template: Template, form: str, source: DraftSource) -> Draft | None:
    """Any question about two kinds of things that can be counted."""
    if source.second is None or not (countable(source.graph) and countable(source.second[0])):
        return None
    return _compared(template, form, source, *source.second, source.draws.choice(HOW))


def compare_count(source: DraftSource, template: Template) -> Draft | None:
    """More of one than of the other; the twin has other numbers of images of each."""
    draws, second = source.draws, source.second
    if second is None:
        return None
    both = countable(source.graph) and countable(second[0])
    how, what = draws.choice(HOW), draws.choice(("objects", "images")) if both else "images"
    return _compared(template, f"{how}, {what}", source, *second, how)


def _compared(template: Template, form: str, source: DraftSource, other: Graph, with_other: Images, how: str) -> Draft:
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
