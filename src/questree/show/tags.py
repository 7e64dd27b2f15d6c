"""Where the names of boxes stand on a picture: near their boxes, and never on each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

Box = tuple[float, float, float, float]  # x1, y1, x2, y2 in pixels
TALL, LETTER = 5.0, 3.8  # of a tag and of its letters, in hundredths of the picture
ROOM = 100  # names that are kept apart; of crowds the others stand where they are first tried
WIDE = 0.64  # of a letter against its height, on average, in bold


@dataclass(frozen=True)
class Tag:
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
        first = next(places)
        if len(found) < ROOM:
            tried = chain([first], places)
            first = next(((x, y) for x, y in tried if _free((x, y, x + width, y + height), taken)), first)
        found.append(Tag(*first, width, height))
        taken.append(found[-1].box)
    return found


def _free(place: Box, taken: Sequence[Box]) -> bool:
    """Does it meet none of these? Asked hundreds of times for a picture, so without calls of `meet`."""
    x1, y1, x2, y2 = place
    return not any(x1 < right and left < x2 and y1 < bottom and top < y2 for left, top, right, bottom in taken)


def near(box: Box, width: float, height: float, seen: Box) -> Iterator[tuple[float, float]]:
    """Places for a name: above its box, inside, below, beside, then line by line farther away."""
    x1, y1, x2, y2 = box
    left, right = (min(max(x, seen[0]), seen[2] - width) for x in (x1, x2 - width))
    columns = dict.fromkeys((left, right))
    for y in (y1 - height, y1, y2 - height, y2):
        yield from ((x, min(max(y, seen[1]), seen[3] - height)) for x in columns)
    middle = (y1 + y2 - height) / 2
    for beside in (x2, x1 - width):
        if seen[0] <= beside <= seen[2] - width:
            yield beside, min(max(middle, seen[1]), seen[3] - height)
    lines = [seen[1] + height * at for at in range(int((seen[3] - seen[1]) / height))]
    for y in sorted(lines, key=lambda y: abs(y - y1)):
        across = int((seen[2] - seen[0]) / width)
        yield from ((x, y) for x in (*columns, *(seen[0] + width * at for at in range(across))))


def meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
