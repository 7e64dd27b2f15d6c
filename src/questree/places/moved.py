"""What was moved to and from stores by this process: requests and bytes."""

from dataclasses import dataclass, replace
from threading import Lock


@dataclass
class Moved:
    """Requests count one for a file, a listing or a marker, whatever a library makes of it."""

    requests: int = 0
    up: int = 0  # bytes
    down: int = 0


SO_FAR, GUARD = Moved(), Lock()


def moved() -> Moved:
    """Since the process began."""
    with GUARD:
        return replace(SO_FAR)


def count(requests: int = 1, up: int = 0, down: int = 0) -> None:
    with GUARD:
        SO_FAR.requests += requests
        SO_FAR.up += up
        SO_FAR.down += down
