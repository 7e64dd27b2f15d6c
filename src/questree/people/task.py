"""What people are asked, as data: a file says what is shown, what is asked and how it is explained."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from questree.faults import BadInput, Fault, refuse
from questree.places import path_of

About = Literal["questions", "scopes", "models"]
Ask = Literal["choice", "options", "text", "checklist", "paraphrase"]
Means = Literal["", "right", "wrong", "unsure", "fault", "first", "second", "both", "neither"]
KEYS = 9  # choices that have a key of their own
LONGEST = 500  # characters of what is typed


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    value: str
    label: str
    means: Means = ""  # what it says about the answer that is shown, or about the two that are
    more: str = ""  # what may be typed beside it


class FaultKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    value: str
    label: str


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: str
    reply: str
    why: str
    answer: str = ""


class Confirm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a second person is asked about what the first one wrote."""

    prompt: str
    choices: tuple[Choice, ...]


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    prompt: str
    instructions: str
    about: About = "questions"
    ask: Ask = "choice"
    shows: tuple[Literal["question", "answer", "answers"], ...] = ("question",)
    choices: tuple[Choice, ...] = ()
    faults: tuple[FaultKind, ...] = ()
    examples: tuple[Example, ...] = ()
    confirm: Confirm | None = None
    votes: int = 3
    least: int = 1  # characters of what is typed
    most: int = LONGEST
    admitted: float = 0.0  # least share of the qualification answered right at once

    @property
    def answers(self) -> bool:
        """Are questions answered, or answers judged, so that people can be scored?"""
        return self.about == "questions" and self.ask in ("choice", "options", "text")

    def asks_of(self, role: str) -> Ask:
        """What is asked of an item: whether a paraphrase keeps the meaning is a choice, and known of gold."""
        return "choice" if self.ask == "paraphrase" and role != "asked" else self.ask

    def value_of(self, means: Means, role: str = "asked") -> str:
        """The first choice that means this; "" without one."""
        return next((one.value for one in choices_of(self, role, {}) if one.means == means), "")

    def means(self, value: str) -> Means:
        return next((one.means for one in self.choices if one.value == value), "")


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What somebody said to an item."""

    value: str = ""
    text: str = ""
    faults: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()


def shipped() -> list[str]:
    folder = files("questree.people") / "tasks"
    return sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))


def read_task(given: str) -> tuple[str, Task]:
    """The name of a task and the task: one of those that are shipped, or a file of one's own."""
    if given in shipped():
        return given, shipped_task(given)
    path = path_of(given)
    if not path.is_file():
        known = f"choose from {', '.join(shipped())}, or give a TOML file"
        raise BadInput.at("--task", f"expected a task, got {given!r}; {known}")
    try:
        return path.stem, understood(path, path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.at(path, f"cannot be read ({error})") from error


@cache
def shipped_task(name: str) -> Task:
    return understood(name, (files("questree.people") / "tasks" / f"{name}.toml").read_text("utf-8"))


def understood(place: object, text: str) -> Task:
    try:
        task: Task = msgspec.convert(tomllib.loads(text), Task)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadInput.at(place, f"not a task ({error})") from error
    refuse([Fault(str(place), message) for message in wrong(task)])
    return task


def wrong(task: Task) -> list[str]:
    """All that does not go together."""
    found = []
    values = [one.value for one in task.choices]
    if task.ask == "choice" and len(values) < 2:
        found.append(f'ask = "choice": expected at least 2 choices, got {len(values)}')
    if len(set(values)) < len(values) or "" in values:
        found.append("choices: expected values that differ and are not empty")
    if task.votes < 1:
        found.append(f"votes: expected at least 1, got {task.votes}")
    if not 0 <= task.admitted <= 1:
        found.append(f"admitted: expected a share from 0 to 1, got {task.admitted:g}")
    if (task.ask == "paraphrase") != (task.confirm is not None):
        found.append('confirm: expected beside ask = "paraphrase", and only there')
    if task.confirm and not {"right", "wrong"} <= {one.means for one in task.confirm.choices}:
        found.append('confirm.choices: expected one that means "right" and one that means "wrong"')
    if (task.about == "scopes") != (task.ask == "checklist"):
        found.append('ask = "checklist" and about = "scopes": expected both or neither')
    if not 1 <= task.least <= task.most <= LONGEST:
        found.append(f"least, most: expected 1 <= least <= most <= {LONGEST}, got {task.least} and {task.most}")
    return found


class WrongReply(Exception):
    """A reply that does not answer what was asked; its text is for the person."""


def choices_of(task: Task, role: str, shown: Mapping[str, Any]) -> list[Choice]:
    """What can be chosen for an item, in the order of the keys."""
    if task.confirm and role != "asked":
        return list(task.confirm.choices)
    own = [Choice(word, word) for word in shown.get("options", ())]
    return [*own, *task.choices]


def checked(task: Task, role: str, shown: Mapping[str, Any], given: Reply) -> Reply:
    """The reply as it is kept, or WrongReply."""
    asks = task.asks_of(role)
    text, known = " ".join(given.text.split()), {one.value for one in choices_of(task, role, shown)}
    if len(text) > task.most:
        raise WrongReply(f"Please write at most {task.most} characters; this has {len(text)}.")
    if given.value and given.value not in known:
        raise WrongReply("Please choose one of the answers that are shown.")
    if asks in ("choice", "options") and not given.value:
        raise WrongReply("Please choose one of the answers.")
    if asks in ("text", "paraphrase") and not given.value and len(text) < task.least:
        raise WrongReply(f"Please write at least {task.least} character{'s' * (task.least > 1)}.")
    strange = set(given.marked).difference(shown.get("objects", ())) or set(given.faults).difference(
        one.value for one in task.faults
    )
    if strange:
        raise WrongReply(f"This was not asked: {', '.join(sorted(strange))}.")
    return Reply(given.value, text, tuple(sorted(set(given.faults))), tuple(sorted(set(given.marked))))
