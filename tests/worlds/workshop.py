"""Videos of a workshop in class names of their own, as somebody would annotate them: for drafted vocabularies."""

import json
from pathlib import Path
from random import Random
from typing import Any

SCENERY = ("workbench", "Toolbox", "shelves", "window", "vice")
HANDLED = ("cordless drill", "plank", "hammer", "sandpaper", "box of screws", "glue bottle", "safety goggles", "saw")
PLACES = ("next to", "in front of", "behind")
DEEDS = {  # class of an action -> things that are held meanwhile
    "drill hole in plank": ("cordless drill", "plank"),
    "saw plank": ("saw", "plank"),
    "sand plank with sandpaper": ("sandpaper", "plank"),
    "pick up hammer": ("hammer",),
    "put down hammer": ("hammer",),
    "open toolbox": (),
    "close toolbox": (),
    "take out screws": ("box of screws",),
    "put on safety goggles": ("safety goggles",),
    "pour glue onto plank": ("glue bottle", "plank"),
    "sweep floor": (),
    "stretch": (),
}


def videos(number: int = 14, seed: int = 1) -> dict[str, Any]:
    return {"videos": [video(Random(f"{seed} {at}"), f"shop-{at:02}") for at in range(number)]}


def video(draw: Random, name: str) -> dict[str, Any]:
    """One thing is done after the other, some at once; the person walks from place to place."""
    actions: list[dict[str, Any]] = []
    second = 0.0
    for deed in draw.sample([*DEEDS], draw.randint(4, 7)):
        length = draw.uniform(4, 25)
        actions.append({"class": deed, "start": round(second, 1), "end": round(second + length, 1)})
        second += length * draw.choice((0.6, 1, 1, 1.3))
    end = max(action["end"] for action in actions)
    frames = [frame(draw, at, round(at * end / 24, 2), actions) for at in range(25)]
    split = draw.choice(("train", "train", "test"))
    return {"id": name, "length": end + 1, "split": split, "frames": frames, "actions": actions}


def frame(draw: Random, at: int, second: float, actions: list[dict[str, Any]]) -> dict[str, Any]:
    now = [action["class"] for action in actions if action["start"] <= second <= action["end"]]
    held = dict.fromkeys(thing for deed in now for thing in DEEDS[deed])
    corner = Random(f"{at // 5} {actions[0]['class']}")  # the same for a while
    seen = {thing: ["holding"] for thing in held} | {corner.choice(HANDLED): ["touching"]}
    for thing, place in zip(corner.sample(SCENERY, 3), PLACES, strict=True):
        seen[thing] = [place, "leaning on"] if corner.random() < 0.4 else [place]
    objects = [{"class": thing, "relations": related} for thing, related in seen.items()]
    return {"number": at, "seconds": second, "objects": objects}


def write(folder: Path, number: int = 14, seed: int = 1) -> Path:
    place = folder / "workshop.json"
    place.write_text(json.dumps(videos(number, seed)))
    return place
