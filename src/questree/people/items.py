"""Candidates -> the items of a task: what is shown beside each, which reply fits, gold among them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from questree.columns.draws import Draws
from questree.columns.hashing import seed_of
from questree.people.book import EVERYBODY, Item, Role
from questree.people.sample import among, in_order
from questree.people.task import KEYS, Task

REWORDED = ("Tell me: {}", "Please answer this: {}", "What I would like to know: {}")
FEWEST = 4  # options, if there are as many answers of a type


@dataclass(frozen=True)
class Known:
    """What items are made with, besides the questions."""

    seed: int = 0
    wrong: Mapping[str, str] = field(default_factory=dict)  # id -> a bot's wrong answer
    models: Sequence[Mapping[str, str]] = ()  # of two models: id -> what it says
    objects: Sequence[str] = ()  # that may be absent
    there: Mapping[str, Sequence[str]] = field(default_factory=dict)  # video -> objects that facts show
    others: Mapping[str, str] = field(default_factory=dict)  # id -> another question about its scope, in words


class Drawn(NamedTuple):
    asked: pl.DataFrame
    gold: pl.DataFrame
    qualification: pl.DataFrame


def apart(candidates: pl.DataFrame, asked: pl.DataFrame, gold: int, qualification: int, seed: int) -> Drawn:
    """Gold and qualification are other questions than those that are asked."""
    rest = candidates.join(asked.select("id"), on="id", how="anti", maintain_order="left").drop_nulls("answer")
    ordered = in_order(rest, seed, "gold")
    return Drawn(asked, ordered.head(gold), ordered.slice(gold, qualification))


def items(task: Task, drawn: Drawn, candidates: pl.DataFrame, votes: int, known: Known) -> Iterator[Item]:
    """Qualification first; gold is spread among what is asked."""
    options = Options(candidates, known.seed)
    first, count = len(drawn.qualification), len(drawn.asked) + len(drawn.gold)
    gold = among(len(drawn.asked), len(drawn.gold), known.seed)
    rest = sorted(set(range(count)).difference(gold))
    ranked: list[tuple[int, Role, dict[str, Any]]] = [
        *((at, "qualification", row) for at, row in enumerate(drawn.qualification.to_dicts())),
        *((first + at, "gold", row) for at, row in zip(gold, drawn.gold.to_dicts(), strict=True)),
        *((first + at, "asked", row) for at, row in zip(rest, drawn.asked.to_dicts(), strict=True)),
    ]
    for number, (rank, role, row) in enumerate(sorted(ranked, key=lambda each: each[0])):
        shown, truth = what_is_shown(task, role, row, known, options)
        yield Item(
            item=number,
            rank=rank,
            role=role,
            id=row["id"],
            scope=row["scope"],
            text=row["question"] or "",
            answer=row["answer"],
            shown=shown,
            truth=truth,
            why=reason(task, row, truth) if role == "qualification" else "",
            type=row["type"] or "",
            template=row["template"] or "",
            split=row["split"] or "",
            room=votes if role == "asked" else EVERYBODY,
        )


def reason(task: Task, row: Mapping[str, Any], truth: str | None) -> str:
    if task.ask == "paraphrase":
        same = truth == task.value_of("right", "gold")
        return "Both ask the same." if same else "They do not ask the same: the answers differ."
    return f"The answer is “{row['answer']}”."


def what_is_shown(
    task: Task, role: Role, row: Mapping[str, Any], known: Known, options: "Options"
) -> tuple[dict[str, Any], str | None]:
    """What is shown beside the question, and the reply that fits the benchmark."""
    id, answer = row["id"], row["answer"]
    if task.about == "scopes":
        there = known.there.get(id, ())
        return {"objects": list(known.objects), "there": [word for word in known.objects if word in there]}, None
    if task.about == "models":
        return two_answers(task, role, row, known)
    if task.ask == "paraphrase":
        return ({"paraphrase": ""}, None) if role == "asked" else known_paraphrase(task, row, known)
    if task.ask == "options":
        return {"options": options.of(row)}, answer
    if task.ask == "text":
        return {}, answer
    if role == "asked" or id not in known.wrong or seed_of(known.seed, f"planted {id}") % 2:
        return {"answer": answer}, task.value_of("right") or None
    return {"answer": known.wrong[id]}, task.value_of("wrong") or None


def known_paraphrase(task: Task, row: Mapping[str, Any], known: Known) -> tuple[dict[str, Any], str | None]:
    """The question itself, or another one with another answer, under a phrase that changes nothing."""
    chance = int(seed_of(known.seed, f"reworded {row['id']}"))
    other = known.others.get(row["id"]) if chance % 2 else None
    text = REWORDED[chance // 2 % len(REWORDED)].format(other or row["question"])
    return {"paraphrase": text}, task.value_of("wrong" if other else "right", "gold")


def others(candidates: pl.DataFrame, wanted: pl.DataFrame, seed: int) -> dict[str, str]:
    """id -> id of another question about the same scope with another answer, of the same type if there is one.

    Where a scope has none, a question of another type asks something else too.
    """
    by_scope: dict[tuple[str, ...], list[tuple[str, str, str]]] = defaultdict(list)
    scopes = {tuple(scope) for scope in wanted["scope"]}
    for id, scope, type, answer in candidates.select("id", "scope", "type", "answer").drop_nulls().iter_rows():
        if tuple(scope) in scopes:
            by_scope[tuple(scope)].append((id, type, answer))
    found, known = {}, wanted.select("id", "type", "answer").rows()
    for id, scope, type, answer in wanted.select("id", "scope", "type", "answer").iter_rows():
        differ = [each for each in by_scope[tuple(scope)] if each[2] != answer]
        near = [each for each in differ if each[1] == type] or differ or [each for each in known if each[1] != type]
        if near:
            found[id] = min(near, key=lambda each: seed_of(seed, f"other {id} {each[0]}"))[0]
    return found


def two_answers(task: Task, role: Role, row: Mapping[str, Any], known: Known) -> tuple[dict[str, Any], str | None]:
    """In an order drawn for the question; gold is the truth beside a wrong answer."""
    id = row["id"]
    pair = [said.get(id, "") for said in known.models] if role == "asked" else [row["answer"], known.wrong[id]]
    turned = int(seed_of(known.seed, f"order {id}")) % 2
    first, second = pair[::-1] if turned else pair
    right = [one == row["answer"] for one in (first, second)]
    means = {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}
    truth = task.value_of(means[right[0], right[1]])  # type: ignore[arg-type]
    return {"answers": [first, second], "turned": bool(turned)}, truth or None


class Options:
    """What can be chosen as the answer: what others of the type are answered about the same scope, and more."""

    def __init__(self, candidates: pl.DataFrame, seed: int):
        self.seed = seed
        self.beside: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
        self.of_type: dict[str, list[str]] = defaultdict(list)
        for type, scope, answer in candidates.select("type", "scope", "answer").drop_nulls().iter_rows():
            for found in (self.beside[type, tuple(scope)], self.of_type[type]):
                if answer not in found:
                    found.append(answer)

    def of(self, row: Mapping[str, Any]) -> list[str]:
        """The right one among them, at most as many as have a key; in the order of the alphabet, numbers as such."""
        draws, answer = Draws(self.seed, "options", row["id"]), row["answer"]
        here = [word for word in sorted(self.beside[row["type"], tuple(row["scope"])]) if word != answer]
        elsewhere = [word for word in sorted(self.of_type[row["type"]]) if word != answer and word not in here]
        near = draws.some(here, KEYS - 2)
        more = draws.some(elsewhere, max(0, FEWEST - 1 - len(near)))
        if {answer, *here, *elsewhere} <= {"yes", "no"}:
            return ["yes", "no"]
        return sorted([answer, *near, *more], key=by_number)


def by_number(word: str) -> tuple[bool, int, str]:
    return not word.isdecimal(), int(word) if word.isdecimal() else 0, word
