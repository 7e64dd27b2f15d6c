"""Made-up situations in imSitu's format: a verb, who does it to what, and with, from or into what."""

import re
from functools import cache
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from questree.progress import watch
from questree.synth.images import check_order
from questree.tables.store import new_folder

ANNOTATORS = 3
UNKNOWN = 0.1  # share of nouns that an annotator leaves out
MARK = "made up by questree"  # in the space file: this folder is ours
SPLITS = {"train.json": (0, 1, 2), "dev.json": (3,), "test.json": (4,)}  # by the image's number, modulo 5


def write_situations(out: Path, images: int, seed: int) -> dict[str, int]:
    """Write OUT/imsitu_space.json and train, dev and test.json."""
    check_order(out, "situations", _is_made_up, images, seed)
    made = [make_situation(at, seed) for at in watch(range(images), "making situations", images)]
    with new_folder(out) as folder:
        (folder / "imsitu_space.json").write_bytes(msgspec.json.encode(space()))
        for file, places in SPLITS.items():
            chosen = {name: situation for at, (name, situation) in enumerate(made) if at % 5 in places}
            (folder / file).write_bytes(msgspec.json.encode(chosen))
    nouns = sum(bool(noun) for _, situation in made for noun in situation["frames"][0].values())
    return {"images": images, "verbs": len({situation["verb"] for _, situation in made}), "nouns": nouns}


def _is_made_up(folder: Path) -> bool:
    path = folder / "imsitu_space.json"
    return path.is_file() and MARK.encode() in path.read_bytes()[:200]


def make_situation(at: int, seed: int) -> tuple[str, dict[str, Any]]:
    """File name and record of one image; they depend on the seed and its own number only."""
    draw = Random(f"questree situation {seed} {at}")
    verb = draw.choice(sorted(space()["verbs"]))
    truth = {role: draw.choice(_choices(verb, role)) for role in space()["verbs"][verb]["order"]}
    frames = [
        {role: "" if draw.random() < UNKNOWN else _ids()[noun] for role, noun in truth.items()}
        for _ in range(ANNOTATORS)
    ]
    return f"{verb}_{at}.jpg", {"verb": verb, "frames": frames}


@cache
def space() -> dict[str, Any]:
    """Glosses of the nouns; roles and sentence of every verb."""
    sentences = {verb: said["abstract"] for verb, said in _tables()["verbs"].items()}
    verbs = {
        verb: {"order": [role.lower() for role in re.findall("[A-Z]{2,}", said)], "abstract": said}
        for verb, said in sentences.items()
    }
    return {"by": MARK, "nouns": {id: {"gloss": [noun]} for noun, id in _ids().items()}, "verbs": verbs}


@cache
def _tables() -> dict[str, Any]:
    text = resources.files("questree.synth").joinpath("situations.toml").read_bytes()
    return dict(msgspec.toml.decode(text))


def _choices(verb: str, role: str) -> list[str]:
    tables = _tables()
    found: list[str] = {"agent": tables["people"], "place": tables["places"]}.get(role) or tables["verbs"][verb][role]
    return found


@cache
def _ids() -> dict[str, str]:
    """Noun -> an id in the manner of WordNet."""
    tables = _tables()
    lists = [tables["people"], tables["places"]]
    lists += [words for said in tables["verbs"].values() for role, words in said.items() if role != "abstract"]
    nouns = sorted({noun for words in lists for noun in words})
    return {noun: f"n{at:08}" for at, noun in enumerate(nouns, 1)}
