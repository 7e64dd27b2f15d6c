"""`questree demo`: a tour of the product on made-up worlds, each command printed with what it comes to."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Annotated

from cyclopts import Parameter

from questree.faults import BadInput
from questree.places import Place

TOUR = [  # what a person would type; DEMO is the folder, VIDEO the first video of the run
    "synth --videos 60 --seed 1 --unasked-objects 0 --out DEMO/world",
    "build DEMO/world --out DEMO/run --tables",
    "show DEMO/run",
    "show DEMO/run VIDEO-1000",
    "show DEMO/run VIDEO-1000 --dag --svg DEMO/dag.svg",
    "answer DEMO/run --model composition-noise --noise 0.2",
    "score decomp DEMO/run --model composition-noise --json DEMO/scores.json",
    "report DEMO/run --models composition-noise --split all --out DEMO/report.html",
    "export agqa DEMO/run --out DEMO/agqa",
    "export decomp DEMO/run --out DEMO/decomp",
    'program read "Exists(blanket, Iterate(Localize(while, holding a pillow), Filter(frame, [objects])))"'
    " --notation agqa",
    "synth images --images 200 --seed 1 --out DEMO/pictures",
    "ingest gqa DEMO/pictures --out DEMO/pictures-run",
    "synth situations --images 60 --seed 1 --out DEMO/situations",
    "ingest imsitu DEMO/situations --out DEMO/pictures-run --add",
    "generate DEMO/pictures-run --questions 3000",
    "balance DEMO/pictures-run",
    "split DEMO/pictures-run",
    "decompose DEMO/pictures-run",
    "answer DEMO/pictures-run --model shortcut",
    "score decomp DEMO/pictures-run --model shortcut --json DEMO/pictures-scores.json",
]
ASKED = [  # with the extras ask, draw and web; BOT is the address of the server that the first of them starts
    "synth --videos 8 --seed 2 --frames --frame-size 320x240 --out DEMO/filmed",
    "build DEMO/filmed --out DEMO/filmed-run",
    "serve-bot DEMO/filmed-run --model composition-noise --noise 0.2 --chatty --port 0",
    "ask DEMO/filmed-run --endpoint BOT --model composition-noise --media DEMO/filmed/frames --frames 4",
    "report DEMO/filmed-run --models composition-noise --split all --out DEMO/asked.html",
]
EXTRAS = ("av", "httpx2", "PIL", "skia", "starlette", "uvicorn")
PLACES = {  # what the tour leaves behind
    "DEMO/world": "raw files as Charades and Action Genome release them; the clean truth in truth/",
    "DEMO/run/facts": "cleaned facts, one Parquet file per table",
    "DEMO/run/ledger.json": "what every cleaning rule changed",
    "DEMO/run/questions": "every question, as columns, with text",
    "DEMO/run/balanced": "the selection whose answers cannot be guessed",
    "DEMO/dag.svg": "one question taken apart",
    "DEMO/report.html": "a bot that fails at composing, in tables, plots and worked failures",
    "DEMO/agqa": "the benchmark in AGQA's file formats",
    "DEMO/decomp": "its DAGs in AGQA-Decomp's",
    "DEMO/pictures": "scene graphs as GQA releases them",
    "DEMO/situations": "situations as imSitu releases them",
    "DEMO/pictures-run": "questions about sets of images, balanced, split and taken apart",
    "DEMO/scores.json": "every score of the bot about videos, as a flat table",
    "DEMO/pictures-scores.json": "and of the bot about images",
    "DEMO/filmed": "a smaller world with its frames drawn",
    "DEMO/filmed-run/asked": "what a bot behind a server said to 4 frames and each question, in sentences",
    "DEMO/asked.html": "the report of these answers",
    "DEMO/tour.txt": "all that these commands printed, with their warnings",
}
FIRST = 7  # lines printed of what is shown; of anything else the last one


def demo(
    folder: Annotated[Path, Parameter(help="Folder to write; an earlier tour in it is replaced.")] = Path("demo"), /
) -> None:
    """Tour the product on made-up worlds: videos first, then sets of images."""
    from questree.api.runs import open as open_run
    from questree.cli.app import app

    clear(folder)
    told, bot = [], ""
    missing = [name for name in EXTRAS if find_spec(name) is None]
    with ExitStack() as servers:
        for line in TOUR if missing else [*TOUR, *ASKED]:
            kept = slice(FIRST) if line.startswith("show") else slice(-1, None)
            if "VIDEO" in line:
                line = line.replace("VIDEO", open_run(folder / "run").scopes[0])
            words = [word.replace("DEMO", str(folder)).replace("BOT", bot) for word in shlex.split(line)]
            print(f"$ {shlex.join(['questree', *words])}", flush=True)
            said = StringIO()
            if words[0] == "serve-bot":
                said.write(servers.enter_context(served(words)))
                bot = said.getvalue().split(": ")[-1].split()[0]
            else:
                with redirect_stdout(said), redirect_stderr(said):
                    app(words, exit_on_error=False, result_action="return_value")
            told.append(f"$ {shlex.join(['questree', *words])}\n{said.getvalue()}")
            lines = [each for each in said.getvalue().splitlines() if each and not each.startswith("warning: ")]
            for each in lines[kept]:
                print(f"  {each}", flush=True)
    if missing:
        wanted = "pip install 'questree[ask,draw,web]'"
        print(f"(nobody was asked: no {', '.join(missing)}; run `{wanted}`)")
    (folder / "tour.txt").write_text("\n".join(told), "utf-8")
    print("\nWhere to look:")
    for place, text in PLACES.items():
        if (there := Path(place.replace("DEMO", str(folder)))).exists():
            print(f"  {there!s:<26} {text}")
    print(f"  {f'questree serve {folder}/run':<26} all of it in the browser")
    print_result(folder)


@contextmanager
def served(words: list[str]) -> Iterator[str]:
    """A server in a process of its own: what it says when it is ready; it ends with the tour."""
    with Popen([sys.executable, "-m", "questree", *words], stdout=PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


def print_result(folder: Path) -> None:
    """Two bots with known faults, and what their scores say about them."""
    from questree.api.scores import Scores
    from questree.cli.terminal import print_table

    lines, said = [], []
    for about, file in (("videos", "scores.json"), ("sets of images", "pictures-scores.json")):
        scores = Scores.read(folder / file)
        metrics = ["question accuracy", "CA", "RWR", "IC"]
        (overall,) = scores.table("type", metrics).filter(type="Overall").iter_rows(named=True)
        (model,) = scores.models
        lines.append({"about": about, "bot": model, **{name: overall[name] for name in metrics}})
        said.append(
            f"{model} gets {100 * (scores['CA'] or 0):.2f} % of the questions right whose parts it all gets right, "
            f"and {100 * (scores['RWR'] or 0):.2f} % of those with a part wrong."
        )
    print()
    print_table("What came out, in percent", lines)
    print("\n".join(said))


def clear(folder: Path) -> None:
    """Take away an earlier tour, and nothing else."""
    if isinstance(folder, Place):
        raise BadInput.at(folder, "a tour is made on a disk; choose a folder of this machine")
    if not folder.exists():
        return
    own = {Path(place).parts[1] for place in PLACES}
    other = sorted({path.name for path in folder.iterdir()} - own) if folder.is_dir() else [folder.name]
    if other:
        raise BadInput.at(folder, f"expected a new folder or an earlier demo, got {', '.join(other[:3])} in it")
    shutil.rmtree(folder)
