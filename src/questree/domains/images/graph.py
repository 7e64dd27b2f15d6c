"""A reference as a graph: a thing by its name, perhaps one attribute, and its relations to other things."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONG = 5  # a chain, or two relations


@dataclass(frozen=True)
class Graph:
    name: str
    attribute: str | None = None
    relations: tuple["GraphRelation", ...] = ()  # at most two

    def __hash__(self) -> int:
        """Graphs are looked up again and again: hash each once."""
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = self.__dict__["_hash"] = hash((self.name, self.attribute, self.relations))
        return known

    def __reduce__(self) -> tuple[type["Graph"], tuple[Any, ...]]:
        return Graph, (self.name, self.attribute, self.relations)  # hashes differ from process to process

    @property
    def length(self) -> int:
        """Nodes, relations and prepositions."""
        return 1 + sum(relation.length for relation in self.relations)

    @property
    def depth(self) -> int:
        """1 + 2 per relation on the longest path; at least 4 with a preposition."""
        below = [relation.target.depth + 2 for relation in self.relations]
        return max([1, *below, *(4 for relation in self.relations if relation.prepositions)])

    @property
    def is_long(self) -> bool:
        """Is it hard to follow inside a sentence?"""
        return self.length >= LONG

    @property
    def nodes(self) -> Iterator["Graph"]:
        """Depth first, the root first."""
        yield self
        for relation in self.relations:
            yield from relation.target.nodes
            for preposition in relation.prepositions:
                yield from preposition.target.nodes

    @property
    def elements(self) -> Iterator[tuple[int, "GraphRelation"]]:
        """The root's relations with their numbers: the root is 0, a target comes after its relation."""
        number = 1
        for relation in self.relations:
            yield number, relation
            number += relation.length

    def without_attribute(self) -> "Graph":
        return Graph(self.name, None, self.relations)

    def without(self, relation: "GraphRelation") -> "Graph":
        """Without one of the root's relations."""
        return Graph(self.name, self.attribute, tuple(each for each in self.relations if each is not relation))

    @property
    def words(self) -> Iterator[str]:
        """Every name, attribute and relation."""
        for node in self.nodes:
            yield node.name
            if node.attribute is not None:
                yield node.attribute
            for relation in node.relations:
                yield relation.name
                yield from (preposition.name for preposition in relation.prepositions)


@dataclass(frozen=True)
class Preposition:
    name: str  # with its relation: "pouring:_into"
    target: Graph


@dataclass(frozen=True)
class GraphRelation:
    name: str
    target: Graph
    prepositions: tuple[Preposition, ...] = ()

    @property
    def length(self) -> int:
        return 1 + self.target.length + sum(1 + preposition.target.length for preposition in self.prepositions)


def from_json(graph: dict[str, Any]) -> Graph:
    """COVR's graph form: {name, attributes: [] or [one], relations: [{name, target, prepositions}]}."""
    attributes = graph.get("attributes") or []
    return Graph(
        graph["name"], attributes[0] if attributes else None, tuple(map(_relation, graph.get("relations") or ()))
    )


def _relation(relation: dict[str, Any]) -> GraphRelation:
    prepositions = (Preposition(p["name"], from_json(p["target"])) for p in relation.get("prepositions") or ())
    return GraphRelation(relation["name"], from_json(relation["target"]), tuple(prepositions))


def to_json(graph: Graph) -> dict[str, Any]:
    found: dict[str, Any] = {"name": graph.name, "attributes": [graph.attribute] if graph.attribute is not None else []}
    if graph.relations:
        found["relations"] = [_relation_json(relation) for relation in graph.relations]
    return found


def _relation_json(relation: GraphRelation) -> dict[str, Any]:
    found: dict[str, Any] = {"name": relation.name, "target": to_json(relation.target)}
    if relation.prepositions:
        found["prepositions"] = [{"name": p.name, "target": to_json(p.target)} for p in relation.prepositions]
    return found
