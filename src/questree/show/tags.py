"""Where the names of boxes stand on a picture: near their boxes, and never on each other."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

Box = tuple[float, float, float, float]  # x1, y1, x2, y2 in pixels
TALL, LETTER = 5.0, 3.8  # of a tag and of its letters, in hundredths of the picture
ROOM = 100  # names that are kept apart; of crowds the others stand where they are first tried
WIDE = 0.64  # of a letter against its height, on average, in bold


class Tag(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    @property
    def box(self) -> Box:
        return self.x, self.y, self.x + self.width, self.y + self.height


def tags(boxes: Sequence[tuple[str, Box]], unit: float, seen: Box) -> list[Tag]:
    """[box] the place of its name inside what is seen; who comes first chooses first."""
    found, taken = list[Tag](), list[Box]()
    for label, box in boxes:
        width, height = min(len(label) * LETTER * unit * WIDE + unit, seen[2] - seen[0]), TALL * unit
        places = near(box, width, height, seen)
        place = next(places)
        if len(found) < ROOM and not _free(place, width, height, taken):
            place = next((other for other in places if _free(other, width, height, taken)), place)
        found.append(Tag(*place, width, height))
        taken.append(found[-1].box)
    return found


def _free(place: tuple[float, float], width: float, height: float, taken: Sequence[Box]) -> bool:
    """Does a name there meet none of these? Asked hundreds of times for a picture, so without calls of `meet`."""
    x1, y1 = place
    x2, y2 = x1 + width, y1 + height
    for left, top, right, bottom in taken:  # noqa: SIM110  # any() takes twice as long
        if x1 < right and left < x2 and y1 < bottom and top < y2:
            return False
    return True


def near(box: Box, width: float, height: float, seen: Box) -> Iterator[tuple[float, float]]:
    """Places for a name: above its box, inside, below, beside, then line by line farther away."""
    x1, y1, x2, y2 = box
    (least, top), (most, bottom) = seen[:2], (seen[2] - width, seen[3] - height)
    left, right = min(max(x1, least), most), min(max(x2 - width, least), most)
    columns = (left, right) if left != right else (left,)
    for y in (y1 - height, y1, y2 - height, y2):
        inside = min(max(y, top), bottom)
        for x in columns:
            yield x, inside
    middle = min(max((y1 + y2 - height) / 2, top), bottom)
    for beside in (x2, x1 - width):
        if least <= beside <= most:
            yield beside, middle
    lines = [top + height * at for at in range(int((seen[3] - top) / height))]
    across = [least + width * at for at in range(int((seen[2] - least) / width))]
    for y in sorted(lines, key=lambda y: abs(y - y1)):
        yield from ((x, y) for x in (*columns, *across))


def meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
