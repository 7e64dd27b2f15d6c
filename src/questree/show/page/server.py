"""Serving the page until somebody stops it."""

import socket
from contextlib import suppress

import uvicorn

from questree.faults import BadInput
from questree.show.page.app import application
from questree.show.page.site import Site


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there, or one line that says why not."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen()
    except OverflowError:
        raise BadInput.at(f"--port {port}", "wanted a port from 0 to 65535") from None
    except OSError as error:
        wanted = "choose another with --port; --port 0 takes any that is free"
        raise BadInput.at(f"{host}:{port}", f"cannot be listened on ({error.strerror or error}); {wanted}") from None
    return found


def serve(site: Site, place: socket.socket, host: str) -> None:
    """Until Ctrl-C, or a polite request to end."""
    config = uvicorn.Config(application(site, host), log_level="error", lifespan="off", timeout_graceful_shutdown=2)
    with suppress(KeyboardInterrupt):  # raised again by the server after it has shut down
        uvicorn.Server(config).run(sockets=[place])


def shown_address(place: socket.socket) -> str:
    host, port = place.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
