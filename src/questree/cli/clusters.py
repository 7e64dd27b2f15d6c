"""`--cluster`, for every command that has work for workers: given, or set in questree.toml in or beside the run."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.cli.terminal import say
from questree.extensions import set_text

NAME, NONE = "cluster", "none"
ClusterOption = Annotated[
    str,
    Parameter(
        show_default=False,
        help="Dask cluster to work on, instead of processes here: local:N workers, or a scheduler as tcp://HOST:8786; "
        f"{NONE} for processes although questree.toml names one.",
    ),
]


def clustered(work: Callable[..., None]) -> Callable[..., None]:
    """A command with --cluster."""

    @wraps(work)
    def command(*given: Any, cluster: str = "", **named: Any) -> None:
        name = cluster or _set_for([*given, named.get("out")])
        if name in ("", NONE):
            work(*given, **named)
            return
        from questree.api.clusters import cluster as on

        with on(name) as found:
            say(f"cluster {found.address}, to be watched at {found.watched_at}")
            work(*given, **named)

    own, kind = inspect.signature(work), inspect.Parameter.KEYWORD_ONLY
    option = inspect.Parameter(NAME, kind, default="", annotation=ClusterOption)
    command.__signature__ = own.replace(parameters=[*own.parameters.values(), option])  # type: ignore[attr-defined]
    command.__annotations__ = {**work.__annotations__, NAME: ClusterOption}
    return command


def _set_for(places: list[Any]) -> str:
    """What questree.toml names in the folders of a command or beside them."""
    return next((name for each in places if isinstance(each, Path) and (name := set_text(each, NAME))), "")
