"""What questions about image sets are made from (a reference in an image, the images that contain it, those that
nearly do), and drafts of them: a program, a text, and one or two sets of images."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from questree.benchmarks.covr.forms import ImageTemplate, Program, TemplateForm, things
from questree.columns.draws import Draws
from questree.columns.hashing import mix
from questree.domains.images.english import Forms, reads_well, reference
from questree.domains.images.graph import Graph
from questree.search.other_instances import OtherInstances
from questree.search.related import NO_MULTIPLE, POSITIVE, RelatedImages
from questree.search.word_tables import WordTables

Images = list[int]  # rows of images
Slot = tuple[Program | str, Forms]  # what fills a program, and how it is said


@dataclass(frozen=True)
class Draft:
    template: ImageTemplate
    form: TemplateForm
    slots: Mapping[str, Slot]
    graphs: tuple[Graph, ...]  # what it refers to, attributes and relations that are asked for included
    sets: list[Images]  # the second is for a twin: the same question, hoped to have another answer
    wording: int = 0
    verified_by: ImageTemplate | None = None  # only the number is wanted: this template asks whether it is so

    @cached_property
    def program(self) -> Program:
        return self.form.filled({name: filling for name, (filling, _) in self.slots.items()})

    @cached_property
    def text(self) -> str:
        return self.form.say({name: said for name, (_, said) in self.slots.items()}, self.wording)


Made = Draft | str | None  # or why a reference has no question of a template
UNCOUNTED = "to what is not counted"
NO_SETS = "without enough images, with it and without it"


def draft(
    template: ImageTemplate,
    form: str,
    slots: Mapping[str, Slot],
    graphs: tuple[Graph, ...],
    sets: Iterable[Images],
    wording: int = 0,
    verified_by: ImageTemplate | None = None,
) -> Draft:
    """A draft with those of the sets that have images."""
    return Draft(template, template.form(form), slots, graphs, [s for s in sets if s], wording, verified_by)


def word(spelled: str, said: str = "") -> Slot:
    """A plain word, and how it is said where the frame puts it."""
    return spelled, {"": said or spelled}


def refer(graph: Graph) -> Slot:
    return things(graph), reference(graph)


MOST = 5  # images of a question
TURNS = 3  # of every kind to give an image, before all that are left are looked at
TRIES = 20  # to find images among all
FURTHER = "_neg_attr_main_object"  # how kinds end whose root has another attribute, besides a further change


@dataclass(frozen=True)
class Finds:
    """The images around many references."""

    found: RelatedImages

    @cached_property
    def images(self) -> list[int]:  # [hit]
        return list(self.found.image.tolist())

    @cached_property
    def filled(self) -> list[int]:
        """[hit] equal if the image fills the same changed graph with the same words."""
        return self._hashed(0)

    @cached_property
    def filled_but_attribute(self) -> list[int]:
        """[hit] the same, the root's attribute left out."""
        return self._hashed(1)

    def _hashed(self, first: int) -> list[int]:
        found = self.found
        columns = [*found.names[found.thing].T, *found.attribute.T[first:], *found.link.T]
        return list(mix(np.zeros(len(found.image), np.uint64), found.graph, *columns).tolist())


@dataclass
class Near:
    """The images around one reference, by kind; shared by all images it was drawn from."""

    finds: Finds
    hits: dict[str, range]  # kind -> hits; "positive" among them
    _ending: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> list[str]:
        return [kind for kind in self.hits if kind != POSITIVE]

    def kinds_ending(self, end: str) -> list[str]:
        if end not in self._ending:
            self._ending[end] = [kind for kind in self.kinds if kind.endswith(end)]
        return self._ending[end]

    def images(self, kind: str) -> Images:
        own = self.hits.get(kind)
        return self.finds.images[own.start : own.stop] if own else []

    @cached_property
    def positives(self) -> frozenset[int]:
        return frozenset(self.images(POSITIVE))


