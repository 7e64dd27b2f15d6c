"""`questree serve`: a page to explore a run in."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.shared_options import Whole
from questree.cli.terminal import messages, say, watching
from questree.faults import BadInput
from questree.tables.run import Run

EXTRA = ("starlette", "uvicorn")  # what `questree[web]` installs


@messages
def serve(
    run: Path,
    /,
    *,
    benchmark: Annotated[
        str, Parameter(help="Of a run with both, shown first: agqa (videos, the default) or covr (image sets).")
    ] = "",
    port: Annotated[Whole, Parameter(help="Port to listen on; 0 for any free one.")] = 8000,
    host: Annotated[str, Parameter(help="Address to listen on; anything but loopback shows the run to others.")] = (
        "127.0.0.1"
    ),
    media: Annotated[Path | None, Parameter(help="Folder of real frames: DIR/VIDEO/FRAME.png or .jpg.")] = None,
) -> None:
    """Show a run in the browser: find questions, look at one and its DAG, compare models. Ctrl-C ends it.

    Parameters
    ----------
    run
        Run folder with questions about videos, about sets of images, or both.
    """
    try:
        from questree.show.page.app import application
        from questree.show.page.serving import bound, shown_address
        from questree.show.page.serving import serve as work
        from questree.show.page.site import Site
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRA:
            raise
        wanted = f"expected the package {missing.name}, got none installed; run `pip install 'questree[web]'`"
        raise BadInput.at("questree serve", wanted) from None

    with bound(host, port) as place:  # before anything is read
        with watching():
            site = Site.read(Run(run), media, benchmark)
        address = shown_address(place) + (site.first.view.home[1:] if benchmark else "")
        say(f"{run} is served at {address} (Ctrl-C ends it)")
        sys.stdout.flush()  # for whoever reads it through a pipe
        work(application(site, host), place)
    say("stopped")
