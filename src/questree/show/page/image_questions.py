"""Questions about sets of images: found by filters, and their images side by side with what each part picks out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.domains.images import IMAGES, Corpus, ImageSets, corpus, evaluate
from questree.domains.images.kinds import THINGS
from questree.domains.images.sets import padded
from questree.faults import BadInput, Fault
from questree.notation.own import parse, show
from questree.program import Node, ProgramError, walk
from questree.show.page.filters import Choice, Found
from questree.show.page.frames import Boxed, picture, size_of
from questree.stages.split.grammar import Wrong, check
from questree.tables.image_questions import ANSWERED
from questree.tables.images import Images
from questree.tables.run import Run

EVERYTHING = ("scene", "anything")  # picks out all there is
CHOSEN = ("template", "split", "answer")


@dataclass(frozen=True)
class Part:
    """A piece of a question's program and the things it stands for."""

    program: str
    outer: bool  # is it what the question is about, or only a step on the way?
    things: frozenset[int]  # rows in `things`


@dataclass(frozen=True)
class Picture:
    """One image of a set; things carry the numbers of the parts that pick them out."""

    id: str
    size: tuple[int, int]
    boxes: list[Boxed]
    unboxed: list[str]
    meant: bool  # is anything here that the question is about?

    @property
    def svg(self) -> str:
        return picture(self.size, self.boxes, f"image {self.id}")


@dataclass(frozen=True)
class ImageQuestions:
    run: Run
    table: pl.DataFrame
    images: Images

    @staticmethod
    def there(run: Run) -> bool:
        return (run.covr / f"{ANSWERED.name}.parquet").is_file()

    @classmethod
    def read(cls, run: Run) -> "ImageQuestions":
        table, images = ANSWERED.read(run.covr), Images.load(run.images)
        last = table["images"].explode().max()
        if isinstance(last, int) and last >= len(images.images):
            wanted = f"a question asks about image {last}, there are {len(images.images)}"
            raise BadInput.at(run.covr, f"made from other images: {wanted}")
        return cls(run, table, images)

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def row_at(self) -> dict[str, int]:
        return {id: row for row, id in enumerate(self.table["id"])}

    @cached_property
    def choices(self) -> dict[str, list[Choice]]:
        counted = {name: self.table[name].value_counts(sort=True, name="n") for name in CHOSEN}
        return {name: [Choice(*row) for row in counts.iter_rows()] for name, counts in counted.items()}

    def find(self, wanted: Mapping[str, str]) -> Found:
        mask, faults = np.ones(len(self), bool), []
        for name, value in wanted.items():
            try:
                check("filter", (name,), [*CHOSEN, "query"])
                if name == "query":
                    words = self.table["question"].str.to_lowercase().str.contains(value.lower(), literal=True)
                    mask &= words.to_numpy()
                else:
                    check(name, (value,), [choice.value for choice in self.choices[name]])
                    mask &= (self.table[name] == value).to_numpy()
            except Wrong as wrong:
                faults.append(Fault(name, str(wrong)))
        return Found(np.flatnonzero(mask) if not faults else np.zeros(0, np.int64), faults)

    @cached_property
    def corpus(self) -> Corpus:
        return corpus(self.images, {})  # which things are meant does not depend on groups of attributes

    def parts(self, row: dict[str, Any]) -> list[Part]:
        """What the parts of a program stand for, those the question is about first; none if it cannot be read."""
        try:
            program = parse(row["program"], IMAGES)
        except ProgramError:
            return []
        inner = {arg for node in walk(program) if isinstance(node, Node) and node.kind == THINGS for arg in node.args}
        nodes = dict.fromkeys(
            node
            for node in walk(program)
            if isinstance(node, Node) and node.kind == THINGS and node.op.name not in EVERYTHING
        )
        world = ImageSets(self.corpus, padded([list(dict.fromkeys(row["images"]))]))
        outcome = evaluate(list(nodes), world)
        found = [Part(show(node), node not in inner, members(world, outcome.values[node])) for node in nodes]
        return sorted(found, key=lambda part: not part.outer)

    def pictures(self, row: dict[str, Any], parts: Sequence[Part]) -> list[Picture]:
        return [self._picture(image, parts) for image in row["images"]]

    def _picture(self, image: int, parts: Sequence[Part]) -> Picture:
        id, width, height = self.images.images.select("id", "width", "height").row(image)
        boxes, unboxed, meant = [], [], False
        for row in self.things.filter(pl.col("image") == image).iter_rows(named=True):
            label = " ".join([*(row["attributes"] or [])[:2], row["name"]])
            own = tuple(at for at, part in enumerate(parts) if row["row"] in part.things)
            meant |= any(parts[at].outer for at in own)
            if row["x1"] is None:
                unboxed.append(label)
            else:
                box = (row["x1"], row["y1"], row["x2"], row["y2"])
                kind = "mentioned" if any(parts[at].outer for at in own) else "step" if own else "other"
                boxes.append(Boxed(label, kind, box, own))
        return Picture(id, size_of(width, height, boxes), boxes, unboxed, meant)

    @cached_property
    def things(self) -> pl.DataFrame:
        """With names and attributes as words; `row` is the row in `things`."""
        words = self.images.words["word"]
        named = self.images.attributes.select("thing", attributes=words.gather(self.images.attributes["attribute"]))
        named = named.group_by("thing", maintain_order=True).agg("attributes")
        things = self.images.things.with_row_index("row").with_columns(name=words.gather(self.images.things["name"]))
        return things.join(named, left_on="row", right_on="thing", how="left", maintain_order="left")


def members(world: ImageSets, value: NDArray[Any]) -> frozenset[int]:
    """Rows of the things in the first row's set."""
    first = world.facts.first_thing
    return frozenset(
        int(first[page]) + bit
        for page, bits in zip(world.page[0].tolist(), value[0].tolist(), strict=True)
        for bit in range(int(bits).bit_length())
        if int(bits) >> bit & 1
    )
