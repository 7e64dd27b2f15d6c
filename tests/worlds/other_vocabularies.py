"""Random small vocabularies, and videos in their words, as a user would write them: own TOML and own JSON."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

NAMES = (  # digits, capitals, apostrophes, other alphabets, signs that files and pages escape
    *("cup", "table", "knife 2", "7up", "Big Wok", "baker's peel", "crème brûlée", "鍋", "dish", 'a 12" pan', "o2"),
    *("salt & pepper", "<b>lid</b>", "tea/coffee", "50% milk", "{bowl}", "back\\slash", "no", "lid: red", "Ørsted-jar"),
)
TIES = (
    *("holding", "touching", "behind", "in front of", "above", "beneath", "in", "carrying", "next to", "wiping"),
    *("l'épluchant", "Peeling 2x", "not contacting", "leaning on", "looking at", "far from", "wearing", "melting"),
)
DEEDS = ("chopping", "standing up", "Stirring 3x", "l'épluchant", "taking", "putting down", "washing", "yawning")
LISTS = {  # list -> kinds of its places; None: any number of words of one kind
    **dict.fromkeys(("single_object_verbs", "transition_verbs", "relation_existence_ban", "relation_time_ban"), "r"),
    **dict.fromkeys(("obvious_relations", "never_asked_relations", "not_touching_contacts"), "r"),
    **dict.fromkeys(("take_verbs", "hold_verbs", "put_verbs"), "r"),
    **dict.fromkeys(("transition_actions", "never_localised_actions"), "a"),
    **dict.fromkeys(("object_existence_ban", "always_there"), "o"),
    "commonsense_pairs": "or",
    "forbidden_pairs": "oo",
    "similar_objects": "oo",
}
GROUPS = ("attention", "spatial", "contact", "verb")
ARTICLES = ("a", "an", "some", "the", "their", "")


def words(random: Random) -> dict[str, Any]:
    """A vocabulary as its file says it; any group of relations, any list and all actions may be missing."""
    objects = [
        {"id": f"o{at}", "name": name, "article": random.choice(ARTICLES), "part_only": random.random() < 0.15}
        for at, name in enumerate(random.sample(NAMES, random.randint(0, 7)), 3)
    ]
    if len(objects) > 1 and random.random() < 0.3:
        objects[-1]["merged"] = objects[0]["id"]
    if random.random() < 0.1:
        objects = [each | {"part_only": True} for each in objects]
    groups = random.sample(GROUPS, random.randint(1, len(GROUPS)))
    relations = [
        {"id": f"r{at}", "name": name, "group": random.choice(groups), "present": f"do {name}", "past": f"did {name}"}
        for at, name in enumerate(random.sample(TIES, random.randint(1, 6)))
    ]
    for each in relations:  # facts of a verb are kept under a contact of the same name
        if each["group"] == "contact" and random.random() < 0.3:
            relations = [*relations, each | {"id": f"v{each['id']}", "group": "verb", "folds": each["id"]}]
    derived = {"group": "derived", "present": "interact with", "past": "interacted with"}
    made = {
        "name": "any",
        "person": "me",
        "objects": [{"id": "me", "article": "a"} | called(random, "person", "chef"), *objects],
        "relations": [
            *relations,
            {"id": "d1", "name": "annotated"} | derived,
            {"id": "d2"} | called(random, "interacting with", "handling") | derived,
        ],
        "actions": deeds(random, objects, relations),
    }
    return made | special(random, made)


def called(random: Random, said: str, other: str) -> dict[str, Any]:
    """As questions say it, or otherwise with a label."""
    return {"name": said} if random.random() < 0.8 else {"name": other, "labels": [said]}


def deeds(random: Random, objects: list[dict[str, Any]], relations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    verbs = [each for each in relations if each["group"] != "attention"]
    for at in range(random.choice((0, 1, 2, 3, 5, 8, 10)) if verbs else 0):
        done, thing = random.choice(DEEDS), random.choice([*objects, None])
        said = f"{done} {thing['article']} {thing['name']}" if thing else done
        form = {"present": f"now {said}", "past": f"once {said}", "verb": random.choice(verbs)["id"]}
        made.setdefault(said, {"id": f"a{at}", "phrase": said, **form, **({"object": thing["id"]} if thing else {})})
    found = [*made.values()]
    if len(found) > 2 and random.random() < 0.3:
        found[-1]["merged"] = found[0]["id"]
    return found


def special(random: Random, made: dict[str, Any]) -> dict[str, Any]:
    """Special lists, entailments and held-out compositions; often none."""
    named = {
        "o": [each["name"] for each in made["objects"]],
        "r": [each["id"] for each in made["relations"] if each["group"] != "derived"],
        "a": [each["id"] for each in made["actions"]],
    }

    def some(kinds: str) -> list[Any]:
        if not all(named[kind] for kind in kinds):
            return []
        picked = [[random.choice(named[kind]) for kind in kinds] for _ in range(random.randint(0, 2))]
        return [each[0] if len(kinds) == 1 else each for each in picked]

    found: dict[str, Any] = {}
    if random.random() < 0.6:
        found["lists"] = {name: some(kinds) for name, kinds in LISTS.items() if random.random() < 0.4}
    if random.random() < 0.4:
        stored = [each["id"] for each in made["relations"] if each["group"] != "derived" and "folds" not in each]
        found["entailments"] = {a: [b] for a, b in pairwise(stored) if random.random() < 0.5}
    if random.random() < 0.4:
        found["held_out"] = {"actions": some("a"), "first": some("r"), "pairs": some("or")}
    return found


def video(random: Random, number: int, made: dict[str, Any]) -> dict[str, Any]:
    """Objects that stay for a while, with or without boxes, in some of the relations, and actions over them."""
    size = random.choice((1, 3, 12, 20))
    seconds = [at * random.choice((0.5, 1.5)) for at in range(1, size + 1)]
    seconds.sort()
    ties = [each["id"] for each in made["relations"] if each["group"] != "derived"]
    stays = {
        each["name"]: [stay(random, size, random.sample(ties, min(len(ties), 2))) for _ in range(2)]
        for each in made["objects"]
        if each["id"] != made["person"] and random.random() < 0.8
    }
    frames = [
        {"number": at, "seconds": second + at / 100, "objects": [*seen(random, stays, at)]}
        | ({"person": [10, 10, 60, 190]} if random.random() < 0.7 else {})
        for at, second in enumerate(seconds)
    ]
    actions = []
    for _ in range(random.randint(0, 6) if made["actions"] else 0):
        start = random.uniform(0, seconds[-1])
        actions.append(
            {"class": random.choice(made["actions"])["id"], "start": start, "end": start + random.random() * 15}
        )
    split = random.choice((*("train", "test") * 3, None))
    made_of = {"id": f"vidéo {number}", "width": 300, "height": 200, "frames": frames, "actions": actions}
    return made_of | ({"split": split} if split else {})


def stay(random: Random, size: int, ties: list[str]) -> tuple[range, list[str], dict[str, Any]]:
    """Frames, relations and a box."""
    begin, x, y = random.randrange(size), random.randint(0, 200), random.randint(0, 100)
    box = {"box": [x, y, x + random.randint(5, 90), y + random.randint(5, 90)]} if random.random() < 0.7 else {}
    return range(begin, random.randint(begin + 1, size)), ties, box


def seen(random: Random, stays: dict[str, Any], at: int) -> Iterator[dict[str, Any]]:
    for name, spans in stays.items():
        for frames, ties, box in spans:
            if at in frames:
                yield (
                    {"class": name, "visible": False}
                    if random.random() < 0.05
                    else {
                        "class": name,
                        "relations": ties,
                    }
                    | box
                )
                break


def write(folder: Path, made: dict[str, Any], videos: list[dict[str, Any]]) -> tuple[Path, Path]:
    """The vocabulary and the videos as files."""
    vocabulary, facts = folder / "words.toml", folder / "videos.json"
    vocabulary.write_text("\n".join(lines(made)), "utf-8")
    facts.write_text(json.dumps({"videos": videos}, ensure_ascii=False), "utf-8")
    return vocabulary, facts


def lines(made: dict[str, Any]) -> list[str]:
    """TOML: keys of one value first, then tables."""
    flat = [f"{key} = {inline(value)}" for key, value in made.items() if not isinstance(value, dict)]
    tables = [
        [f"[{key}]", *(f"{quoted(name)} = {inline(entry)}" for name, entry in value.items())]
        for key, value in made.items()
        if isinstance(value, dict)
    ]
    return [*flat, *(line for table in tables for line in table)]


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {inline(entry)}' for key, entry in value.items())} }}"
    return f"[{', '.join(map(inline, value))}]" if isinstance(value, list) else quoted(value)


def quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