@dataclass
class DraftSource:
    image: int
    graph: Graph
    near: Near
    words: WordTables
    key: tuple[object, ...]  # of its draws
    times: int = 1  # how often an image must contain the reference to count
    images_to_draw: int = 0  # distracting images are any of so many; 0: those that nearly contain the reference
    shunned: frozenset[int] = frozenset()  # images that seem to show more of the second reference than is annotated

    @property
    def kinds(self) -> list[str]:
        return self.near.kinds

    @property
    def hits(self) -> dict[str, range]:
        return self.near.hits

    def kinds_ending(self, end: str) -> list[str]:
        return self.near.kinds_ending(end)

    def images(self, kind: str) -> Images:
        return self.near.images(kind)

    @cached_property
    def draws(self) -> Draws:
        return Draws(*self.key)

    @cached_property
    def without_attribute(self) -> Slot:
        """The reference, the attribute of its root left out."""
        return refer(self.graph.without_attribute())

    @property
    def group(self) -> str | None:
        return self.group_of(self.graph.attribute)

    def group_of(self, attribute: str | None) -> str | None:
        return self.words.attribute_group.get(attribute) if attribute else None

    def others(self, most: int) -> Images:
        """Some other images that contain the reference."""
        return [image for image in self.draws.some(self.images(POSITIVE), most + 1) if image != self.image][:most]

    def instance(self, hit: int) -> Graph:
        """What the image of a hit contains instead of the reference."""
        return self.near.finds.found.instance(hit)

    def image_of(self, hit: int) -> int:
        return self.near.finds.images[hit]

    def hits_of(self, kinds: Iterable[str]) -> list[int]:
        return [hit for kind in kinds for hit in self.hits.get(kind, ())]

    def attribute_at(self, hit: int) -> str:
        """What the root has in the image of a hit."""
        return self._word(self.near.finds.found.attribute[hit, 0])

    def name_at(self, hit: int, element: int) -> str:
        """What the image of a hit has in place of a node."""
        found = self.near.finds.found
        return self._word(found.names[found.thing[hit, element // 2]])

    def relation_at(self, hit: int, element: int) -> str:
        """What the image of a hit has in place of a relation."""
        return self._word(self.near.finds.found.link[hit, (element + 1) // 2])

    def _word(self, at: int) -> str:
        return self.near.finds.found.words[at]

    @property
    def second(self) -> tuple[Graph, Images] | None:
        """A second reference, from a kind of distractors, and the images of that kind that contain it."""
        if self.any_second is None or not self.shunned:
            return self.any_second
        graph, images = self.any_second
        left = [image for image in images if image not in self.shunned]
        return (graph, left) if left else None

    @cached_property
    def any_second(self) -> tuple[Graph, Images] | None:
        """The same, whatever else the images may show."""
        kinds = [kind for kind in self.kinds if kind != NO_MULTIPLE]
        if not kinds:
            return None
        draws, filled = self.draws, self.near.finds.filled
        hits = self.hits[draws.choice(kinds)]
        chosen = draws.choice(hits)
        graph = self.instance(chosen)
        if not reads_well(graph) or any(node.name in self.words.ignored_nouns for node in graph.nodes):
            return None
        return graph, draws.shuffled(self.image_of(hit) for hit in hits if filled[hit] == filled[chosen])

    def contrast(self, twin: str, further: Sequence[str]) -> tuple[int, Images]:
        """A hit that has something else in place of what is asked for, and its image, if it may be that of a twin."""
        has_twin = twin in self.hits
        hit = self.draws.choice(self.hits_of([twin] if has_twin else further))
        return hit, [self.image_of(hit)] if has_twin else []

    def one_each(self, twins: Images, kinds: Sequence[str]) -> list[Images]:
        """A set with the source and one with each twin, among images of kinds that do not contain what is asked for."""
        return [self.filled_up([image], kinds) for image in (self.image, *twins)]

    def filled_up(self, chosen: Iterable[int], kinds: Sequence[str], avoid: Iterable[int] = ()) -> Images:
        """The chosen images and distracting ones from the kinds in turn, shuffled; at most five, each once.

        None at all if no two images, or none that lacks the reference, are there.
        """
        if self.images_to_draw:
            return self._filled_with_any(chosen, avoid)
        found = list(dict.fromkeys(chosen))
        seen, images, draws, waiting = {*found, *avoid}, self.near.finds.images, self.draws, list[str]()
        if self.shunned:
            seen |= self.shunned
        random, hits = draws.random, self.hits  # most of the work of making questions is done here
        for _ in range(TURNS * len(kinds)):
            if len(found) == MOST:
                break
            waiting = waiting or list(kinds)
            own = hits[waiting.pop(int(random() * len(waiting)))]
            image = images[own[int(random() * len(own))]]
            if image not in seen:
                seen.add(image)
                found.append(image)
        if len(found) < MOST:
            left = dict.fromkeys(image for kind in kinds for image in self.images(kind) if image not in seen)
            found += draws.some(list(left), MOST - len(found))
        distracting = {*found} - self.near.positives - {self.image}  # not all positives are drawn: it may not be there
        return draws.shuffled(found) if len(found) > 1 and distracting else []

    def _filled_with_any(self, chosen: Iterable[int], avoid: Iterable[int]) -> Images:
        """The same with images drawn from all, but for those that are known to contain the reference (Table 6)."""
        found, draws = list(dict.fromkeys(chosen)), self.draws
        seen = {*found, *avoid, *self.near.positives, self.image, *self.shunned}
        for _ in range(TRIES):
            image = draws.below(self.images_to_draw)
            if len(found) < MOST and image not in seen:
                seen.add(image)
                found.append(image)
        distracting = {*found} - self.near.positives - {self.image}
        return draws.shuffled(found) if len(found) > 1 and distracting else []


def annotated_seconds(sources: Sequence[DraftSource], others: OtherInstances) -> Sequence[DraftSource]:
    """The sources, each knowing in which images there seem to be more of its second reference than is annotated."""
    pairs = [
        (at, image, source.any_second[0])
        for at, source in enumerate(sources)
        if source.any_second is not None
        for image in source.any_second[1]
    ]
    told = others.annotated([(image, graph) for _, image, graph in pairs]).tolist()
    for (at, image, _), good in zip(pairs, told, strict=True):
        if not good:
            sources[at].shunned |= {image}
    return sources
