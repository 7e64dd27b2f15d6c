"""What is wrong with somebody's input, said in one line per fault and all at once."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from errno import ENOSPC

UNREADABLE: tuple[type[Exception], type[UnicodeDecodeError], type[RecursionError]]  # what a damaged text file raises
EXAMPLES = 3  # faults of one kind that are told one by one
# `questree ...` as it is typed; or an option, with =value, a number or the kind of its value
OPTION = re.compile(r"(`questree [^`]*`)|(?<![\w-])--([a-z][a-z-]*)(?:=(\w+)| (\d+|[A-Z]+)\b)?")
ARGUMENTS = {  # that are called otherwise
    "all": "every=True",
    "no-cache": "cache=False",
    "plugin": "questree.plugins.load",
    "set": "settings",
    "side": "split",
    "unpack-times": "QUESTREE_UNPACK_TIMES in the environment",
}
SHORT_WRITE = re.compile(r"\d+ requested and \d+ written")
VARYING = re.compile(r"""'[^']*'|"[^"]*"|-?\d[\d.,]*""")  # names and numbers: what differs among faults of one kind


def __getattr__(name: str) -> object:
    """UNREADABLE, for whoever reads files: `questree --help` does without msgspec."""
    if name != "UNREADABLE":
        raise AttributeError(name)
    import msgspec

    return (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass(frozen=True, order=True)
class Fault:
    place: str  # file, and the record inside it: "annotations.json, video 001YG, frame 89"
    message: str  # what was wanted, what came, the valid choices

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


def in_python(text: str) -> str:
    """What is said about options of commands, said of arguments of functions: --missing=skip is missing="skip"."""

    def argument(found: re.Match[str]) -> str:
        command, option, value, kind = found.groups()
        if command:
            return str(command)
        name = ARGUMENTS.get(option, option.replace("-", "_"))
        if value and not value.isdecimal():
            value = f'"{value}"'
        return f"{name}={value or kind}" if value or kind else name

    return OPTION.sub(argument, text)


spelling: ContextVar[Callable[[str], str]] = ContextVar("spelling", default=in_python)  # commands set it: as it is


class BadInput(Exception):
    """Raised once, after all faults of the input are collected; nothing has been written.

    Its text names the arguments of functions, or the options of commands if it is raised in a command.

    >>> try:
    ...     questree.open("nowhere")
    ... except questree.BadInput as bad:
    ...     print(bad)
    nowhere: expected a run folder, got nothing there; make one with `questree build`
    """

    def __init__(self, faults: Iterable[Fault]):
        self.faults = list(faults)
        super().__init__("\n".join(map(spelling.get(), map(str, self.faults))))

    def __reduce__(self) -> tuple[type["BadInput"], tuple[list[Fault]]]:
        return BadInput, (self.faults,)  # worker processes send it

    @classmethod
    def at(cls, place: object, message: str) -> "BadInput":
        """With one fault.

        >>> questree.BadInput.at("scores.json", "expected a list, got a number").faults
        [Fault(place='scores.json', message='expected a list, got a number')]
        """
        return cls([Fault(str(place), message)])


def kind(fault: Fault) -> str:
    """What faults have in common that differ only in names and numbers; choices after the first ; do not count."""
    return VARYING.sub("...", fault.message.partition(";")[0])


def one_line(text: str) -> str:
    """As it can be printed: line ends and control characters of somebody's file as escapes.

    Our own lines go on indented: a program, and where it is wrong.
    """
    ours = text.split("\n  ")
    return "\n  ".join("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in ours)


def lines(faults: Iterable[Fault]) -> Iterator[str]:
    """One line per fault; of those of one kind three examples, and how many more there are."""
    found = dict[str, list[Fault]]()
    for fault in faults:
        alike = found.setdefault(kind(fault), [])
        alike.append(fault)
        if len(alike) <= EXAMPLES:
            yield one_line(str(fault))
    for same, alike in found.items():
        if len(alike) > EXAMPLES:
            said = alike[0].message if len({fault.message for fault in alike}) == 1 else same
            yield f"... and {len(alike) - EXAMPLES:,} more: {one_line(said)}"


def why_unwritten(error: OSError) -> str:
    """What the system says; numpy tells only how much it could not write, which is a full disk."""
    return os.strerror(ENOSPC) if SHORT_WRITE.fullmatch(str(error)) else error.strerror or str(error)


def refuse(faults: list[Fault]) -> None:
    """Stop here if anything was found wrong."""
    if faults:
        raise BadInput(faults)


def with_nul(place: str, what: str, texts: Iterable[str]) -> list[Fault]:
    """Texts with the character at which other programs, and some tables, end a text."""
    return [Fault(place, f"{what}: expected a text without NUL, got {text!r}") for text in texts if "\0" in text]


def at_least(low: float, given: Mapping[str, float | None]) -> list[Fault]:
    """Numbers that are too small."""
    return [
        Fault(f"--{flag.replace('_', '-')}", f"expected at least {low:g}, got {value:g}")
        for flag, value in given.items()
        if value is not None and value < low
    ]
