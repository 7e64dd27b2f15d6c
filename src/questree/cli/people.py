"""`questree people`: ask people about a run, see how far they agree, take what they say elsewhere."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from questree.api import people, people_accuracy, people_export, people_results
from questree.api.paraphrased import paraphrased_scores
from questree.cli.functions import command
from questree.cli.shared_options import Whole
from questree.cli.terminal import messages, say

app = App(name="people", help="Ask people: validate answers, choose, type, paraphrase, label what is absent.")
EITHER_WAY = Parameter(negative=None)  # an option with a --no- of its own
paraphrased = command(paraphrased_scores)  # of `questree score`


@messages
def serve(
    run: Path,
    /,
    *,
    port: Annotated[Whole, Parameter(help="Port to listen on; 0 for any free one.")] = 8000,
    host: Annotated[
        str, Parameter(help="Address to listen on; beyond loopback only personal links lead anywhere.")
    ] = "127.0.0.1",
    media: Annotated[
        Path | None,
        Parameter(help="Folder of films (DIR/VIDEO.mp4), frames (DIR/VIDEO/FRAME.jpg) or images (DIR/IMAGE.jpg)."),
    ] = None,
) -> None:
    """Let people answer in the browser, each by their own link. Ctrl-C ends it; nothing that was saved is lost."""

    def ready(address: str) -> None:
        say(f"people answer at {address} (Ctrl-C ends it)")
        for one in people.links(run).record:
            say(f"link of {one['name']}: {address.rstrip('/')}{one['link']}")
        sys.stdout.flush()  # for whoever reads it through a pipe

    people.serve(run, host=host, port=port, media=media, ready=ready)
    say("stopped")


app.command(command(people.new, {"parts": EITHER_WAY}), name="new")
app.command(command(people.links), name="links")
app.command(serve, name="serve")
app.command(command(people.status), name="status")
app.command(command(people.simulate), name="simulate")
app.command(command(people.power), name="power")
app.command(command(people.remove), name="remove")
app.command(command(people_results.agreement, {"bots": EITHER_WAY}), name="agreement")
app.command(command(people_accuracy.accuracy, {"bots": EITHER_WAY}), name="accuracy")
app.command(command(people_export.export, {"bots": EITHER_WAY}), name="export")
app.command(command(people_export.take_in), name="import")
