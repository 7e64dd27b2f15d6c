"""Reasoning traces: a question's sub-questions in order, each with its answer and evidence, as text or as messages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import msgspec

from questree.api.epochs import Epoch
from questree.faults import Fault, refuse
from questree.progress import watch
from questree.tables.store import new_folder, only_earlier

Row = Mapping[str, Any]  # a question of an epoch
Messages = list[dict[str, str]]


class TracedStep(msgspec.Struct, frozen=True):
    """A question or sub-question that has an answer."""

    question: str
    answer: str
    rests: str  # seconds or boxes, in words
    follows: tuple[int, ...]  # the steps it follows from, counted from 1


def steps(row: Row) -> list[TracedStep]:
    """What has an answer of a question's sub-questions, parts first, and the question itself."""
    every = [*row["steps"], row]
    kept = [at for at, step in enumerate(every) if step["answer"] is not None]
    number = {at: place for place, at in enumerate(kept, 1)}
    return [
        TracedStep(
            every[at]["question"],
            every[at]["answer"],
            rests_on(every[at]),
            tuple(number[part] for part in sorted(set(every[at]["parts"])) if part in number),
        )
        for at in kept
    ]


def rests_on(step: Row) -> str:
    """ "1.0-2.5 s, 4.0 s", or "cup in image at 10,20,30,40"; empty where nothing is known."""
    if step.get("seconds"):
        return ", ".join(stretch(*ends) for ends in step["seconds"])
    sides = ("x1", "y1", "x2", "y2")
    boxes = step.get("boxes") or ()
    return ", ".join(f"{box['name']} in {box['image']} at {','.join(f'{box[s]:g}' for s in sides)}" for box in boxes)


def stretch(first: float, last: float) -> str:
    begin, end = f"{first:.1f}", f"{last:.1f}"
    return f"{begin} s" if begin == end else f"{begin}-{end} s"


def told(step: TracedStep) -> str:
    """ "Does a phone exist? yes (1.0-2.5 s)" """
    return f"{step.question} {step.answer}{f' ({step.rests})' if step.rests else ''}"


def lines(row: Row) -> str:
    """A numbered line per step, with the steps it follows from, and the answer."""
    found = []
    for at, step in enumerate(steps(row), 1):
        follows = f"From {joined(step.follows)}: " if step.follows else ""
        found.append(f"{at}. {follows}{told(step)}")
    return "\n".join([*found, f"Answer: {row['answer']}"])


def joined(numbers: Sequence[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def prose(row: Row) -> str:
    """A sentence per step, and one for the answer."""
    return " ".join([*(f"{told(step)}." for step in steps(row)), f"So the answer is {row['answer']}."])


def think(row: Row) -> str:
    """The steps between the tags of models that think before they answer."""
    *reasoning, _ = lines(row).split("\n")
    return "\n".join(["<think>", *reasoning, "</think>", f"<answer>{row['answer']}</answer>"])


def chat(row: Row) -> Messages:
    """The question, and all steps with the answer in one message."""
    return [message("user", row["question"]), message("assistant", lines(row))]


def turns(row: Row) -> Messages:
    """Every step is asked and answered in turn, the question last."""
    said = [(step.question, told(step)[len(step.question) + 1 :]) for step in steps(row)]
    return [message(role, text) for pair in said for role, text in zip(("user", "assistant"), pair, strict=True)]


def message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


TEXTS: dict[str, Callable[[Row], str]] = {"lines": lines, "prose": prose, "think": think}
CHATS: dict[str, Callable[[Row], Messages]] = {"chat": chat, "turns": turns}
STYLES = (*CHATS, *TEXTS)


def trace(row: Row, style: str = "chat") -> dict[str, Any]:
    """The record of a question for supervised fine-tuning: messages, or a prompt and its completion.

    Parameters
    ----------
    row
        A question of an epoch.
    style
        chat, turns (messages), lines, prose, think (texts).

    >>> row = next(iter(run.epoch(executed=True)))
    >>> print(questree.trace(row, "think")["completion"])
    <think>
    1. Does a bag exist? no
    2. Does a person exist? yes (0.0-29.5 s)
    3. Is the person interacting with something? yes (0.0-21.3 s, 23.0-29.5 s)
    4. From 1, 2 and 3: In the video, were they interacting with a bag? no
    </think>
    <answer>no</answer>
    """
    _known(style)
    known = {"id": row["id"], "scope": row["scope"]}
    if style in CHATS:
        return known | {"messages": CHATS[style](row)}
    return known | {"prompt": row["question"], "completion": TEXTS[style](row)}


def _known(style: str) -> None:
    strange = f"expected a style, got {style!r}; choose from {', '.join(STYLES)}"
    refuse([] if style in STYLES else [Fault("style", strange)])


def traces(epoch: Epoch, style: str = "chat") -> Iterator[dict[str, Any]]:
    """The records of all questions of an epoch."""
    _known(style)
    return (trace(row, style) for row in epoch)


def write_traces(epoch: Epoch, out: Path, style: str = "chat") -> dict[str, int]:
    """OUT/<split>.jsonl, a record per line; how many there are in each. Earlier traces there are replaced."""
    only_earlier(out, lambda name: name.endswith(".jsonl"))
    counts: dict[str, int] = {}
    with new_folder(out) as folder, ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}
        for row in watch(epoch, "traces", len(epoch)):
            name = f"{row['split']}.jsonl"
            if name not in files:
                files[name] = stack.enter_context((folder / name).open("wb"))
            files[name].write(msgspec.json.encode(trace(row, style)) + b"\n")
            counts[name] = counts.get(name, 0) + 1
    return counts
