"""Programs about sets of images in COVR's rows, of very many shapes: what executors are measured on."""

import random
from collections.abc import Sequence
from typing import Any

SETS = ("with_relation", "with_relation_object", "filter", "find")
LONGEST = 4  # sets that one is made of


def random_programs(
    count: int, images: Sequence[str], nouns: Sequence[str], attributes: Sequence[str], links: Sequence[str], seed: int
) -> list[dict[str, Any]]:
    """[{id, scenes, program}]: chains and trees of references, counted, compared, quantified and combined."""
    draw = random.Random(seed)
    return [
        {
            "id": number,
            "scenes": draw.sample(images, min(len(images), draw.randint(1, 5))),
            "program": _Drawn(draw, nouns, attributes, links).rows,
        }
        for number in range(count)
    ]


class _Drawn:
    """One program."""

    def __init__(self, draw: random.Random, nouns: Sequence[str], attributes: Sequence[str], links: Sequence[str]):
        self.draw, self.nouns, self.attributes, self.links = draw, nouns, attributes, links
        self.rows = list[dict[str, Any]]()
        self.truth(draw.randint(0, 2)) if draw.random() < 0.6 else self.number()

    def row(self, operation: str, arguments: Sequence[Any] = (), *dependencies: int) -> int:
        self.rows.append({"operation": operation, "arguments": list(arguments), "dependencies": list(dependencies)})
        return len(self.rows) - 1

    def things(self) -> int:
        found = self.row("find", [self.draw.choice(self.nouns)])
        for _ in range(self.draw.randint(0, LONGEST - 1)):
            step = self.draw.choice(SETS)
            if step == "filter":
                found = self.row("filter", [self.draw.choice(self.attributes)], found)
            elif step != "find":
                other = self.row("find", [self.draw.choice(self.nouns)])
                found = self.row(step, [self.draw.choice(self.links)], *self.draw.sample([found, other], 2))
        return found

    def number(self) -> int:
        if self.draw.random() < 0.3:
            return self.row("count", [], self.row("unique_images", [], self.things()))
        return self.row("count", [], self.things())

    def truth(self, depth: int) -> int:
        how = self.draw.choice(["exists", "compare", "quantifier", "both"] if depth else ["exists", "compare"])
        if how == "exists":
            return self.row("exists", [], self.things())
        if how == "compare":
            return self.row(self.draw.choice(["eq", "gt", "lt", "geq", "leq"]), [], self.number(), self.number())
        if how == "quantifier":
            condition = _Drawn.__new__(_Drawn)
            condition.__dict__ |= self.__dict__ | {"rows": []}
            found = condition.row("filter", [self.draw.choice(self.attributes)], condition.row("scene"))
            assert found
            return self.row(self.draw.choice(["all", "some", "none"]), [condition.rows], self.things())
        return self.row(self.draw.choice(["logic_and", "logic_or"]), [], self.truth(depth - 1), self.truth(depth - 1))
