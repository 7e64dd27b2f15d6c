"""Functions of `api` as commands: their arguments are the options, their docstrings the help."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from questree.api.made import Made
from questree.cli.clusters import clustered
from questree.cli.shared_options import whole
from questree.cli.terminal import output, tell_made, watching

USUAL: Mapping[Any, Parameter] = {  # what options of a type are like
    **dict.fromkeys((bool, bool | None), Parameter(negative="")),
    **dict.fromkeys((int, int | None), Parameter(converter=whole)),
}


def command(
    work: Callable[..., Made],
    options: Mapping[str, Parameter] | None = None,
    then: Callable[..., None] | None = None,
) -> Callable[..., None]:
    """`options`: what the command line must know more of some; `then`: what follows, with options of its own."""
    extra = list(inspect.signature(then).parameters.values())[1:] if then else []

    def run(*given: Any, **named: Any) -> None:
        own = {each.name: named.pop(each.name, each.default) for each in extra}
        with watching():
            made = work(*given, **named)
        tell_made(made)
        if then:
            then(made, **own)

    parameters = typed(work, options or {})
    run.__name__, run.__doc__ = work.__name__, as_help(work.__doc__ or "", [each.name for each in parameters])
    run.__signature__ = inspect.Signature([*parameters, *extra])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (*parameters, *extra)}
    return output(clustered(run) if "workers" in run.__annotations__ else run)


def typed(work: Callable[..., Made], options: Mapping[str, Parameter]) -> list[inspect.Parameter]:
    """The arguments of a function as options; the first is given by its place."""
    hints, found = get_type_hints(work), []
    for at, each in enumerate(inspect.signature(work).parameters.values()):
        own = Parameter.combine(USUAL.get(hints[each.name]), options.get(each.name))
        kind = inspect.Parameter.POSITIONAL_ONLY if at == 0 else each.kind
        found.append(each.replace(annotation=Annotated[as_typed(hints[each.name]), own], kind=kind))
    return found


def as_help(doc: str, names: Sequence[str]) -> str:
    """Without examples, and with options for arguments."""
    text = inspect.cleandoc(doc).partition(">>> ")[0]
    for name in names:
        text = text.replace(f"`{name}`", f"--{name.replace('_', '-')}")
    return text


def as_typed(hint: Any) -> Any:
    """What a command line reads: of paths that may be texts paths, of sequences lists."""
    inner = [each for each in get_args(hint) if each is not NoneType]
    several = [each for each in inner if get_origin(each) is Sequence]
    if several:
        return list[as_typed(get_args(several[0])[0])] | None  # type: ignore[misc]
    if PathLike[str] in inner:
        return Path | None if NoneType in get_args(hint) else Path
    return hint
