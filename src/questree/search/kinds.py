"""The kinds of distracting images a reference has, as data: what is changed, and what must not be there."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from questree.domains.images.graph import Graph
from questree.search.graph_columns import GraphForm, form_of

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
    for single in _single_edits(form):
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


def _single_edits(form: GraphForm) -> Iterator[Edit]:
    for node in range(len(form)):
        if node and not form.preposition[node]:
            yield Edit(node, RELATION)
        yield Edit(node, ATTRIBUTE)
        yield Edit(node, NAME)


def kinds_of(graph: Graph) -> tuple[DistractorKind, ...]:
    """The kinds that fit the graph's attributes; whether they have scenes depends on the words and the images."""
    attributes = [node.attribute for node in graph.nodes]
    bare = not any(attributes[1:])
    return tuple(kind for kind in kinds_of_form(form_of(graph)) if all(_fits(e, attributes, bare) for e in kind.edits))


def _fits(edit: Edit, attributes: list[str | None], bare: bool) -> bool:
    if edit.what == ATTRIBUTE:
        return attributes[edit.node] is not None
    if edit.what == NAME:
        return attributes[edit.node] is None
    return bare or edit.what != OTHER_OBJECT
