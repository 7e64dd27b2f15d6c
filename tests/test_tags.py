"""Names of boxes stand near their boxes, inside the picture, and never on each other."""

from itertools import combinations
from random import Random

from questree.show.tags import meet, tags

SEEN = (0.0, 0.0, 400.0, 300.0)


def test_names_do_not_meet_and_stay_inside() -> None:
    for seed in range(30):
        chance = Random(seed)
        boxes = []
        for at in range(14):
            x, y = chance.uniform(0, 380), chance.uniform(0, 280)
            name = chance.choice(["cup", "red plastic cup", "table", "person"])
            boxes.append((f"{name} {at}", (x, y, min(x + chance.uniform(5, 200), 400), min(y + 40, 300))))
        found = tags(boxes, 4.0, SEEN)
        assert not [pair for pair in combinations(found, 2) if meet(pair[0].box, pair[1].box)]
        for tag in found:
            assert tag.x >= 0 and tag.y >= 0 and tag.box[2] <= 400 and tag.box[3] <= 300


def test_a_name_stands_above_its_box_if_nothing_is_there() -> None:
    (tag,) = tags([("cup", (100, 100, 150, 150))], 4.0, SEEN)
    assert (tag.x, tag.box[3]) == (100, 100)
    first, second = tags([("cup", (100, 100, 150, 150))] * 2, 4.0, SEEN)
    assert (first, meet(first.box, second.box)) == (tag, False)


def test_more_names_than_there_is_room_for_are_still_there() -> None:
    assert len(tags([("a long name", (10, 10, 20, 20))] * 50, 10.0, (0, 0, 100, 100))) == 50
