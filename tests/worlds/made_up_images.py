"""A run of made-up images, and word tables for them, small enough for naive judges."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

from questree.sources.gqa import scene_graph_files
from questree.synth.images import world, write_images
from questree.tables.run import Run
from questree.tables.store import new_folder
from worlds.whole_sources import read_files

GROUPS = ("color", "material", "pattern", "shape")
OPPOSITES = ("open,closed", "full,empty", "standing,sitting", "small,large", "young,old", "on,off", "wet,dry")
DISJOINT = ("on,near", "riding,near", "holding,near", "wearing,near", "above,below", "below,above", "on,in")
BOTH_WAYS = ("behind,in front of", "sitting on,standing on", "wearing,holding")


def attribute_groups() -> dict[str, str]:
    """red -> color, and so on."""
    known = world()
    kinds = (*known.things.values(), *known.ground.values(), *known.worn_values.values(), *known.part_values.values())
    return {value: group for kind in kinds for group in GROUPS for value in getattr(kind, group)}


def write_words(folder: Path) -> Path:
    groups = attribute_groups()
    values = {group: sorted(value for value, own in groups.items() if own == group) for group in GROUPS}
    same_group = [f"{a},{b}" for group in GROUPS for a, b in combinations(values[group], 2)]
    back = [f"{b},{a}" for a, b in (pair.split(",") for pair in BOTH_WAYS)]
    files: dict[str, Any] = {
        "ignore.yaml": {
            "nouns": ["wall", "sky", "floor", "road"],
            "relations": ["of", "with"],
            "pairs": ["wearing,shoes"],
        },
        "ontology.yaml": {"attributes": values, "objects": {"person": ["man", "woman", "boy", "girl"]}},
        "adversarial_groups.yaml": {
            "contradicting_predicted_attributes": same_group + list(OPPOSITES),
            "entailing_attributes": [],
            "entailing_predicted_nouns": ["cup,glass", "table,picnic table"],
            "disjoint_predicted_relations": [*DISJOINT, *BOTH_WAYS, *back],
            "not_disjoint_relations": ["near,on", "near,behind"],
        },
    }
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), "utf-8")  # JSON is YAML
    return folder


def made_up_run(folder: Path, images: int, seed: int = 1) -> tuple[Run, dict[str, Any]]:
    """The run, and its scenes as they are in the files."""
    write_images(folder / "raw", images, seed)
    run, files = Run(folder / "run"), scene_graph_files(folder / "raw")
    with new_folder(run.images) as out:
        read_files(files).save(out)
    scenes: dict[str, Any] = {}
    for file in files:
        scenes |= json.loads(file.read_text("utf-8"))
    return run, scenes
