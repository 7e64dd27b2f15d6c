"""The command line: names commands without importing what they need, and turns bad input into lines and exit codes."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from errno import ENAMETOOLONG
from io import StringIO
from pathlib import Path

from cyclopts import App, CycloptsError, Group, Parameter

from questree import __version__
from questree.api.catalogue import EXPORTERS, SOURCES
from questree.cli.shared_options import located
from questree.extensions import apart, blamed, load, wanted
from questree.faults import BadInput, Fault, lines, why_unwritten

OK, BAD_INPUT, USAGE = 0, 1, 2
UNPACK = "--unpack-times"  # how many times its size a packed file may hold

app = App(
    name="questree",
    version=__version__,
    help="Build, take apart and score compositional questions.",
    help_epilogue="Every command takes --plugin FILE.py, repeatable: operators, templates, metrics ... of your own; "
    "and --unpack-times N: how many times its size a packed file may hold. [64]",
    help_format="plaintext",  # markdown would swallow <video> and alike
    help_formatter="default" if sys.stdout.isatty() else "plain",
    default_parameter=Parameter(converter=located),
    suppress_keyboard_interrupt=False,  # we say ourselves that nothing half-written is left
)
# command -> where in `cli` it lives and what it does; a module is imported when its command runs
COMMANDS = {
    "demo": ("demo:demo", "A tour on made-up worlds, from raw files to a report."),
    "build": ("build:build", "Raw files -> a decomposed, balanced, split benchmark, in one go."),
    "synth": ("synth:app", "Raw files of a made-up world, with the truth beside them."),
    "augment": ("augment:augment", "Raw facts -> cleaned facts, with a ledger of every change."),
    "generate": ("stages:generate", "Every question of a run, with its answer."),
    "decompose": ("stages:decompose", "Every question into its DAG of sub-questions, with answers."),
    "balance": ("stages:balance", "Select questions whose answers cannot be guessed."),
    "split": ("stages:split", "Train and test: by video, novel compositions, more steps, your own."),
    "ground": ("ground:ground", "What questions are about: boxes and frames to keep or to remove."),
    "audit": ("stages:audit", "How guessable the questions are without videos or images."),
    "verify": ("verify:verify", "Is a run still what its lock file says?"),
    "diff": ("verify:diff", "What differs between two runs, causes first."),
    "features": ("features:features", "What models see of a run: from its facts, or by a backbone."),
    "train": ("training:train", "A network learns the questions of a run; goes on where it was stopped."),
    "predict": ("training:predict", "A trained network answers a run."),
    "experiment": ("experiment:experiment", "A paper's experiment: train, answer, score, and which findings hold."),
    "answer": ("answer:answer", "A bot answers a run, or anybody's predictions are stored in it."),
    "serve-bot": ("serve_bot:serve_bot", "Bots behind OpenAI's HTTP interface, to test whoever asks models."),
    "ask": ("ask:ask", "A model behind a server, or in Python, answers a run."),
    "read": ("read:read", "What models said in free text -> answers, or why it is none."),
    "predictions": ("predictions:app", "Whom a file of predictions answers, and what can be read in it."),
    "compare": ("compare:compare", "Two models on the same questions: differences, intervals, p."),
    "power": ("compare:power", "Videos or images needed for a given half-width."),
    "show": ("show:show", "One video, one image or one question of a run."),
    "report": ("report:report", "One HTML file about a run and its models, to mail or to print."),
    "serve": ("report:serve", "A run in the browser: find questions, look at one, compare models."),
    "people": ("people:app", "Ask people: is an answer right, which one is, what is absent; and how far they agree."),
    "program": ("program:app", "Read a question's program; translate between notations."),
    "vocabulary": ("vocabulary:app", "Look at a vocabulary; check your own."),
    "wordings": ("wordings:wordings", "An example of every way to ask, for a person to read."),
    "completion": ("completion:completion", "What bash, zsh or fish need to complete commands and options."),
}
GROUPS = {  # the help lists commands by what they are for
    "Build": ("demo", "build", "synth", "ingest", "augment", "generate", "decompose", "balance", "split", "ground"),
    "Look": ("show", "report", "serve", "program", "vocabulary", "wordings"),
    "Score": ("answer", "ask", "serve-bot", "read", "people", "score", "compare", "power"),
    "Train": ("features", "train", "predict", "experiment"),
    "Exchange": ("import", "export", "covr"),
    "Check": ("audit", "verify", "diff", "predictions", "completion"),
}
IMPORTS = {
    "agqa": ("formats:import_agqa", "AGQA's question files, as released or as exported."),
    "decomp": ("formats:import_decomp", "AGQA-Decomp's folders of DAGs."),
    "covr": ("formats:import_covr", "COVR's question records."),
}
SCORES = {
    "decomp": ("score:decomp", "Accuracy, CA, RWR, internal consistency of DAGs; also `questree score RUN`."),
    "gain": ("compare:gain", "What training on sub-questions brings: pairs of models on AGQA's questions."),
    "agqa": ("score:agqa", "AGQA: reasoning, semantic and structural categories, generalisation, steps."),
    "fpvg": ("fpvg:fpvg", "Faithful and plausible visual grounding, from three files of predictions."),
    "generalization": ("score:generalization", "COVR's generalization score of models trained on splits."),
    "curve": ("score:curve", "COVR: accuracy against the number of examples of what a split holds out."),
    "paraphrased": ("people:paraphrased", "How much a model loses where people ask in their own words."),
    "covr": ("score:covr", "COVR: accuracy by template, beside the baselines MAJ and MAJTEMPL."),
}
COVR = {
    "subgraphs": ("covr:subgraphs_command", "Every way to refer to an object of a scene."),
    "related": ("covr:related_command", "Scenes that contain a graph, and those that nearly do."),
    "exclusion": ("covr:exclusion_command", "Word tables: which words exclude each other."),
    "execute": ("covr:execute_command", "Row programs over scenes -> their values, or why not."),
    "splits": ("covr:released_command", "What COVR's 21 splits hold out of a released file."),
    "statistics": ("covr:statistics_command", "What questions are: COVR's Table 3 and Figures 4 to 6."),
}


PANELS = {heading: Group(heading, sort_key=at) for at, heading in enumerate(GROUPS)}
HEADINGS = {name: PANELS[heading] for heading, names in GROUPS.items() for name in names}


def fill(group: App, commands: Mapping[str, tuple[str, str]]) -> App:
    for name, (place, text) in commands.items():
        heading = HEADINGS.get(name) if group is app else None
        group.command(f"questree.cli.{place}", name=name, help=text, group=heading)
    return group


sources = {name: (f"ingest:{name.replace('-', '_')}", source.says) for name, source in SOURCES.items()}
ingest = fill(App(name="ingest", help="Raw files -> facts in a run folder."), sources)
export = App(name="export", help="A run in the formats of released benchmarks.")
for name, exporter in EXPORTERS.items():
    export.command(exporter.command, name=name, help=exporter.says)
covr = App(name="covr", help="COVR's own files: programs, scenes, word tables. For runs: generate, balance, ...")
fill(app, COMMANDS)
for group in (
    ingest,
    export,
    fill(App(name="import", help="Questions of released benchmarks -> a run folder."), IMPORTS),
    fill(App(name="score", help="Predictions -> the tables of the papers, with intervals."), SCORES),
    fill(covr, COVR),
):
    group.group = HEADINGS[group.name[0]]
    app.command(group)


@contextmanager
def neat_help(words: list[str]) -> Iterator[list[str]]:
    """Help that goes into a pipe has no blanks at the ends of its lines."""
    if sys.stdout.isatty() or not {"--help", "-h"} & {*words}:
        yield words
        return
    said = StringIO()
    try:
        with redirect_stdout(said):
            yield words
    finally:  # help ends by an exception
        print("\n".join(line.rstrip() for line in said.getvalue().splitlines()))


def main() -> None:
    signal.signal(signal.SIGTERM, _stop)
    try:
        with neat_help(extended(sys.argv[1:])) as words:
            app(words, exit_on_error=False, print_error=sys.stderr.isatty())
        status = OK
    except CycloptsError as wrong:
        status = USAGE
        if not sys.stderr.isatty():  # in a terminal it stands in a box already
            print(f"error: {' '.join(str(wrong).split())}", file=sys.stderr)
    except BadInput as bad:
        status = _say(bad)
    except BrokenPipeError:  # the reader of our output went away: `questree ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = OK
    except Exception as error:
        if own := blamed(error) or _unnameable(error) or _damaged(error):
            status = _say(own)
        elif isinstance(error, OSError | MemoryError | RecursionError | UnicodeEncodeError):
            why = why_unwritten(error) if isinstance(error, OSError) and not error.filename else error
            print(f"error: {type(error).__name__}: {why}", file=sys.stderr)  # full disk, no memory, ASCII terminal
            status = BAD_INPUT
        else:
            raise
    sys.exit(status)


def _unnameable(error: Exception) -> BadInput | None:
    """What was given as a file, or may be one, has a name that none can have."""
    if not isinstance(error, OSError) or error.errno != ENAMETOOLONG or not error.filename:
        return None
    part = max(Path(os.fsdecode(error.filename)).parts, key=len)
    wanted = "expected the name of a file or of a model"
    return BadInput.at(f"{part[:40]}...", f"{wanted}, got {len(os.fsencode(part)):,} bytes, which is too long for any")


def _damaged(error: Exception) -> BadInput | None:
    """Files that changed after their run was locked may say anything, so nobody can foresee what comes of them."""
    from questree.api.locks import changed_among

    faults = changed_among(sys.argv[1:])
    why = f"so it is no wonder that reading it fails ({type(error).__name__})"
    return BadInput(Fault(fault.place, f"{fault.message}, {why}") for fault in faults) if faults else None


def _say(bad: BadInput) -> int:
    for line in lines(bad.faults):
        print(f"error: {line}", file=sys.stderr)
    return BAD_INPUT


def extended(arguments: list[str]) -> list[str]:
    """Take what every command takes, and load the plugins it works with, before anything else; the other arguments."""
    rest, times = apart(arguments, UNPACK)
    if times:
        os.environ["QUESTREE_UNPACK_TIMES"] = times[-1] or "nothing"  # for workers, too
    rest, plugins = wanted(rest)
    if rest[:1] == ["score"] and len(rest) > 1 and not rest[1].startswith("-") and rest[1] not in SCORES:
        rest.insert(1, "decomp")  # `score RUN`: the table that every run with DAGs has
    if plugins:
        known = {*SOURCES}, {*EXPORTERS}
        load(plugins)
        for name in [name for name in SOURCES if name not in known[0]]:
            from questree.cli.ingest import command

            ingest.command(command(name), name=name, help=SOURCES[name].says)
        for name in [name for name in EXPORTERS if name not in known[1]]:
            from questree.cli.formats import written_by

            export.command(written_by(EXPORTERS[name]), name=name, help=EXPORTERS[name].says)
    return rest


def _stop(number: int, frame: object) -> None:
    """A polite request to end is answered like Ctrl-C: clean up, then go."""
    raise KeyboardInterrupt
