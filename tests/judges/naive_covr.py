"""The naive judge of COVR's subgraphs and related scenes: sets and loops over scenes as JSON."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

Scene = dict[str, Any]  # {object id: {name, attributes, relations, x, y, w, h}}
Graph = dict[str, Any]
Tables = dict[str, Any]  # nouns, relations, pairs to ignore; contradicting, entailing_..., disjoint, not_disjoint

UNREAD = {"to the left of", "to the right of"}


def objects(scene: Scene) -> Scene:
    """Objects as read: without the two directions, attributes once."""
    return {
        key: {
            **each,
            "attributes": list(dict.fromkeys(each.get("attributes", []))),
            "relations": [r for r in each.get("relations", []) if r["name"] not in UNREAD],
        }
        for key, each in scene["objects"].items()
    }


def canonical(graph: Graph) -> Any:
    """Equal for graphs that differ only in the order of relations."""
    relations = [
        (
            r["name"],
            canonical(r["target"]),
            tuple((p["name"], canonical(p["target"])) for p in r.get("prepositions") or []),
        )
        for r in graph.get("relations") or []
    ]
    return graph["name"], tuple(graph.get("attributes") or ()), tuple(sorted(relations, key=repr))


def length(graph: Graph) -> int:
    total = 1
    for relation in graph.get("relations") or []:
        total += 1 + length(relation["target"])
        total += sum(2 for _ in relation.get("prepositions") or [])
    return total


def depth(graph: Graph) -> int:
    found = 1
    for relation in graph.get("relations") or []:
        found = max(found, 2 + depth(relation["target"]), 4 if relation.get("prepositions") else 0)
    return found


# ---- subgraphs -------------------------------------------------------------------------------------------------------


def subgraphs(scene: Scene, tables: Tables) -> dict[str, list[Graph]]:
    """Root object -> its graphs, each once."""
    things = objects(scene)
    found: dict[str, list[Graph]] = {}
    for key, thing in things.items():
        if fits(thing, tables):
            by_form = {repr(canonical(graph)): graph for graph in graphs(thing, things, tables, ())}
            found[key] = list(by_form.values())
    return found


def fits(thing: dict[str, Any], tables: Tables) -> bool:
    if thing["name"] in tables["nouns"]:
        return False
    return thing.get("w") is None or thing["w"] * thing["h"] > 400


def graphs(thing: dict[str, Any], things: Scene, tables: Tables, path: tuple[str, ...]) -> Iterator[Graph]:
    """Graphs of a node at the end of a path of names from the root."""
    path = (*path, thing["name"])
    edges = list(usable(thing, things, tables, path))
    for attributes in [[], *([a] for a in thing["attributes"])]:
        node = {"name": thing["name"], "attributes": attributes}
        yield node
        if len(path) > 2:
            continue
        for edge in edges:
            for target in graphs(things[edge["object"]], things, tables, path):
                if (edge["name"], target["name"]) in tables["pairs"] and not target["attributes"]:
                    continue
                yield {**node, "relations": [{"name": edge["name"], "target": target, **hanging(edge, things)}]}
        for first, second in combinations([e for e in edges if not e.get("prepositions")], 2):
            if things[first["object"]]["name"] != things[second["object"]]["name"]:
                for left in bare(first, things, tables):
                    for right in bare(second, things, tables):
                        yield {**node, "relations": [left, right]}


def usable(thing: dict[str, Any], things: Scene, tables: Tables, path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    seen = set()
    for edge in thing["relations"]:
        target = things[edge["object"]]
        if edge["name"] in tables["relations"] or not fits(target, tables) or target["name"] in path:
            continue
        if (edge["name"], target["name"]) not in seen:
            seen.add((edge["name"], target["name"]))
            yield edge


def hanging(edge: dict[str, Any], things: Scene) -> dict[str, Any]:
    """All prepositions of an edge, their targets bare; nothing if there are none."""
    names = [(p["name"], things[p["object"]]["name"]) for p in edge.get("prepositions") or []]
    if not names:
        return {}
    return {"prepositions": [{"name": name, "target": {"name": noun, "attributes": []}} for name, noun in names]}


def bare(edge: dict[str, Any], things: Scene, tables: Tables) -> Iterator[dict[str, Any]]:
    target = things[edge["object"]]
    for attributes in [[], *([a] for a in target["attributes"])]:
        if attributes or (edge["name"], target["name"]) not in tables["pairs"]:
            yield {"name": edge["name"], "target": {"name": target["name"], "attributes": attributes}}


# ---- related scenes --------------------------------------------------------------------------------------------------
# A pattern is a graph whose words are sets: {names, attributes, relations: [(number, names, pattern, prepositions)]},
# None for anything; prepositions: [(number, names, pattern)]. Numbers are those of the given graph's elements.

Pattern = dict[str, Any]


def pattern(graph: Graph, change: dict[str, Any] | None = None, number: int = 0) -> tuple[Pattern, int]:
    """The pattern of a graph, some of its elements changed: {"2": names, "1": relation names, "0a": attributes}."""
    change = change or {}
    attributes = graph.get("attributes") or []
    made: Pattern = {
        "number": number,
        "names": change.get(f"{number}", {graph["name"]}),
        "attributes": change.get(f"{number}a", {attributes[0]} if attributes else None),
        "relations": [],
    }
    following = number + 1
    for relation in graph.get("relations") or []:
        own, names = following, change.get(f"{following}", {relation["name"]})
        target, following = pattern(relation["target"], change, own + 1)
        prepositions = []
        for preposition in relation.get("prepositions") or []:
            at, prep_names = following, change.get(f"{following}", {preposition["name"]})
            prep_target, following = pattern(preposition["target"], change, at + 1)
            prepositions.append((at, prep_names, prep_target))
        made["relations"].append((own, names, target, prepositions))
    return made, following


def matches(thing: dict[str, Any], node: Pattern, things: Scene) -> bool:
    if node["names"] is not None and thing["name"] not in node["names"]:
        return False
    if node["attributes"] is not None and not node["attributes"] & set(thing["attributes"]):
        return False
    for _, names, target, prepositions in node["relations"]:
        if not any(
            edge["name"] in names
            and matches(things[edge["object"]], target, things)
            and all(
                any(
                    p["name"] in prep_names and matches(things[p["object"]], prep_target, things)
                    for p in edge.get("prepositions") or []
                )
                for _, prep_names, prep_target in prepositions
            )
            for edge in thing["relations"]
        ):
            return False
    return True


def number_of_roots(things: Scene, made: Pattern) -> int:
    return sum(matches(thing, made, things) for thing in things.values())


def elements(graph: Graph, number: int = 0, subject: str | None = None) -> Iterator[dict[str, Any]]:
    """Depth first; subject: the name of the thing the relation that leads here starts from."""
    relations = graph.get("relations") or []
    yield {"at": number, "is": "node", "graph": graph, "leaf": not relations}
    number += 1
    for relation in relations:
        yield {"at": number, "is": "relation", "name": relation["name"], "subject": graph["name"], "of": relation}
        below = list(elements(relation["target"], number + 1))
        yield from below
        number = below[-1]["at"] + 1
        for preposition in relation.get("prepositions") or []:
            about = {"name": preposition["name"], "subject": graph["name"], "of": preposition}
            yield {"at": number, "is": "preposition", **about}
            below = list(elements(preposition["target"], number + 1))
            yield from below
            number = below[-1]["at"] + 1


def without(relaxed: Pattern, leaf: int) -> Pattern:
    """Without the relation, or the preposition, that leads to this leaf."""
    kept = []
    for number, names, target, prepositions in relaxed["relations"]:
        if number + 1 == leaf:
            continue
        left = [(n, s, without(t, leaf)) for n, s, t in prepositions if n + 1 != leaf]
        kept.append((number, names, without(target, leaf), left))
    return {**relaxed, "relations": kept}


def related(graph: Graph, scenes: dict[str, Scene], tables: Tables) -> tuple[set[str], dict[str, set[str]]]:
    """Scenes that contain the graph; kind -> scenes that nearly do. Scenes as read, by `objects`."""
    positive = contain(pattern(graph)[0], scenes)
    negative = {}
    for kind, changed, kept in kinds(graph, scenes, tables):
        found = contain(pattern(graph, changed)[0], scenes) - contain(kept, scenes)
        if found:
            negative[kind] = found
    return positive, negative


def contain(made: Pattern, scenes: dict[str, Scene]) -> set[str]:
    return {scene for scene, things in scenes.items() if number_of_roots(things, made)}


def kinds(graph: Graph, scenes: dict[str, Scene], tables: Tables) -> Iterator[tuple[str, dict[str, Any], Pattern]]:
    parts = list(elements(graph))
    nodes = {part["at"]: part for part in parts if part["is"] == "node"}
    links = {part["at"]: part for part in parts if part["is"] != "node"}
    relaxed = pattern(graph, relaxing(parts, tables))[0]
    singles: dict[str, dict[str, Any]] = {}
    for at, node in nodes.items():
        given = node["graph"].get("attributes") or []
        if given and tables["contradicting"].get(given[0]):
            singles[f"{at}_attr"] = {f"{at}a": tables["contradicting"][given[0]]}
        if not given:
            singles[f"{at}_name"] = {f"{at}": None}
    for at, link in links.items():
        if link["is"] == "relation" and tables["disjoint"].get(link["name"]):
            singles[f"{at}_relation"] = {f"{at}": tables["disjoint"][link["name"]]}
    for kind, change in singles.items():
        yield kind, change, relaxed
        if "0_attr" in singles and kind != "0_attr":
            yield f"{kind}_neg_attr_main_object", {**change, **singles["0_attr"]}, {**relaxed, "attributes": None}
        if kind.endswith("_name"):
            for leaf, others in negative_objects(kind, nodes, links, scenes, tables):
                yield f"{kind}_neg_object_{leaf}", {**change, f"{leaf}": others}, without(relaxed, leaf)
        if kind in ("0_attr", "0_name"):
            for at, others in negative_relations(nodes, links, scenes, tables):
                yield f"{kind}_neg_relation_{at}", {**change, f"{at}": others}, {**relaxed, "relations": []}


def relaxing(parts: list[dict[str, Any]], tables: Tables) -> dict[str, Any]:
    change: dict[str, Any] = {}
    for part in parts:
        at = part["at"]
        if part["is"] != "node":
            change[f"{at}"] = {part["name"]} | tables["not_disjoint"].get(part["name"], set())
            continue
        name, given = part["graph"]["name"], part["graph"].get("attributes") or []
        change[f"{at}"] = {name} | tables["entailing_nouns"].get(name, set())
        if given:
            change[f"{at}a"] = {given[0]} | tables["entailing_attributes"].get(given[0], set())
    return change


def negative_objects(
    kind: str, nodes: dict[int, Any], links: dict[int, Any], scenes: dict[str, Scene], tables: Tables
) -> Iterator[tuple[int, set[str]]]:
    if any(at and node["graph"].get("attributes") for at, node in nodes.items()):
        return
    leading = [links[at - 1]["name"] for at, node in nodes.items() if at and node["leaf"]]
    if len(set(leading)) < len(leading):
        return
    for at, node in nodes.items():
        if not at or not node["leaf"] or kind == f"{at}_name" or links[at - 1]["name"] == "of":
            continue
        own = node["graph"]["name"]
        seen = {t for s, r, t in triples(scenes) if (s, r) == (links[at - 1]["subject"], links[at - 1]["name"])}
        if others := seen - {own} - tables["entailing_nouns"].get(own, set()):
            yield at, others


def negative_relations(
    nodes: dict[int, Any], links: dict[int, Any], scenes: dict[str, Scene], tables: Tables
) -> Iterator[tuple[int, set[str]]]:
    for at, link in links.items():
        if link["is"] != "relation" or not nodes[at + 1]["leaf"]:
            continue
        ends = link["subject"], nodes[at + 1]["graph"]["name"]
        seen = {r for s, r, t in triples(scenes, False) if (s, t) == ends}
        if others := seen & tables["disjoint"].get(link["name"], set()):
            yield at, others


def triples(scenes: dict[str, Scene], prepositions: bool = True) -> set[tuple[str, str, str]]:
    """(name, relation, name) of every edge; a preposition starts from the subject of its relation."""
    found = set()
    for things in scenes.values():
        for thing in things.values():
            for edge in thing["relations"]:
                hanging = edge.get("prepositions") or [] if prepositions else []
                found |= {(thing["name"], r["name"], things[r["object"]]["name"]) for r in [edge, *hanging]}
    return found
