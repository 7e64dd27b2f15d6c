"""Bots in the place of people: they answer like the benchmark, but for errors of a known rate drawn by a keyed hash."""

from collections.abc import Callable, Sequence

from questree.columns.draws import Draws
from questree.people import turns
from questree.people.book import Book, Item
from questree.people.task import Reply, Task, choices_of

Answering = Callable[[Task, Item, str], Reply]  # task, item, name -> what is said


def mistaken(error: float, seed: int) -> Answering:
    """Wrong so often, and then anything else that could be said."""

    def said(task: Task, item: Item, name: str) -> Reply:
        draws = Draws(seed, "bot", name, item.id, item.role)
        asks = task.asks_of(item.role)
        if asks == "checklist":
            there = item.shown["there"]
            marked = [thing for thing in item.shown["objects"] if (thing not in there) != (draws.random() < error)]
            return Reply(marked=tuple(sorted(marked)))
        if asks == "paraphrase":
            return Reply(text=f"Tell me: {item.text}")
        known = [one.value for one in choices_of(task, item.role, item.shown)]
        truth = known[0] if item.role == "confirm" else item.truth
        others = [value for value in known if value != truth]
        if truth is None or (others and draws.random() < error and item.role != "qualification"):
            return Reply(value=draws.choice(others or known))
        return Reply(text=truth) if asks == "text" else Reply(value=truth)

    return said


def simulated(book: Book, name: str, names: Sequence[str], say: Answering) -> int:
    """In turns, each what is given to them, until nobody is given anything; how many answers."""
    task, _ = book.task(name)
    people, count = book.add_annotators(names, "bot"), 0
    held = book.held()
    for one in people:
        turns.begin(book, name, one.annotator)
    working = True
    while working:  # until a round in which nobody is given anything
        working = False
        for one in people:
            if hand := turns.give(book, name, one.annotator):
                turns.answer(book, name, one.annotator, hand.item, say(task, hand.item, one.name), 0.0)
                count, working = count + 1, True
    held.close()
    return count
