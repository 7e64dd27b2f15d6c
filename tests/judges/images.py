"""The naive meaning of the image operators: sets and loops over scenes as they are in the file."""

from typing import Any

from questree.domains.images.kinds import COUNT
from questree.terms import Node, Term, Word


class Undefined(Exception):
    pass


class Judge:
    """The objects of some scenes; `do_X` is what operator X means."""

    def __init__(self, scenes: dict[str, Any], groups: dict[str, str], names: list[str]):
        self.objects = {key: each for name in dict.fromkeys(names) for key, each in scenes[name]["objects"].items()}
        self.image = {key: name for name in dict.fromkeys(names) for key in scenes[name]["objects"]}
        self.groups = groups

    def edges(self, key: str) -> set[tuple[str, str]]:
        found = set()
        for relation in self.objects[key].get("relations", []):
            if relation["name"] not in ("to the left of", "to the right of"):
                for each in (relation, *relation.get("prepositions", [])):
                    found.add((each["name"], each["object"]))
        return found

    def values(self, key: str, group: str) -> set[str]:
        return {value for value in self.objects[key].get("attributes", []) if self.groups.get(value) == group}

    def value(self, node: Node) -> Any:
        return getattr(self, "do_" + node.op.name)(*map(self.argument, node.args))

    def argument(self, term: Term) -> Any:
        if isinstance(term, Node):
            return self.value(term)
        assert isinstance(term, Word)
        return int(term.name) if term.kind == COUNT else term.name

    def do_nothing(self) -> None:
        return None

    def do_scene(self) -> set[str]:
        return set(self.objects)

    do_anything = do_scene

    def do_any_link(self) -> None:
        return None

    def do_no_choice(self) -> list[str]:
        return []

    do_any_choice = do_no_choice

    def do_either(self, word: str, rest: list[str]) -> list[str]:
        return [word, *rest]

    def do_find(self, name: str) -> set[str]:
        return {key for key, each in self.objects.items() if each["name"] == name}

    def do_find_any(self, names: list[str]) -> set[str]:
        return {key for key, each in self.objects.items() if not names or each["name"] in names}

    def do_filter_any(self, things: set[str], attributes: list[str]) -> set[str]:
        return {key for key in things if set(attributes) & set(self.objects[key].get("attributes", []))}

    def do_filter(self, things: set[str], attribute: str) -> set[str]:
        return {key for key in things if attribute in self.objects[key].get("attributes", [])}

    def do_with_relation(self, things: set[str], others: set[str], link: str | None) -> set[str]:
        return {a for a in things for name, b in self.edges(a) if link in (name, None) and b in others}

    def do_with_relation_object(self, things: set[str], others: set[str], link: str | None) -> set[str]:
        return {b for a in things for name, b in self.edges(a) if link in (name, None) and b in others}

    def do_relation_between_nouns(self, thing: str, others: set[str]) -> set[tuple[str, str]]:
        edges = {(each["name"], each["object"]) for each in self.objects[thing].get("relations", [])}
        silent = ("of", "with", "to the left of", "to the right of", "complaining to")
        return {(name, target) for name, target in edges if name not in silent and target in others}

    def do_assert_unique(self, things: Any) -> Any:
        if len(things) != 1:
            raise Undefined("not unique" if things else "does not exist")
        return things

    def do_unique(self, things: Any) -> Any:
        return next(iter(self.do_assert_unique(things)))

    do_unique_link = do_unique

    def do_query_link(self, link: tuple[str, str]) -> str:
        return link[0]

    def do_unique_images(self, things: set[str]) -> set[str]:
        return {self.image[key] for key in things}

    def do_group_by_images(self, things: set[str]) -> dict[str, set[str]]:
        return {name: {key for key in things if self.image[key] == name} for name in self.do_unique_images(things)}

    def do_keep_if_values_count_eq(self, groups: dict[str, set[str]], n: int) -> dict[str, set[str]]:
        return {name: group for name, group in groups.items() if len(group) == n}

    def do_keep_if_values_count_geq(self, groups: dict[str, set[str]], n: int) -> dict[str, set[str]]:
        return {name: group for name, group in groups.items() if len(group) >= n}

    def do_keep_if_values_count_leq(self, groups: dict[str, set[str]], n: int) -> dict[str, set[str]]:
        return {name: group for name, group in groups.items() if len(group) <= n}

    def do_keys(self, groups: dict[str, set[str]]) -> set[str]:
        return set(groups)

    def do_count(self, members: Any) -> int:
        return len(members)

    do_count_images = do_count_groups = do_count

    def do_exists(self, things: set[str]) -> bool:
        return bool(things)

    def do_query_name(self, thing: str) -> str:
        return str(self.objects[thing]["name"])

    def do_query_attr(self, thing: str, group: str) -> str | None:
        values = self.values(thing, group)
        if len(values) > 1:
            raise Undefined("several attributes")
        return next(iter(values), None)

    def do_query_common_attribute(self, a: str, b: str) -> str:
        for value in self.objects[a].get("attributes", []):
            group = self.groups.get(value)
            if group and self.values(a, group) & self.values(b, group):
                return group
        raise Undefined("no common attribute")

    def do_verify_attr(self, thing: str, attribute: str) -> bool:
        return attribute in self.objects[thing].get("attributes", [])

    def choose(self, x: str, y: str, holds: set[str]) -> str:
        if x not in holds and y not in holds:
            raise Undefined("neither option")
        return x if x in holds else y

    def do_choose_attr(self, thing: str, x: str, y: str) -> str:
        return self.choose(x, y, set(self.objects[thing].get("attributes", [])))

    def do_choose_name(self, thing: str, x: str, y: str) -> str:
        return self.choose(x, y, {self.objects[thing]["name"]})

    def do_choose_relation(self, name: str, x: str, y: str) -> str:
        return self.choose(x, y, {name})

    def do_all(self, things: set[str], condition: set[str]) -> bool:
        return all(key in condition for key in things)

    def do_some(self, things: set[str], condition: set[str]) -> bool:
        return any(key in condition for key in things)

    def do_none(self, things: set[str], condition: set[str]) -> bool:
        return not self.do_some(things, condition)

    def do_all_same(self, things: set[str], group: str) -> bool:
        return not things or bool(set.intersection(*(self.values(key, group) for key in things)))

    def do_logic_and(self, a: bool, b: bool) -> bool:
        return a and b

    def do_logic_or(self, a: bool, b: bool) -> bool:
        return a or b

    def do_eq(self, a: Any, b: Any) -> bool:
        return bool(a == b)

    do_same_attr = do_same_name = do_eq

    def do_gt(self, a: int, b: int) -> bool:
        return a > b

    def do_geq(self, a: int, b: int) -> bool:
        return a >= b

    def do_lt(self, a: int, b: int) -> bool:
        return a < b

    def do_leq(self, a: int, b: int) -> bool:
        return a <= b

    def do_gt_half(self, a: int, b: int) -> bool:
        return a > b / 2
