"""`questree serve-bot`: bots behind OpenAI's HTTP interface."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.shared_options import BenchmarkOption, Whole
from questree.cli.terminal import messages, say, watching
from questree.faults import BadInput

EXTRA = ("starlette", "uvicorn")


@messages
def serve_bot(
    run: Path,
    /,
    *,
    model: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Bot, or model whose answers are stored in the run; may be given several times."),
    ],
    seed: Annotated[int, Parameter(help="Seed of a bot's mistakes and guesses.")] = 0,
    noise: Annotated[float, Parameter(help="Probability that a noisy bot is mistaken.")] = 0.1,
    chatty: Annotated[bool, Parameter(negative="", help="Put answers into sentences.")] = False,
    media: Annotated[
        Path | None, Parameter(help="Frames or images that prompts bring, to tell what they are about.")
    ] = None,
    split: Annotated[str | None, Parameter(help="Only questions of this split. [default: all]")] = None,
    benchmark: BenchmarkOption = "",
    port: Annotated[Whole, Parameter(help="Port to listen on; 0 for any free one.")] = 8001,
    host: Annotated[str, Parameter(help="Address to listen on; anything but loopback lets others ask.")] = "127.0.0.1",
    fail_every: Annotated[Whole, Parameter(help="Let every N-th request fail: 429, 500, 503 in turn. 0: none.")] = 0,
    retry_after: Annotated[float, Parameter(help="Seconds that a 429 asks to wait.")] = 0.0,
    delay: Annotated[float, Parameter(help="Seconds before every reply.")] = 0.0,
) -> None:
    """Let bots answer over HTTP as models do: /v1/chat/completions, /v1/models. Ctrl-C ends it.

    The question is found in the last message of the user; what it is about is told by the header X-Questree-Scope,
    by metadata.scope or user in the request, by a line `Video: ID` or `Images: ID, ID`, or by pictures of --media.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    try:
        from questree.api.bot_answers import BotAnswers
        from questree.api.bot_server import Faults, serve_bots
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRA:
            raise
        wanted = f"expected the package {missing.name}, got none installed; run `pip install 'questree[web]'`"
        raise BadInput.at("questree serve-bot", wanted) from None

    def bots() -> BotAnswers:
        with watching():
            return BotAnswers.of(
                run, model, seed=seed, noise=noise, split=split, benchmark=benchmark, media=media, chatty=chatty
            )

    def ready(address: str) -> None:
        say(f"{', '.join(model)} of {run}: {address} (Ctrl-C ends it)")
        sys.stdout.flush()  # for whoever reads it through a pipe

    serve_bots(bots, ready, host, port, Faults(fail_every, retry_after, delay))
    say("stopped")
