"""Related images: those that contain a reference, and those that nearly do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from questree.columns.hashing import mix, seed_of
from questree.domains.images.graph import Graph
from questree.search.distractors import NONE, Coded, GraphForm, coded, graph_of, kinds_of_form
from questree.search.index import Index, Rows
from questree.search.matching import ALL, search
from questree.search.other_instances import OtherInstances
from questree.search.patterns import (
    AskedGraphs,
    SearchWords,
    codes,
    other_attributes,
    other_names,
    other_relations,
    plan_of,
)
from questree.search.verification import Scorer, verified
from questree.search.word_tables import WordTables

POSITIVE, NO_MULTIPLE = "positive", "0_no_mult"
OF = "of"
MEMORY = 64 << 20  # bytes for the sets of words of graphs searched together


@dataclass(frozen=True)
class RelatedImages:
    """The images of many graphs, by graph and kind; ascending, or as drawn if there is a limit."""

    kinds: list[str]  # "positive", "0_no_mult", "0_attr", ...
    graph: Rows  # [hit] position in the given graphs
    kind: Rows  # [hit] position in kinds
    image: Rows  # [hit] row of the image
    thing: Rows  # [hit, node] row of the thing that fills it, NONE beyond; no columns without instances=True
    attribute: Rows  # [hit, node] word or NONE
    link: Rows  # [hit, node] word of the link that leads to the node, or NONE
    forms: list[GraphForm]  # [graph]
    words: list[str]
    names: Rows  # [thing of the images] word

    @cached_property
    def begin(self) -> NDArray[np.int64]:
        """[graph + 1] where its hits begin."""
        return np.searchsorted(self.graph, np.arange(len(self.forms) + 1))

    def of(self, graph: int) -> dict[str, range]:
        """Kind -> its hits; kinds without images are left out."""
        first, end = self.begin[graph : graph + 2].tolist()
        changes = first + 1 + np.flatnonzero(np.diff(self.kind[first:end]))
        runs = pairwise([first, *changes.tolist(), end])
        return {self.kinds[self.kind[run]]: range(run, after) for run, after in runs if run < after}

    def instance(self, hit: int) -> Graph:
        """The graph as this image fills it: "blue cup" for 0_attr of "red cup"; needs instances=True."""
        names = [self.words[word] for word in self.names[self.thing[hit]].tolist()]
        attributes = [None if word == NONE else self.words[word] for word in self.attribute[hit].tolist()]
        links = ["" if word == NONE else self.words[word] for word in self.link[hit].tolist()]
        return graph_of(self.forms[self.graph[hit]], names, attributes, links)


class Related:
    """The images related to a graph, out of all images of an index."""

    def __init__(
        self, index: Index, words: WordTables, verify: Scorer | None = None, others: OtherInstances | None = None
    ) -> None:
        """verify: who looks at the pixels of distracting images; others: and at those of images that contain the graph,
        for further instances; nobody by default."""
        self.index, self.verify, self.others = index, verify, others
        self.vocabulary = SearchWords(index.words, words)
        self.codes, self.bits = codes(self.vocabulary, words)

    def images(self, graph: Graph, multi_count: int = 1) -> dict[str, Rows]:
        """Images by kind: positive, 0_no_mult and distracting ones; kinds without images are left out."""
        found = self.find([graph], [multi_count])
        return {kind: found.image[hits.start : hits.stop] for kind, hits in found.of(0).items()}

    def find(
        self,
        graphs: Sequence[Graph],
        multi_counts: Sequence[int] | None = None,
        limit: int | None = None,
        seed: int = 0,
        instances: bool = False,
        positives: int | None = None,
    ) -> RelatedImages:
        """Positives and every kind of many graphs at once, which is the fast way.

        At most `limit` images of each kind and `positives` (if not given, `limit`) positives, drawn by a keyed hash of
        the seed and the graph. With instances one can ask how an image fills the changed graph.
        A graph with a multi_count above 1 has the kind 0_no_mult too."""
        multiple = np.ones(len(graphs), np.int32) if multi_counts is None else np.asarray(multi_counts, np.int32)
        limits = np.array(
            [ALL if each is None else each for each in (limit if positives is None else positives, limit)], np.int64
        )
        names: dict[str, int] = {}
        forms: list[GraphForm] = [GraphForm()] * len(graphs)
        parts = []
        for group in coded(graphs, self.vocabulary.code):
            for row in group.row:
                forms[row] = group.form
            kinds = (POSITIVE, NO_MULTIPLE, *(kind.name for kind in kinds_of_form(group.form)))
            own = np.array([names.setdefault(name, len(names)) for name in kinds], np.int32)
            # how many graphs to search at once
            together = max(MEMORY // int(8 * self.bits.shape[1] * 3 * len(group.form)), 16)
            for few in _pieces(group, together):
                hits = self._search(few, multiple[few.row], limits, seed, instances)
                filled = hits[:, 3:].reshape(len(hits), -1 if len(hits) else 0, 3)
                parts.append((few.row[hits[:, 0]], own[hits[:, 1]], hits[:, 2], filled))
        found = RelatedImages(list(names), *_joined(parts), forms, self.index.words, self.index.scenes.name)
        found = found if self.verify is None else _only(found, self._distracting(found, graphs, self.verify))
        return found if self.others is None else _only(found, self._annotated(found, graphs, self.others))

    def _annotated(self, found: RelatedImages, graphs: Sequence[Graph], others: OtherInstances) -> NDArray[np.bool_]:
        """[hit] distractors, and images in which all instances of the graph seem to be annotated."""
        contain = [found.kinds.index(kind) for kind in (POSITIVE, NO_MULTIPLE) if kind in found.kinds]
        hits = np.flatnonzero(np.isin(found.kind, contain))
        of_hits = zip(found.image[hits].tolist(), found.graph[hits].tolist(), strict=True)
        pairs = [(image, graphs[at]) for image, at in of_hits]
        keep = np.ones(len(found.kind), bool)
        keep[hits] = others.annotated(pairs)
        return keep

    def _distracting(self, found: RelatedImages, graphs: Sequence[Graph], scorer: Scorer) -> NDArray[np.bool_]:
        """[hit] positives, and distractors that do not seem to contain the graph after all."""
        by_name = [{kind.name: kind for kind in kinds_of_form(form)} for form in found.forms]
        kinds = [by_name[g].get(found.kinds[k]) for g, k in zip(found.graph.tolist(), found.kind.tolist(), strict=True)]
        hits = [(hit, kind) for hit, kind in enumerate(kinds) if kind is not None]
        keep = np.ones(len(kinds), bool)
        keep[[hit for hit, _ in hits]] = verified(
            [(self.index.image_ids[int(found.image[hit])], graphs[found.graph[hit]], kind) for hit, kind in hits],
            scorer,
        )
        return keep

    def _search(self, graphs: Coded, multiple: Rows, limits: NDArray[np.int64], seed: int, instances: bool) -> Rows:
        """[hit, (graph, kind, image, and perhaps what fills every node)]"""
        index, codes = self.index, self.codes
        names, bits = other_names(graphs, index.links, self.vocabulary.code(OF), codes, self.bits)
        attributes, bits = other_attributes(graphs, index.postings.key, codes, bits)
        links, bits = other_relations(graphs, index.ends, codes, bits)
        columns = np.concatenate([graphs.name, graphs.attribute, graphs.link], axis=1)
        draw = mix(np.full(len(columns), seed_of(seed, "related"), np.uint64), *columns.T)
        asked = AskedGraphs(graphs.name, graphs.attribute, graphs.link, names, attributes, links, multiple, draw)
        plan = plan_of(graphs.form)
        return np.asarray(search(index.scenes, index.postings, plan, asked, codes, bits, limits, instances))


def _only(found: RelatedImages, keep: NDArray[np.bool_]) -> RelatedImages:
    columns = ("graph", "kind", "image", "thing", "attribute", "link")
    return replace(found, **{name: getattr(found, name)[keep] for name in columns})


def _pieces(graphs: Coded, size: int) -> Iterator[Coded]:
    for first in range(0, len(graphs.row), size):
        columns = (graphs.row, graphs.name, graphs.attribute, graphs.link)
        yield Coded(graphs.form, *(column[first : first + size] for column in columns))


def _joined(parts: list[tuple[Rows, Rows, Rows, Rows]]) -> tuple[Rows, Rows, Rows, Rows, Rows, Rows]:
    """[hit] graph, kind, image; [hit, node] thing, attribute, link; by graph. Nodes a form does not have are NONE."""
    nodes = max((filled.shape[1] for *_, filled in parts), default=0)
    none = np.zeros(0, np.int32)
    graph, kind, image = (np.concatenate([none, *(part[column] for part in parts)]) for column in range(3))
    filled = np.full((len(graph), nodes, 3), NONE, np.int32)
    at = 0
    for *_, each in parts:
        filled[at : at + len(each), : each.shape[1]] = each
        at += len(each)
    order = np.argsort(graph, kind="stable")
    thing, attribute, link = (filled[order, :, part] for part in range(3))
    return graph[order], kind[order], image[order], thing, attribute, link
