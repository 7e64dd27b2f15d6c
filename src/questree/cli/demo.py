"""`questree demo`: a tour of the product on made-up worlds, each command printed before it runs."""

import shlex
import shutil
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.faults import BadInput

TOUR = [  # what a person would type; DEMO is the folder, VIDEO the first video of the run
    "synth --videos 60 --seed 1 --unasked-objects 0 --out DEMO/world",
    "build DEMO/world --out DEMO/run --tables",
    "show DEMO/run",
    "show DEMO/run VIDEO-1000",
    "show DEMO/run VIDEO-1000 --dag --svg DEMO/dag.svg",
    "answer DEMO/run --model composition-noise --noise 0.2",
    "score decomp DEMO/run --model composition-noise",
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
    "score decomp DEMO/pictures-run --model shortcut",
]
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
}


def demo(
    folder: Annotated[Path, Parameter(help="Folder to write; an earlier tour in it is replaced.")] = Path("demo"), /
) -> None:
    """Tour the product on made-up worlds: videos first, then sets of images."""
    from questree.cli.app import app
    from questree.tables.facts import VIDEOS
    from questree.tables.run import Run

    clear(folder)
    for line in TOUR:
        if "VIDEO" in line:
            line = line.replace("VIDEO", Run(folder / "run").table("facts", VIDEOS)["id"][0])
        words = [word.replace("DEMO", str(folder)) for word in shlex.split(line)]
        print(f"\n$ {shlex.join(['questree', *words])}", flush=True)
        app(words, exit_on_error=False, result_action="return_value")
    print("\nWhere to look:")
    for place, text in PLACES.items():
        print(f"  {place.replace('DEMO', str(folder)):<24} {text}")
    print(f"  {f'questree serve {folder}/run':<24} all of it in the browser")


def clear(folder: Path) -> None:
    """Take away an earlier tour, and nothing else."""
    if not folder.exists():
        return
    own = {Path(place).parts[1] for place in PLACES}
    other = sorted({path.name for path in folder.iterdir()} - own) if folder.is_dir() else [folder.name]
    if other:
        raise BadInput.at(folder, f"expected a new folder or an earlier demo, got {', '.join(other[:3])} in it")
    shutil.rmtree(folder)
