"""The judge of AGQA-Decomp scores: loops over the released files, written from the description of the metrics."""

import re
from collections import defaultdict
from typing import Any

TIMES = ["After", "Before", "While", "Between"]
IGNORED = {"Object", "Action", "First Action", "Last Action"} | {
    f"{k} {t}" for k in ("Object", "Action") for t in TIMES
}
ASKED_YES_NO = {"Object Exists", "Relation Exists", "Interaction", "And", "Xor"}
ASKED_YES_NO |= {f"{k} {t}" for k in ("Interaction", "Exists") for t in TIMES}
Counts = dict[Any, list[int]]  # what -> [passed, total]


def group(type: str) -> str:
    for kind in ("Interaction", "Exists"):
        if type in [f"{kind} {time}" for time in TIMES]:
            return f"{kind} Temporal Localization"
    families = {
        "Conjunction": ["And", "Xor"],
        "Choose": ["Choose", "Longer Choose", "Shorter Choose"],
        "Equals": ["Object Equals", "Action Equals"],
        "First/Last": ["First Object", "Last Object"],
        "Longest/Shortest Action": ["Longest Action", "Shortest Action"],
    }
    return next((name for name, types in families.items() if type in types), type)


def count(counts: Counts, what: Any, passed: bool) -> None:
    counts[what][0] += bool(passed)
    counts[what][1] += 1


def scores(files: dict[str, Any], said: dict[str, str]) -> tuple[Counts, list[tuple[float, float]]]:
    """Counts of everything, and (accuracy, consistency) of every DAG that has both."""
    counts: Counts = defaultdict(lambda: [0, 0])
    dags = []
    for name, content in files.items():
        if name == "isolated.json":
            for row in content:
                if row["type"] not in IGNORED:
                    right = row["answer"] is not None and said.get(row["key"]) == row["answer"]
                    for of in (group(row["type"]), "Overall"):
                        count(counts, ("accuracy", of, str(row["answer"])), right)
                        count(counts, ("question accuracy", "type", of), right)
            continue
        seen = {what: set[str]() for what in ("accuracy", "parents", "checks")}
        for dag in content.values():
            one = Dag(dag, said)
            one.accuracy(counts, seen["accuracy"])
            one.parents(counts, seen["parents"])
            one.consistency(counts, seen["checks"])
            pair = one.pair()
            if pair is not None:
                dags.append(pair)
    return counts, dags


