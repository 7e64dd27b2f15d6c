"""The command line: names commands without importing what they need, and turns bad input into lines and exit codes."""

import os
import sys

from cyclopts import App, CycloptsError

from questree import __version__
from questree.faults import BadInput

OK, BAD_INPUT, USAGE, INTERRUPTED = 0, 1, 2, 130

app = App(
    name="questree",
    version=__version__,
    help="Build, take apart and score compositional questions.",
    suppress_keyboard_interrupt=False,  # we say ourselves that nothing half-written is left
)
ingest = App(name="ingest", help="Raw files -> facts in a run folder.")
bench = App(name="bench", help="Measure a stage: size, rate, peak memory.")
app.command(ingest)
app.command(bench)

# command -> where it lives and what it does; a module is imported when its command runs
COMMANDS = {
    "synth": ("questree.cli.synth:app", "Raw files of a made-up world, with the truth beside them."),
    "augment": ("questree.cli.augment:augment", "Raw facts -> cleaned facts, with a ledger of every change."),
    "generate": ("questree.cli.generate:generate_command", "Every question of a run, with its answer."),
    "show": ("questree.cli.show:show", "One video or one question of a run, on a timeline."),
    "program": ("questree.cli.program:app", "Read a question's program; translate between notations."),
    "vocabulary": ("questree.cli.vocabulary:app", "Look at a vocabulary; check your own."),
    "wordings": ("questree.cli.wordings:wordings", "An example of every way to ask, for a person to read."),
}
SOURCES = {
    "action-genome": "Charades CSV files and Action Genome pickles.",
    "agqa": "AGQA's released scene-graph pickles.",
    "star": "STAR situation JSON.",
    "gqa": "GQA or Visual Genome scene graphs (images).",
    "json": "Your own videos, in our JSON format.",
}
BENCHMARKS = {
    "synth": "Make a synthetic corpus.",
    "augment": "Clean a synthetic corpus.",
    "generate": "Generate the questions of a synthetic corpus.",
}

for name, (place, text) in COMMANDS.items():
    app.command(place, name=name, help=text)
for name, text in SOURCES.items():
    ingest.command(f"questree.cli.ingest:{name.replace('-', '_')}", name=name, help=text)
for name, text in BENCHMARKS.items():
    bench.command(f"questree.cli.bench:{name}", name=name, help=text)


def main() -> None:
    try:
        app(exit_on_error=False, print_error=True)
        status = OK
    except CycloptsError:
        status = USAGE  # cyclopts has printed what is wrong
    except BadInput as bad:
        for fault in bad.faults:
            print(f"error: {fault}", file=sys.stderr)
        status = BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted; nothing half-written is left", file=sys.stderr)
        status = INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away: `questree ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = OK
    sys.exit(status)
