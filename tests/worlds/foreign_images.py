"""Small image corpora as other people have them: Visual Genome's files and names, VRD's verbs, CLEVR's attributes."""

import json
from pathlib import Path
from random import Random
from typing import Any

# subject, predicate, object: what Visual Genome says, in its own spelling
GENOME = """man WEARS a hat | man wearing shirt. | man has beard | man is on a street | man holds 5" pipe
| woman wears coat | woman carries bag (red) | woman near sign | dog has a tail | dog sits on street | table has vase
| vase on table | vase full of flowers | edge of table | lamp on table | car parked on road | car has wheels
| wheels of car | sign (stop) near road | sign on pole, metal | sign says "slow" | bus next to trees | tree behind man
| trees behind bus | logo printed on shirt. | salt, pepper on table | $ sign on sign | boy rides horse | boy holds ball
| girl feeds horse | horse eats grass | horse wears saddle | pole, metal has sign | bag (red) on table
| cat lies on table | cat looks at dog"""
COLORS = ("red", "blue", "green", "black")
LOOKS = {"man": ("tall", "short"), "car": ("parked", "moving"), "sign": ('"new"', "old, rusty")}


def _pairs(text: str) -> list[tuple[str, str, str]]:
    """The words that begin and end a line are things, longest names first."""
    names = ['5" pipe', "bag (red)", "pole, metal", "sign (stop)", "salt, pepper", "$ sign", '"slow"']
    found = []
    for line in " ".join(text.split()).split(" | "):
        subject = next((name for name in names if line.startswith(name)), line.split(" ")[0])
        target = next((name for name in names if line.endswith(name)), line.split(" ")[-1])
        found.append((subject, line[len(subject) : len(line) - len(target)].strip(), target))
    return found


def visual_genome(folder: Path, images: int = 120, seed: int = 1) -> Path:
    """objects.json, relationships.json, attributes.json, image_data.json."""
    draw, files = Random(seed), dict[str, list[Any]](objects=[], relationships=[], attributes=[], image_data=[])
    for image in range(1, images + 1):
        facts = draw.sample(_pairs(GENOME), draw.randint(4, 9))
        names = list(dict.fromkeys(name for subject, _, target in facts for name in (subject, target)))
        names += [name for name in names if draw.random() < 0.2]
        things: list[dict[str, Any]] = [
            {"object_id": 100 * image + at, "names": [name], "synsets": [], **_box(draw, at)}
            for at, name in enumerate(names)
        ]
        by_name = {thing["names"][0]: thing for thing in reversed(things)}
        said = [
            {"predicate": link, "synsets": [], "subject": by_name[subject], "object": by_name[target]}
            for subject, link, target in facts
        ]
        looks = [
            {"object_id": thing["object_id"], "names": thing["names"], "attributes": _looks(draw, thing["names"][0])}
            for thing in things
        ]
        files["objects"].append({"image_id": image, "objects": things})
        files["relationships"].append({"image_id": image, "relationships": said})
        files["attributes"].append({"image_id": image, "attributes": looks})
        files["image_data"].append({"image_id": image, "width": 800, "height": 600, "url": ""})
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def _box(draw: Random, at: int) -> dict[str, int]:
    """The first one sticks out by two pixels."""
    x, y = draw.randint(0, 700), draw.randint(0, 500)
    return {"x": x if at else -2, "y": y, "w": 90, "h": 90}


def _looks(draw: Random, name: str) -> list[str]:
    found = [draw.choice(COLORS)] if draw.random() < 0.8 else []
    return found + ([draw.choice(LOOKS[name])] if name in LOOKS else [])


PREDICATES = """on, wear, has, next to, sit on, ride, above, hold, stand next to, behind, park on, under,
in the front of, carry, walk on, near, taller than, adjacent to, lean on, touch, on the top of, at, feed, use, look at,
drive on""".replace("\n", " ")
VRD = {
    "person": "coat, jacket, shirt, horse, bike, street, road, phone, dog, person, trees, bag",
    "dog": "street, grass, person, sofa",
    "car": "street, road, car, tree",
    "trees": "street, building",
    "tree": "road, building, trees",
    "phone": "table, hand",
    "bag": "table, chair",
    "building": "street, sky",
}


def vrd(folder: Path, images: int = 160, seed: int = 1) -> Path:
    """Own images with prepositions and verbs in their plain form, no attributes, and a given train, dev and test."""
    draw, made = Random(seed), []
    links = PREDICATES.split(", ")
    for image in range(images):
        things: list[dict[str, Any]] = []
        for subject in draw.choices(list(VRD), k=draw.randint(2, 4)):
            target = draw.choice(VRD[subject].split(", "))
            first = len(things)
            edge = {"name": draw.choice(links[: 6 if draw.random() < 0.7 else None]), "object": str(first + 1)}
            things += [{"id": str(first), "name": subject, "relations": [edge]}, {"id": str(first + 1), "name": target}]
        made.append({"id": f"v{image}", "split": ("train", "train", "dev", "test")[image % 4], "things": things})
    return _own(folder / "vrd.json", made)


def clevr(folder: Path, images: int = 100, seed: int = 1) -> Path:
    """Own images of cubes, spheres and cylinders with attributes and nothing between them."""
    draw, made = Random(seed), []
    for image in range(images):
        things = [
            {
                "id": str(at),
                "name": draw.choice(("cube", "sphere", "cylinder")),
                "attributes": [
                    draw.choice(("red", "blue", "green", "gray", "purple")),
                    draw.choice(("metal", "rubber")),
                    draw.choice(("small", "large")),
                ],
            }
            for at in range(draw.randint(2, 6))
        ]
        made.append({"id": f"c{image}", "things": things})
    return _own(folder / "clevr.json", made)


def _own(path: Path, images: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"images": images}))
    return path