class Dag:
    def __init__(self, dag: dict[str, Any], said: dict[str, str]):
        self.nodes, self.hierarchy = dag["subquestion"], dag["hierarchy"]
        self.said = {text: said.get(node["key"]) for text, node in self.nodes.items()}

    def known(self, text: str) -> bool:
        return self.nodes[text]["answer"] is not None

    def scored(self, text: str) -> bool:
        """What nobody knows and nobody answered is as if it were of an unscored type."""
        return self.nodes[text]["type"] not in IGNORED and (self.known(text) or self.said[text] is not None)

    def usable(self, text: str) -> bool:
        return self.scored(text) and self.known(text)

    def right(self, text: str) -> bool:
        return bool(self.said[text] == self.nodes[text]["answer"])

    def accuracy(self, counts: Counts, seen: set[str]) -> None:
        for text, node in self.nodes.items():
            if self.usable(text) and text not in seen:
                seen.add(text)
                for of in (group(node["type"]), "Overall"):
                    count(counts, ("accuracy", of, node["answer"]), self.right(text))
                    count(counts, ("question accuracy", "type", of), self.right(text))

    def parents(self, counts: Counts, seen: set[str]) -> None:
        for text, parts in self.hierarchy.items():
            if not self.usable(text) or text in seen:
                continue
            seen.add(text)
            everything = {child for children in parts.values() for child in children}
            self.reasons(counts, text, "type", group(self.nodes[text]["type"]), list(everything))
            for composition, children in parts.items():
                self.reasons(counts, text, "composition", composition, children)

    def reasons(self, counts: Counts, text: str, by: str, of: str, children: list[str]) -> None:
        children = [child for child in children if self.usable(child)]
        if not children:
            return
        wrong = sum(not self.right(child) for child in children)
        for row in (of, "Overall"):
            for metric in ["CA"] if wrong == 0 else ["RWR", f"RWR-{wrong}"]:
                count(counts, (metric, by, row), self.right(text))

    def consistency(self, counts: Counts, seen: set[str]) -> None:
        for text, parts in self.hierarchy.items():
            if self.scored(text) and text not in seen:
                seen.add(text)
                for composition, children in parts.items():
                    for rule, passed in self.rules(text, composition, children):
                        count(counts, ("IC", rule), passed)
                        count(counts, ("IC", group(self.nodes[text]["type"]), rule), passed)

    def facts(self, text: str, composition: str, children: list[str]) -> tuple[str, Any, Any, Any] | None:
        """(kind, x, y, v): what the rules look at; None if nothing applies."""
        v = [self.said[child] for child in children if self.scored(child) and self.nodes[child]["type"] in ASKED_YES_NO]
        if composition in ("Interaction", "After", "Before", "While"):
            return ("one way", None, None, v) if v else None
        if composition in ("And", "Between"):
            return ("both ways", None, None, v) if v else None
        if composition not in ("Xor", "Equals", "Choose") or len(children) != 2:
            return None
        if not all(map(self.scored, children)):
            return None
        one, two = children
        s1, s2 = self.said[one], self.said[two]
        if composition == "Xor":
            match = s1 == "yes" and s2 == "no"
            return "match", match, match, None
        if composition == "Choose":
            return "choose", one, two, None
        if self.nodes[text]["type"] != "Object Equals":
            return None
        if one in self.hierarchy:
            return "match", s1 == s2, s1 == s2, None
        thing = self.thing(one)
        if thing is None:
            return None
        return "match", s2 == thing, s2 == thing and s1 == "yes", None

    def thing(self, text: str) -> str | None:
        found = re.fullmatch(r"objExists\(([^()]*)\)", self.nodes[text].get("program") or "")
        return found[1] if found else None

    def chosen(self, text: str, one: str, two: str) -> list[tuple[str, bool]]:
        a, pair = self.said[text], (self.said[one], self.said[two])
        if a in ("before", "after"):
            return [("Choose Temporal", pair == (("yes", "no") if a == "before" else ("no", "yes")))]
        options = [self.hierarchy.get(child, {}).get("Equals") for child in (one, two)]
        if options[0] is None or options[1] is None:
            return []
        things = [self.thing(option[0]) if option else None for option in options]
        if a == things[0]:
            return [("Choose Object", pair == ("yes", "no"))]
        return [("Choose Object", pair == ("no", "yes"))] if a == things[1] else []

    def rules(self, text: str, composition: str, children: list[str]) -> list[tuple[str, bool]]:
        found = self.facts(text, composition, children)
        if found is None:
            return []
        kind, x, y, v = found
        a, checks = self.said[text], []
        if kind == "choose":
            return self.chosen(text, x, y)
        if kind == "one way":
            if a == "yes":
                checks.append(("Yes", all(s == "yes" for s in v)))
            if "no" in v:
                checks.append(("No", a == "no"))
        elif kind == "both ways":
            every, some = all(s == "yes" for s in v), "no" in v
            if a == "yes" or every:
                checks.append(("Yes", a == "yes" and every))
            if a == "no" or some:
                checks.append(("No", a == "no" and some))
        else:
            if a == "yes" or x:
                checks.append(("Yes", a == "yes" and y))
            if a == "no" or not y:
                checks.append(("No", a == "no" and not x))
        return [(f"{composition} {side}", passed) for side, passed in checks]

    def single(self, text: str, composition: str, children: list[str]) -> list[bool]:
        """At most one check of a composition, as the correlation counts them."""
        found = self.facts(text, composition, children)
        if found is None:
            return []
        kind, x, y, v = found
        a = self.said[text]
        if kind == "choose":
            return [passed for _, passed in self.chosen(text, x, y)]
        if kind == "one way":
            if a == "yes":
                return [all(s == "yes" for s in v)]
            return [a == "no"] if "no" in v else []
        if kind == "both ways":
            every, some = all(s == "yes" for s in v), "no" in v
            if a in ("yes", "no"):
                return [every if a == "yes" else some]
            return [False] if every or some else []
        return [bool(y) if a == "yes" else not x if a == "no" else False]

    def pair(self) -> tuple[float, float] | None:
        nodes = [text for text in self.nodes if self.usable(text)]
        checks = [
            passed
            for text, parts in self.hierarchy.items()
            if self.scored(text)
            for composition, children in parts.items()
            for passed in self.single(text, composition, children)
        ]
        if not nodes or not checks:
            return None
        return sum(map(self.right, nodes)) / len(nodes), sum(checks) / len(checks)
