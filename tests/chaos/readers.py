"""Every command that reads somebody's files, with a small valid corpus of them."""

import csv
import json
import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from bench.grounded_files import write_grounded
from questree.tables.run import Run
from questree.vocabulary.load import default_text
from worlds.commands import run

HERE = Path(__file__).parent.parent
OUT = "out"  # where a command writes; nothing is there when it refuses its input


@dataclass(frozen=True)
class Reader:
    command: str
    files: tuple[str, ...]  # patterns below the corpus; one file at a time is damaged
    writes: str = OUT  # what the command writes into


MADE = (
    "questree synth --out world --videos 2 --quiet",
    "questree build world --out run --workers 1 --text --quiet",
    "questree synth images --out pictures --images 12 --quiet",
    "questree build pictures --out sets --questions 24 --workers 1 --quiet",
    "questree synth situations --out situations --images 6 --quiet",
    "questree export agqa run --out agqa --workers 1 --quiet",
    "questree export decomp run --out decomp --workers 1 --quiet",
    "questree export covr sets --out covr --quiet",
    "questree answer run --model composition-noise --out said.jsonl --quiet",
    "questree answer sets --model oracle --quiet",
    "questree answer run --model oracle --quiet",
    "questree audit run --workers 1 --quiet",
    "questree features run --from-facts --quiet",
    "questree features sets --from-facts --quiet",
    "questree ask run --python worlds.talker:yes --name talker --questions 2 --no-media --quiet",
)
TEMPLATES = """
[[template]]
name = "actDuring"
program = "within(happening($a), $time)"
times = ["all", "before", "after"]
actions = ["direct"]
rules = ["action of the time itself", "more than 8 steps"]
group = "exists"
key = "{a}"
wordings = ["Did they at any point {a:present}{time}?", "{Time}, did they at any point {a:present}?"]
"""
SPLITS = """
splits:
  standing-up:
    held out:
      - has(before, action="standing up") & ~has(first)
      - has(interaction, relation="holding", object="dish")
  long-choices:
    held out: structure(choose) & (steps > 4)
    train: ~has(between)
more steps:
  objWhat: 3
"""
GENOME = {
    "objects": [{"image_id": 1, "objects": [{"object_id": 10, "names": ["man"], "x": 1, "y": 2, "w": 30, "h": 40}]}],
    "relationships": [
        {"image_id": 1, "relationships": [{"predicate": "near", "subject": {"object_id": 10}, "object_id": 10}]}
    ],
    "attributes": [{"image_id": 1, "attributes": [{"object_id": 10, "attributes": ["red", "tall"]}]}],
    "image_data": [{"image_id": 1, "width": 30, "height": 50, "url": "", "split": "dev"}],
}
READERS = {
    "action-genome": Reader("ingest action-genome world --out out", ("world/*.csv", "world/*.pkl", "world/*.txt")),
    "agqa graphs": Reader("ingest agqa graphs --out out", ("graphs/*",)),
    "charades": Reader("ingest charades charades --out out", ("charades/*.csv",)),
    "gqa": Reader("ingest gqa pictures --out out", ("pictures/*.json",)),
    "imsitu": Reader("ingest imsitu situations --out out", ("situations/*.json",)),
    "visual-genome": Reader("ingest visual-genome genome --out out", ("genome/*.json",)),
    "star": Reader("ingest star star --fps 30 --out out", ("star/*.json",)),
    "own videos": Reader("ingest json own --out out", ("own/*.json",)),
    "vocabulary": Reader("vocabulary check words.toml", ("words.toml",)),
    "import agqa": Reader("import agqa agqa --out out", ("agqa/AGQA_balanced/*",)),
    "import decomp": Reader("import decomp decomp --out out", ("decomp/*/*.json",)),
    "import covr": Reader("import covr covr --out sets --replace", ("covr/*.jsonl",), "sets"),
    "take apart": Reader(
        "decompose --from-agqa agqa/AGQA_balanced/test_balanced.txt --out out --workers 1",
        ("agqa/AGQA_balanced/test*",),
    ),
    "score decomp": Reader(
        "score decomp --hierarchies decomp/balanced_test_hierarchies --predictions flat.json --no-cache --resamples 0",
        ("decomp/balanced_test_hierarchies/*", "flat.json"),
    ),
    "score agqa": Reader(
        "score agqa --questions agqa/AGQA_balanced/test_balanced.txt --predictions flat.json --missing skip",
        ("agqa/AGQA_balanced/test*", "flat.json"),
    ),
    "score fpvg": Reader(
        "score fpvg --questions fpvg/questions.json --scene-graphs fpvg/scene_graphs.json --resamples 0 "
        "--detections fpvg/detections.json --all fpvg/all.json --rel fpvg/rel.json --irrel fpvg/irrel.json",
        ("fpvg/*.json",),
    ),
    "score covr": Reader(
        "score covr --questions covr/train.jsonl --predictions pictured.jsonl --missing skip --resamples 0",
        ("covr/train.jsonl", "pictured.jsonl"),
    ),
    "covr splits": Reader("covr splits --questions parts.json", ("parts.json",)),
    "covr execute": Reader(
        "covr execute --scenes scenes.json --programs programs.json", ("scenes.json", "programs.json")
    ),
    "covr statistics": Reader("covr statistics --questions covr/train.jsonl", ("covr/train.jsonl",)),
    "predictions": Reader("answer run --model other --predictions said.jsonl", ("said.jsonl",), "run"),
    "predictions, CSV": Reader("answer run --model other --predictions said.csv", ("said.csv",), "run"),
    "predictions, Parquet": Reader("predictions check said.parquet --run run", ("said.parquet",)),
    "free text": Reader("read free.jsonl --out out", ("free.jsonl",)),
    "splits": Reader("split run --splits splits.yaml --workers 1", ("splits.yaml",), "run"),
    "templates": Reader("generate run --templates mine.toml --only-templates --workers 1", ("mine.toml",), "run"),
    "absent": Reader("decompose run --absent absent.csv --workers 1", ("absent.csv",), "run"),
    "run of videos": Reader("score run --model oracle --resamples 0", ("run/*/*/*.parquet", "run/*/*", "run/*.*")),
    "run of images": Reader(
        "score decomp sets --model oracle --split train --resamples 0", ("sets/*/*/*", "sets/*/*", "sets/*.*")
    ),
    "people CSV": Reader("people import asked people.csv", ("people.csv",), "asked"),
    "people JSON Lines": Reader("people import asked people.jsonl", ("people.jsonl",), "asked"),
    "people Label Studio": Reader("people import asked studio.json", ("studio.json",), "asked"),
    "people task": Reader("people new asked --task task.toml --name other --sample 2", ("task.toml",), "asked"),
    "people book": Reader("people agreement asked --resamples 0", ("asked/people.sqlite",), "asked"),
    "asked": Reader(
        "ask run --python worlds.talker:yes --name talker --questions 2 --no-media", ("run/asked/*",), "run"
    ),
    "show": Reader("show run 038T4", ("run/facts/*", "run/vocabulary.toml", "run/ledger.json")),
    "report": Reader("report run --out out --resamples 0", ("run/*/*/*.parquet", "run/*/*", "run/*.*")),
}


