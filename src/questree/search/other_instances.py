"""Other instances of what is annotated: a scorer that sees the pixels, but not those of the annotated ones, may find
some (COVR, App. B)."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from questree.domains.images.graph import Graph
from questree.places import path_of
from questree.search.index import ATTRIBUTES, EDGES, END, PREPOSITIONS, RELATION, TARGET, WORD, Index
from questree.search.verification import function, score_each, scorer_of, simple_graphs

Box = tuple[float, float, float, float]  # x1, y1, x2, y2 in pixels
OtherCheck = tuple[str, Graph, list[Box]]  # image id, simple graph, boxes of the things of all its annotated instances
OtherScorer = Callable[[Sequence[OtherCheck]], Sequence[float]]  # how sure is it that the rest of the image has one?
THRESHOLD = 0.5  # a score above says that there is another one


def others_of(place: str) -> OtherScorer:
    """A Python function as module:function, or a JSON file [{image, graph, score}]; what is not in it scores 0."""
    if not path_of(place).is_file():
        return function(place)
    scorer = scorer_of(place)
    return lambda checks: scorer([(image, graph) for image, graph, _ in checks])


class OtherInstances:
    """Asks once about every simple graph of an image."""

    def __init__(self, boxes: NDArray[np.float32], index: Index, scorer: OtherScorer) -> None:
        """boxes: [thing, (x1, y1, x2, y2)]"""
        self.boxes, self.index, self.scorer = boxes, index, scorer
        self.known: dict[tuple[int, Graph], float] = {}

    def annotated(self, pairs: Sequence[tuple[int, Graph]]) -> NDArray[np.bool_]:
        """[(image, graph)] are all instances annotated? Not if there seem to be others of every part of the graph."""
        parts = [[(image, part.graph) for part in simple_graphs(graph)] for image, graph in pairs]
        new = [one for one in dict.fromkeys(one for own in parts for one in own) if one not in self.known]
        checks = [(self.index.image_ids[image], graph, self.hidden(image, graph)) for image, graph in new]
        self.known.update(zip(new, score_each(checks, self.scorer), strict=True))
        return np.array([any(self.known[one] <= THRESHOLD for one in own) for own in parts], bool)

    def hidden(self, image: int, graph: Graph) -> list[Box]:
        """The boxes of all things that are part of an instance, each once; things without a box cannot be hidden."""
        boxes = self.boxes[list(dict.fromkeys(self._things(image, graph)))]
        return [(x1, y1, x2, y2) for x1, y1, x2, y2 in boxes[~np.isnan(boxes).any(axis=1)].tolist()]

    def _things(self, image: int, graph: Graph) -> Iterator[int]:
        first, end = self.index.scenes.first_thing[image : image + 2].tolist()
        for root in (thing for thing in range(first, end) if self._is(thing, graph)):
            if not graph.relations:
                yield root
            for relation in graph.relations:
                for target in self._related(root, relation.name):
                    if self._is(target, relation.target):
                        yield from (root, target)

    def _is(self, thing: int, graph: Graph) -> bool:
        scenes, words = self.index.scenes, self.index.words
        if words[scenes.name[thing]] != graph.name:
            return False
        begin, end = scenes.things[thing : thing + 2, ATTRIBUTES].tolist()
        return graph.attribute is None or any(words[word] == graph.attribute for word in scenes.attribute[begin:end])

    def _related(self, thing: int, link: str) -> Iterator[int]:
        """What the thing has this relation to, or is linked to by a preposition of this name."""
        scenes, words = self.index.scenes, self.index.words
        for edge in range(*scenes.things[thing : thing + 2, EDGES].tolist()):
            if words[scenes.edges[edge, RELATION]] == link:
                yield int(scenes.edges[edge, TARGET])
            begin, end = scenes.edges[edge : edge + 2, PREPOSITIONS].tolist()
            yield from (int(row[END]) for row in scenes.hanging[begin:end] if words[row[WORD]] == link)
