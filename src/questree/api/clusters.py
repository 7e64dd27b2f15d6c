"""Stages on a Dask cluster: whatever runs inside sends its shards there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from questree.faults import BadInput

if TYPE_CHECKING:
    from questree.clusters.connected import Connected


@contextmanager
def cluster(name: str) -> Iterator["Connected"]:
    """Let the stages inside do their work on a cluster; the files are the same as without.

    Parameters
    ----------
    name
        Address of a Dask scheduler, as tcp://HOST:8786, or local:N for N workers on this machine.

    >>> try:
    ...     with questree.cluster("8 machines"):
    ...         questree.generate("images")
    ... except questree.BadInput as bad:
    ...     print(bad)
    cluster: expected local:N or the address of a Dask scheduler as tcp://HOST:8786, got '8 machines'
    """
    try:
        from questree.clusters.connected import connected
    except ModuleNotFoundError as error:
        wanted = "expected the package distributed, got none installed; run `pip install 'questree[cluster]'`"
        raise BadInput.at("--cluster", wanted) from error
    with connected(name) as found:
        yield found
