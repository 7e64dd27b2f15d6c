"""Graphs as columns of words, those of one form together, and the kinds of distracting images that a form has."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from questree.domains.images.graph import Graph, GraphRelation, Preposition
from questree.search.index import Rows

NONE = -1  # no attribute, no link


@dataclass(frozen=True)
class GraphForm:
    """How the nodes of a graph hang together, depth first: node j is element 2 j, the link that leads to it 2 j - 1."""

    parent: tuple[int, ...] = (-1,)  # [node] where its link starts; a preposition's: the target of its relation
    preposition: tuple[bool, ...] = (False,)  # [node] does a preposition lead to it?

    def __len__(self) -> int:
        return len(self.parent)

    def subject(self, node: int) -> int:
        """The node its relation starts from; for a preposition, the relation it belongs to."""
        return self.parent[self.parent[node]] if self.preposition[node] else self.parent[node]

    def is_leaf(self, node: int) -> bool:
        """Has it no relation of its own?"""
        return not any(up == node and not prep for up, prep in zip(self.parent, self.preposition, strict=True))

    def below(self, node: int) -> frozenset[int]:
        """The node with all that hangs on it or on the link that leads to it."""
        found = {node}
        for each in range(node + 1, len(self)):
            if self.parent[each] in found:
                found.add(each)
        return frozenset(found)


@dataclass(frozen=True)
class Coded:
    form: GraphForm
    row: Rows  # [graph] position among all graphs
    name: Rows  # [graph, node] word
    attribute: Rows  # [graph, node] word or NONE
    link: Rows  # [graph, node] word of the link that leads to the node; the root has NONE


Node = tuple[int, bool, str, str | None, str | None]  # parent, preposition, name, attribute, link


def nodes(graph: Graph) -> list[Node]:
    """Depth first, in the order of a Form."""
    found: list[Node] = [(-1, False, graph.name, graph.attribute, None)]
    _add(graph, 0, found)
    return found


def _add(graph: Graph, at: int, found: list[Node]) -> None:
    for relation in graph.relations:
        node, target = len(found), relation.target
        found.append((at, False, target.name, target.attribute, relation.name))
        _add(target, node, found)
        for preposition in relation.prepositions:
            end = preposition.target
            found.append((node, True, end.name, end.attribute, preposition.name))
            _add(end, len(found) - 1, found)


def coded(graphs: Sequence[Graph], code: Callable[[str], int]) -> Iterator[Coded]:
    """Grouped by form, in the order in which the forms come."""
    groups: dict[tuple[object, ...], tuple[list[int], list[int]]] = {}  # form -> positions, words of all nodes
    for row, graph in enumerate(graphs):
        parents, prepositions, names, attributes, links = zip(*nodes(graph), strict=True)
        rows, words = groups.setdefault((parents, prepositions), ([], []))
        rows.append(row)
        words += [code(name) for name in names]
        words += [NONE if word is None else code(word) for word in (*attributes, *links)]
    for form, (rows, words) in groups.items():
        table = np.array(words, np.int32).reshape(len(rows), 3, -1)
        name, attribute, link = (np.ascontiguousarray(table[:, part]) for part in range(3))
        yield Coded(GraphForm(*form), np.array(rows, np.int32), name, attribute, link)  # type: ignore[arg-type]


def graph_of(form: GraphForm, names: Sequence[str], attributes: Sequence[str | None], links: Sequence[str]) -> Graph:
    """The graph with these words; [node] in the order of the form."""

    def node(at: int) -> Graph:
        return Graph(names[at], attributes[at], tuple(relation(each) for each in children(at, False)))

    def relation(at: int) -> GraphRelation:
        hanging = (Preposition(links[each], node(each)) for each in children(at, True))
        return GraphRelation(links[at], node(at), tuple(hanging))

    def children(at: int, preposition: bool) -> list[int]:
        found = zip(form.parent, form.preposition, strict=True)
        return [each for each, (up, is_preposition) in enumerate(found) if up == at and is_preposition == preposition]

    return node(0)


ATTRIBUTE, NAME, RELATION = "attr", "name", "relation"
OTHER_OBJECT, OTHER_RELATION = "neg_object", "neg_relation"
ROOT_ATTRIBUTE = "neg_attr_main_object"


@dataclass(frozen=True)
class Edit:
    node: int
    what: str  # ATTRIBUTE, NAME, OTHER_OBJECT: of the node; RELATION, OTHER_RELATION: of the link that leads to it

    @property
    def element(self) -> int:
        return 2 * self.node - (self.what in (RELATION, OTHER_RELATION))


@dataclass(frozen=True)
class DistractorKind:
    """Scenes that contain the graph with its edits (Q) and do not contain the kept part of the relaxed graph (F)."""

    name: str  # "0_attr", "2_name_neg_object_4", ...
    edits: tuple[Edit, ...]  # one or two
    kept: frozenset[int]  # nodes of F, each with the link that leads to it
    kept_root_attribute: bool = True


@cache
def kinds_of_form(form: GraphForm) -> tuple[DistractorKind, ...]:
    """Every kind that some graph of this form has; attributes and words decide which of them exist."""
    return tuple(_kinds(form))


def _kinds(form: GraphForm) -> Iterator[DistractorKind]:
    whole = frozenset(range(len(form)))
    for single in (Edit(node, what) for node in range(len(form)) for what in (RELATION, ATTRIBUTE, NAME)):
        if single.what == RELATION and (not single.node or form.preposition[single.node]):
            continue
        kind = f"{single.element}_{single.what}"
        yield DistractorKind(kind, (single,), whole)
        if kind != "0_attr":
            yield DistractorKind(
                f"{kind}_{ROOT_ATTRIBUTE}", (single, Edit(0, ATTRIBUTE)), whole, kept_root_attribute=False
            )
        for leaf in filter(form.is_leaf, range(1, len(form))):
            if single.what == NAME and single.node != leaf:
                rest = whole - form.below(leaf)
                yield DistractorKind(f"{kind}_{OTHER_OBJECT}_{2 * leaf}", (single, Edit(leaf, OTHER_OBJECT)), rest)
            if kind in ("0_attr", "0_name") and not form.preposition[leaf]:
                other = Edit(leaf, OTHER_RELATION)
                yield DistractorKind(f"{kind}_{OTHER_RELATION}_{other.element}", (single, other), frozenset({0}))
