"""Runs whose questions people are asked about, and people who answer as a test says."""

import shutil
from collections.abc import Callable
from pathlib import Path

from questree.people import turns
from questree.people.book import Book, Item
from questree.people.task import Reply
from questree.tables.run import Run
from worlds.commands import run

Says = Callable[[str, Item], Reply]  # name, item -> what is said


def copied(notebook: Path, name: str, folder: Path) -> Run:
    """A run of the notebook, to be written into."""
    shutil.copytree(notebook / name, folder / name)
    return Run(folder / name)


def asked(place: Run, options: str) -> Book:
    """With a task."""
    run(f"questree people new {place.folder.name} {options} --quiet", place.folder.parent)
    return Book.of(place)


def answer_all(book: Book, task: str, names: list[str], says: Says) -> int:
    """In turns, to the end."""
    people, count, working = book.add_annotators(names), 0, True
    while working:
        working = False
        for one in people:
            if hand := turns.give(book, task, one.annotator):
                turns.answer(book, task, one.annotator, hand.item, says(one.name, hand.item), 5.0)
                count, working = count + 1, True
    return count
