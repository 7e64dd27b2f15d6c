"""`questree ask`: a model answers the questions and sub-questions of a run."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.api.asked import Paced, Put, Seen, Selected, Who
from questree.cli.terminal import output, tell_made, watching
from questree.faults import BadInput

UNFINISHED = 3  # exit code: it stopped at a limit, or some requests failed; what was said is kept
Flat = Parameter(name="*")


@output
def ask(
    run: Path,
    /,
    *,
    who: Annotated[Who | None, Flat] = None,
    name: Annotated[str, Parameter(help="Name of the answers. [default: that of the model]")] = "",
    selected: Annotated[Selected | None, Flat] = None,
    seen: Annotated[Seen | None, Flat] = None,
    no_media: Annotated[
        bool, Parameter(negative="", help="Show nothing: what can be answered from the words alone?")
    ] = False,
    put: Annotated[Put | None, Flat] = None,
    paced: Annotated[Paced | None, Flat] = None,
    policy: Annotated[
        Literal["exact", "vqa", "lenient"], Parameter(help="Way to read what was said; it is kept as it was said, too.")
    ] = "lenient",
    out: Annotated[
        Path | None, Parameter(help='File for {"id", "prediction"} lines; with --view a folder of such files.')
    ] = None,
    raw: Annotated[
        Path | None, Parameter(help="File for what was said, a line each, as `questree read` takes it.")
    ] = None,
    dry_run: Annotated[
        bool, Parameter(negative="", help="Send nothing: count requests, images and tokens, and show three prompts.")
    ] = False,
) -> None:
    """Ask a model the questions of a run and every distinct sub-question once, and store its answers as predictions.

    Each answer is on disk at once: after a crash, or to go on after a limit, give the same command again. Exit code 3
    says that some are not answered yet.

    Parameters
    ----------
    run
        Run folder; sub-questions are asked if it is decomposed.
    """
    from questree.api import asked

    if (seen is None or seen.media is None) != no_media:
        wanted = "a folder of frames or images, or --no-media to ask without"
        raise BadInput.at("--media", f"expected {wanted}, got {'both' if no_media else 'neither'}")
    with watching():
        made = asked.ask(
            run,
            who or Who(),
            selected=selected,
            seen=seen,
            put=put,
            paced=paced,
            name=name,
            policy=policy,
            out=out,
            raw=raw,
            dry_run=dry_run,
        )
    tell_made(made)
    if not made.record.get("finished", True):
        raise SystemExit(UNFINISHED)
