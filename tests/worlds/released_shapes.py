"""Small files in the shapes in which other corpora are released, with their surprises, and what becomes of them."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any
from xml.etree import ElementTree

Videos = list[dict[str, Any]]
UNDEFINED = "__undefined__"


def span(name: str, start: float, end: float) -> dict[str, Any]:
    return {"class": name, "start": max(start, 0.0), "end": end}


def runs(rows: Iterator[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """First and last moment of every value that stays for some moments one after the other."""
    for (value, _), some in groupby(enumerate(rows), lambda row: (row[1][1], row[1][0] - row[0])):
        moments = [at for _, (at, _) in some]
        yield moments[0], moments[-1], value


def jaad() -> Videos:
    """Tracks of a pedestrian and a group; what is out of view or undefined is left out."""
    boxes = [
        f'<box frame="{at}" outside="{int(at > 170)}" occluded="0" keyframe="1" xtl="10" ytl="5" xbr="40" ybr="90">'
        f'<attribute name="action">{"standing" if at < 60 else "walking"}</attribute>'
        f'<attribute name="look">{"looking" if 30 <= at < 90 else "not-looking"}</attribute>'
        f'<attribute name="cross">{"crossing" if at >= 60 else "not-crossing"}</attribute>'
        f'<attribute name="hand_gesture">{"greet" if 90 <= at < 120 else UNDEFINED}</attribute></box>'
        for at in range(0, 180, 30)
    ]
    tracks = f'<track label="pedestrian">{"".join(boxes)}</track><track label="people"/>'
    root = ElementTree.fromstring(f"<annotations><meta/>{tracks}</annotations>")
    said = {"look": "looking at the car", "cross": "crossing the street", "hand_gesture": "hand_gesture: greet"}
    seen = [box for box in root.iter("box") if box.get("outside") == "0"]
    actions, frames = [], list[dict[str, Any]]()
    for kind in ("action", "look", "cross", "hand_gesture"):
        values = ((int(box.get("frame", 0)) // 30, value(box, kind)) for box in seen)
        for first, last, name in runs(values):
            if name and not name.startswith(("not", UNDEFINED)):
                actions.append(span(said.get(kind, name), first, last + 1))
    for box in seen:
        second, looks = int(box.get("frame", 0)) / 30, value(box, "look") == "looking"
        car = {"class": "car", "relations": ["looking at"] if looks else ["not-looking"]}
        frames.append({"number": int(second * 30), "seconds": second, "objects": [car]})
    return [{"id": "video_0001", "split": "train", "length": 6, "frames": frames, "actions": actions}]


def value(box: ElementTree.Element, kind: str) -> str:
    return next((each.text or "" for each in box if each.get("name") == kind), "")


def goalstep() -> Videos:
    """Steps that nest, abut, begin before the video and go on after a break; categories are "group: sentence"."""
    knead, off = "Make baked goods: Knead the dough in a dough mixer", "Make baked goods: Turn off the oven"
    look = "Browse the phone: look at the recipe"
    inner = [{"start_time": 20.0, "end_time": 31.5, "step_category": look, "segments": []}]
    steps = [
        {"start_time": -0.021, "end_time": 20.0, "step_category": knead, "is_continued": False, "segments": []},
        {"start_time": 20.0, "end_time": 60.0, "step_category": "COOKING:MAKE_BREAD", "segments": inner},
        {"start_time": 60.0, "end_time": 90.0, "step_category": knead, "is_continued": True, "segments": []},
        {"start_time": 90.0, "end_time": 93.0, "step_category": off, "segments": []},
    ]
    video = {"video_uid": "6f0e", "start_time": 0, "end_time": 100, "goal_category": "COOKING:MAKE_BREAD"}
    read = json.loads(json.dumps({"videos": [video | {"segments": steps}]}))
    return [
        {
            "id": each["video_uid"],
            "length": each["end_time"],
            "frames": [{"number": 1, "seconds": 1, "objects": [{"class": "recipe", "relations": ["looking at"]}]}],
            "actions": [*nested(each["segments"])],
        }
        for each in read["videos"]
    ]


def nested(segments: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in segments:
        yield span(each["step_category"], each["start_time"], each["end_time"])
        yield from nested(each["segments"])


def captain_cook() -> Videos:
    """Verbs said twice, amounts, and steps at -1 that were left out."""
    said = (
        "Coat -Coat a 6-oz. ramekin cup with cooking spray",
        "Pour-Pour 1 egg into the ramekin cup",
        "Microwave-Microwave the ramekin cup uncovered on high for 30 seconds",
        "stir-stir",
        "add-add 1/2 tsp salt (to taste)",
    )
    steps = [
        {"step_id": at, "start_time": at * 20.0, "end_time": at * 20 + 20.0, "description": name, "has_errors": False}
        for at, name in enumerate(said)
    ]
    steps.append({"step_id": 9, "start_time": -1.0, "end_time": -1.0, "description": "Cut-Cut it", "has_errors": True})
    read = json.loads(json.dumps({"1_7": {"recording_id": "1_7", "activity_id": 1, "steps": steps}}))
    return [
        {
            "id": id,
            "actions": [span(s["description"], s["start_time"], s["end_time"]) for s in each["steps"] if kept(s)],
        }
        for id, each in read.items()
    ]


def kept(step: dict[str, Any]) -> bool:
    return bool(step["start_time"] >= 0)


EPIC = """narration_id,video_id,start_timestamp,stop_timestamp,narration,verb,noun,all_nouns
P01_0,P01_01,00:00:00.14,00:00:03.37,open door,open,door,['door']
P01_1,P01_01,00:00:03.37,00:00:06.17,turn on tap,turn-on,tap,['tap']
P01_2,P01_01,00:00:05.10,00:00:07.00,put down plate,put-down,plate,['plate']
P01_3,P01_01,00:00:07.00,00:00:09.37,wash hands with tap:water,wash,tap:water,"['tap:water', 'hand']"
P01_4,P01_01,00:00:07.00,00:00:09.37,wash hands with tap:water,wash,tap:water,"['tap:water', 'hand']"
P01_5,P01_01,00:00:09.00,00:00:12.00,still holding both_hands,hold,both_hands,['both_hands']
P01_6,P01_01,00:00:12.00,00:00:19.00,take out and wash pan:dust,take,pan:dust,['pan:dust']
P01_7,P01_01,00:00:19.00,00:00:25.00,open door,open,door,['door']
"""


def epic() -> Videos:
    """Narrations that overlap, abut and repeat; keys of classes that are read backwards."""

    def seconds(time: str) -> float:
        hours, minutes, rest = time.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(rest)

    rows = csv.DictReader(io.StringIO(EPIC))
    spans = [span(row["narration"], *map(seconds, (row["start_timestamp"], row["stop_timestamp"]))) for row in rows]
    return [{"id": "P01_01", "split": "test", "actions": spans}]


def vidor() -> Videos:
    """Relations between tracks, ends exclusive, of other subjects too; predicates with an underscore."""
    names = ["adult", "ball/sports_ball", "dog", "baby_seat"]
    predicates = [
        (0, 3, "lean_on", 0, 60),
        (0, 1, "hold", 0, 90),
        (2, 0, "watch", 0, 90),
        (0, 1, "in_front_of", 30, 90),
    ]
    predicates += [(0, 2, "walk_left", 60, 90), (0, 2, "carry/hold", 60, 90), (0, 2, "get_off", 0, 30)]
    instances = [
        dict(zip(("subject_tid", "object_tid", "predicate", "begin_fid", "end_fid"), row, strict=True))
        for row in predicates
    ]
    objects = [{"tid": at, "category": name} for at, name in enumerate(names)]
    file = {"video_id": "11", "fps": 30.0, "subject/objects": objects, "trajectories": [[]] * 90}
    read = json.loads(json.dumps(file | {"relation_instances": instances}))
    category = {each["tid"]: each["category"] for each in read["subject/objects"]}
    frames = [
        {
            "number": at,
            "seconds": at / read["fps"],
            "relations": [
                [
                    *([category[each["subject_tid"]]] if each["subject_tid"] else []),
                    each["predicate"],
                    category[each["object_tid"]],
                ]
                for each in read["relation_instances"]
                if each["begin_fid"] <= at < each["end_fid"]
            ],
        }
        for at in range(0, 90, 15)
    ]
    acts = ("walk_left", "lean_on", "hold")
    spans = [
        span(each["predicate"], each["begin_fid"] / 30, each["end_fid"] / 30)
        for each in read["relation_instances"]
        if each["predicate"] in acts
    ]
    return [{"id": "11", "split": "train", "frames": frames, "actions": spans}]


CLASSES = {1: "bend/bow (at the waist)", 17: "carry/hold (an object)", 79: "talk to (e.g., self, a person, a group)"}
CLASSES |= {80: "watch (a person)", 54: "turn (e.g., a screwdriver)"}


def ava() -> Videos:
    """Rows of a person, a second and an action; runs of seconds make intervals."""
    at = {1: (902, 903), 17: (902, 903, 904, 908), 79: (904, 905), 80: (905, 906, 907, 908), 54: (909, 910)}
    file = [f"vid,{second:04},0.1,0.1,0.5,0.9,{id},0" for id, seconds in at.items() for second in seconds]
    read = [line.split(",") for line in file]
    spans = [
        span(name, first - 902, last - 901)
        for id, name in CLASSES.items()
        for first, last, _ in runs((int(row[1]), row[6]) for row in read if row[6] == str(id))
    ]
    return [{"id": "vid", "split": "train", "actions": spans}]


CORPORA: dict[str, Callable[[], Videos]] = {
    "JAAD": jaad,
    "GoalStep": goalstep,
    "CaptainCook4D": captain_cook,
    "EPIC-KITCHENS": epic,
    "VidOR": vidor,
    "AVA": ava,
}
