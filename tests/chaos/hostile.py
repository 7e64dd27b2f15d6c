"""Runs in which all that anybody may name (videos, images, words, models, answers) attacks whoever shows it."""

import json
from itertools import cycle
from pathlib import Path
from typing import Any

from worlds.commands import run

NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)' x='",
    "javascript:alert(1)",
    "{{7*191}}{% raw %}",
    "</title></style></textarea><svg onload=alert(1)>",
    "&lt;b&gt;&amp;",
    "a\nb\tc",
    "\u202egnp.exe",  # read from the right
    "../../../etc/passwd",
    "%2e%2e%2f%00",
    "#x?y=1&z=2",
    "]]><!--",
    "\\u003cscript\\u003e`${alert(1)}`",
    "\x1b[31mred",
    "=1+1",
    "x" * 300,  # no file is called so
)
PATHS = (".", "..", "/", "//host/x", "a/../b")  # ids that lead elsewhere, if one lets them
MODEL = '"><img src=x onerror=alert(1)>'  # a folder's name
RUNS = ("videos", "images")


def hostile(folder: Path) -> None:
    """FOLDER/videos and FOLDER/images: with DAGs, a model, and people who are asked; FOLDER/media."""
    folder.mkdir(parents=True)
    for name, records in (("videos", [*map(video, (*NAMES, *PATHS))]), ("images", [*map(image, (*NAMES, *PATHS))])):
        (folder / f"{name}.json").write_text(json.dumps({name: records}))
    for line in (
        "questree vocabulary draft videos.json --out words.toml --quiet",
        "questree build videos.json --vocabulary words.toml --out videos --workers 1 --quiet",
        "questree build images.json --out images --questions 24 --workers 1 --quiet",
    ):
        run(line, folder)
    for name in RUNS:
        liar(folder, name)
        run(f"questree people new {name} --sample 6 --gold 0 --split all --annotators Ann,Ben --quiet", folder)
    media(folder / "media")


def video(name: str) -> dict[str, Any]:
    """Two frames, two things and two actions, all called so."""
    thing = {"class": name.strip("./") or "dot", "box": [20, 18, 240, 230], "relations": ["holding"]}
    other = {"class": "table", "box": [1, 2, 30, 40], "relations": ["near"]}
    frames = [
        {"number": 30, "seconds": 1.0, "person": [10, 50, 220, 470], "objects": [thing]},
        {"number": 90, "seconds": 3.0, "objects": [thing, other]},
    ]
    actions = [
        {"class": f"{verb} {thing['class']}", "start": begin, "end": begin + 4}
        for verb, begin in (("doing", 0), ("opening", 3))
    ]
    size = {"length": 12.5, "width": 640, "height": 480}
    return {"id": name, "split": "test", **size, "frames": frames, "actions": actions}


def image(name: str) -> dict[str, Any]:
    word = name.strip("./") or "dot"
    link = {"name": f"near {word}", "object": "2"}
    things = [
        {"id": "1", "name": word, "box": [10, 40, 60, 90], "attributes": [f"red {word}"], "relations": [link]},
        {"id": "2", "name": "floor", "box": [0, 80, 200, 100]},
    ]
    return {"id": name, "width": 200, "height": 100, "things": things}


def liar(folder: Path, name: str) -> None:
    """A model that says these names, and is called like one."""
    run(f"questree answer {name} --model oracle --out said.jsonl --quiet", folder)
    said = [json.loads(line) for line in (folder / "said.jsonl").read_text().splitlines()]
    lies = [row | {"prediction": lie} for row, lie in zip(said, cycle(NAMES), strict=False)]
    (folder / "said.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in lies))
    run(f"questree answer {name} --model liar --predictions said.jsonl --quiet", folder)
    stored = folder / name / "predictions"
    (stored / "liar").rename(stored / MODEL)
    run(f"questree answer {name} --model oracle --quiet", folder)


def media(folder: Path) -> None:
    """A secret beside the folder that is shown, and a link to it."""
    (folder / "a").mkdir(parents=True)
    secret = folder.with_name("secret.png")
    secret.write_bytes(SECRET)
    (folder / "=1+1.png").symlink_to(secret)
    (folder / "javascript:alert(1)").mkdir()
    (folder / "javascript:alert(1)" / "30.png").write_bytes(b"\x89PNG")


SECRET = b"the secret beside the folder"
