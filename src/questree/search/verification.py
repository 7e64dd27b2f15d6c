"""Scores from outside, and whether a distractor is one: a scorer that sees the pixels may find the reference in it."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from questree.domains.images.graph import Graph, GraphRelation, from_json
from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.places import path_of
from questree.search.distractors import ATTRIBUTE, NAME, OTHER_OBJECT, OTHER_RELATION, RELATION, DistractorKind, nodes
from questree.tables.store import content

Record = TypeVar("Record", bound=msgspec.Struct)
Item = TypeVar("Item")


def function(place: str) -> Callable[..., Any]:
    """The function that a "module:function" names; modules of the current folder are found too."""
    module, _, name = place.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # whatever somebody's module does while it is imported
        why = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise BadInput.at(
            place, f"neither a file nor a function of a module ({why}); expected module:function"
        ) from error
    if not callable(found):
        raise BadInput.at(place, f"{name!r} of {module} is not a function")
    return found  # type: ignore[no-any-return]


def records(path: Path, kind: type[Record]) -> list[Record]:
    """The records of a JSON list, all faults at once."""
    fields = ", ".join(field.name for field in msgspec.structs.fields(kind))
    try:
        given = msgspec.json.decode(content(path), type=list[msgspec.Raw])
    except UNREADABLE as error:
        raise BadInput.at(path, f"expected a list of {{{fields}}}; {error}") from error
    found, faults = list[Record](), list[Fault]()
    for at, raw in enumerate(given):
        try:
            found.append(msgspec.json.decode(raw, type=kind))
        except UNREADABLE as error:
            faults.append(Fault(f"{path}, record {at}", f"expected {{{fields}}}; {error}"))
    refuse(faults)
    return found


Check = tuple[str, Graph]  # image id, simple graph
Scorer = Callable[[Sequence[Check]], Sequence[float]]  # how sure is it that the image contains the graph?

# A score above says that the graph is there; by what was changed about it (COVR, App. B).
THRESHOLDS = {NAME: 0.05, OTHER_OBJECT: 0.05, RELATION: 0.1, OTHER_RELATION: 0.1, ATTRIBUTE: 0.5}


@dataclass(frozen=True)
class Simple:
    """A part of a graph with at most two nodes, one relation and one attribute."""

    graph: Graph
    links: frozenset[int]  # elements of the whole graph: relations and prepositions,
    names: frozenset[int]  # nodes,
    attributes: frozenset[int]  # and nodes whose attribute it has


class ScoredGraph(msgspec.Struct):
    image: str
    graph: dict[str, Any]
    score: float


def scorer_of(place: str) -> Scorer:
    """A Python function as module:function, or a JSON file [{image, graph, score}]; what is not in it scores 0."""
    if not path_of(place).is_file():
        return function(place)
    scored = {(each.image, from_json(each.graph)): each.score for each in records(path_of(place), ScoredGraph)}
    return lambda checks: [scored.get(check, 0.0) for check in checks]


def score_each(checks: Sequence[Item], scorer: Callable[[Sequence[Item]], Sequence[float]]) -> list[float]:
    """[check] its score, if there are as many scores as checks."""
    scores = list(scorer(checks))
    if len(scores) != len(checks):
        raise BadInput.at("verification", f"expected a score for each of {len(checks):,} graphs, got {len(scores):,}")
    return scores


def simple_graphs(graph: Graph) -> list[Simple]:
    """Every relation with its two ends; every node whose attribute no such part has; a single node by itself."""
    every, found = nodes(graph), list[Simple]()
    for at, (parent, preposition, name, attribute, link) in enumerate(every):
        if link is not None:  # with the subject's attribute, or the target's if the subject has none
            subject = every[parent][0] if preposition else parent
            _, _, who, how, _ = every[subject]
            made = Graph(who, how, (GraphRelation(link, Graph(name, attribute if how is None else None)),))
            said = {2 * subject} if how is not None else {2 * at} if attribute is not None else set[int]()
            found.append(Simple(made, frozenset({2 * at - 1}), frozenset({2 * subject, 2 * at}), frozenset(said)))
    told = {node for part in found for node in part.attributes}
    for at, (_, _, name, attribute, _) in enumerate(every):
        if (attribute is not None and 2 * at not in told) or len(every) == 1:
            own = frozenset({2 * at})
            found.append(Simple(Graph(name, attribute), frozenset(), own, frozenset() if attribute is None else own))
    return found


def _changed(graph: Graph, kind: DistractorKind) -> list[tuple[Graph, float]]:
    """Parts of a graph with a change in them, and what their score must not exceed: the highest of the changes."""
    found = []
    for part in simple_graphs(graph):
        places = {ATTRIBUTE: part.attributes, NAME: part.names, OTHER_OBJECT: part.names}
        changed = [THRESHOLDS[edit.what] for edit in kind.edits if edit.element in places.get(edit.what, part.links)]
        if changed:
            found.append((part.graph, max(changed)))
    return found


def verified(hits: Sequence[tuple[str, Graph, DistractorKind]], scorer: Scorer) -> NDArray[np.bool_]:
    """[hit] does the image stay a distractor, by this kind? Not if every changed part seems to be there after all."""
    limits = [[((image, part), limit) for part, limit in _changed(graph, kind)] for image, graph, kind in hits]
    asked = list(dict.fromkeys(check for parts in limits for check, _ in parts))
    known = dict(zip(asked, score_each(asked, scorer), strict=True))
    stays = [not parts or any(known[check] <= limit for check, limit in parts) for parts in limits]
    return np.array(stays, bool)