def people(folder: Path) -> None:
    """A run about which bots were asked, in the place of people, and what they said as files."""
    shutil.copytree(folder / "run", folder / "asked")
    for line in (
        "questree people new asked --sample 6 --gold 0 --split all --quiet",
        "questree people simulate asked --quiet",
        "questree people export asked --out people.csv --label-studio studio.json --quiet",
        "questree people export asked --out people.jsonl --quiet",
    ):
        run(line, folder)
    said = {"from_name": "value", "to_name": "question", "type": "choices", "value": {"choices": ["yes"]}}
    annotations = [{"completed_by": {"id": 7, "email": "a@x.org"}, "lead_time": 3.5, "result": [said]}]
    tasks = json.loads((folder / "studio.json").read_text())
    (folder / "studio.json").write_text(json.dumps([task | {"annotations": annotations} for task in tasks]))
    (folder / "task.toml").write_text((files("questree.people") / "tasks" / "verify.toml").read_text("utf-8"), "utf-8")


def corpus(folder: Path) -> None:
    """Write all of these files."""
    folder.mkdir(parents=True)
    for line in MADE:
        run(line, folder)
    said = [json.loads(line) for line in (folder / "said.jsonl").read_text().splitlines()]
    (folder / "flat.json").write_text(
        json.dumps([{"csv_q_id": row["id"], "prediction": row["prediction"]} for row in said])
    )
    with (folder / "said.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, list(said[0]))
        rows.writeheader()
        rows.writerows(said)
    import polars as pl

    pl.DataFrame(said).write_parquet(folder / "said.parquet")
    (folder / "free.jsonl").write_text(
        "".join(
            json.dumps(
                {"id": row["id"], "question": "Did they hold the phone?", "raw": f"I think {row['prediction']}."}
            )
            + "\n"
            for row in said[:20]
        )
    )
    asked = [json.loads(line) for line in (folder / "covr" / "train.jsonl").read_text().splitlines()]
    (folder / "pictured.jsonl").write_text(
        "".join(json.dumps({"id": row["qid"], "prediction": str(row["answer"])}) + "\n" for row in asked)
    )
    (folder / "parts.json").write_text(json.dumps({"train": asked[:12], "val": asked[12:]}))
    programs = [
        {
            "id": "1",
            "scenes": ["1000001"],
            "program": [{"operation": "find", "arguments": ["chair"], "dependencies": []}],
        }
    ]
    (folder / "programs.json").write_text(json.dumps(programs))
    graphs = json.loads((folder / "pictures" / "train_sceneGraphs.json").read_text())
    (folder / "scenes.json").write_text(json.dumps({"gqa": graphs, "attribute_groups": {}}))
    (folder / "graphs").mkdir()
    for path in (folder / "agqa" / "AGQA_scene_graphs").iterdir():
        shutil.copy(path, folder / "graphs")
    (folder / "charades").mkdir()
    for path in (folder / "world").glob("Charades*.csv"):
        shutil.copy(path, folder / "charades")
    for name, source in (("star", "STAR_train.json"), ("own", "own_videos.json")):
        (folder / name).mkdir()
        shutil.copy(HERE / "fixtures" / source, folder / name)
    (folder / "own" / "own_videos.json").rename(folder / "own" / "videos.json")
    (folder / "genome").mkdir()
    for name, content in GENOME.items():
        (folder / "genome" / f"{name}.json").write_text(json.dumps(content))
    (folder / "fpvg").mkdir()
    write_grounded(folder / "fpvg", 20)
    (folder / "words.toml").write_text(default_text(), "utf-8")
    (folder / "splits.yaml").write_text(SPLITS)
    (folder / "mine.toml").write_text(TEMPLATES)
    videos = Run(folder / "run").load("facts").videos["id"]
    (folder / "absent.csv").write_text("video,object\n" + "".join(f"{video},dish\n" for video in videos))
    people(folder)
