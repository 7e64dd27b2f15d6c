"""Questions with what they are about, seen three ways: all of it, only that, all but that; the inputs of FPVG."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from questree.ask.engine import Chain
from questree.ask.media import Hiding
from questree.ask.requests import Item
from questree.faults import BadInput
from questree.scoring.answer_kinds import kinds
from questree.scoring.grounded import attribute_groups
from questree.stages.ground.boxes import Boxes
from questree.stages.ground.grounding import GroundOptions, ground

if TYPE_CHECKING:
    from questree.api.runs import Run

VIEWS = {"all": "all", "relevant": "rel", "irrelevant": "irrel"}  # view -> name of its file
OPPOSITE = {"relevant": "irrelevant", "irrelevant": "relevant"}


class Grounded(NamedTuple):
    """A question with what it is about."""

    id: str
    scope: Any
    question: str
    kind: str
    frames: Mapping[str, frozenset[int]]  # view -> numbers of frames
    hiding: Mapping[str, Hiding]  # view -> what is painted grey
    left_out: str  # why there is nothing to compare


@dataclass(frozen=True)
class AskedViews:
    """Rows to ask: every question once per view."""

    questions: list[Grounded]
    answers: list[str]  # that questions have
    views: tuple[str, ...]
    boxes: bool  # are boxes hidden, or frames left out?

    @cached_property
    def rows(self) -> list[tuple[str, Grounded]]:
        return [(view, each) for each in self.questions for view in self.views if view == "all" or self.differs(each)]

    def differs(self, each: Grounded) -> bool:
        return not each.left_out and (self.boxes or all(each.frames.values()))

    def chains(self, mode: str = "alone") -> Iterator[Chain]:
        for row, (view, each) in enumerate(self.rows):
            some = None if view == "all" or self.boxes else each.frames[view]
            grey = each.hiding[view] if view != "all" and self.boxes else None
            yield ((Item(row, each.id, each.question, each.scope, each.kind, some, grey),),)

    @property
    def table(self) -> pl.DataFrame:
        columns = ("view", "id", "scope", "question", "kind")
        rows = [(view, each.id, each.scope, each.question, each.kind) for view, each in self.rows]
        return pl.DataFrame(rows, schema=columns, orient="row")

    def scopes(self) -> list[Any]:
        return [each.scope for each in self.questions]


def asked_views(run: "Run", view: str, hide: str | None, split: str | None, sample: int, seed: int) -> AskedViews:
    """As `questree ground` has them; split test, if nobody says."""
    video = run.medium == "video"
    if hide == "frames" and not video:
        raise BadInput.at("--hide", "expected boxes: sets of images have no frames")
    options = GroundOptions(split or "test", sample=sample, seed=seed, benchmark=run.benchmark)
    side = None if options.split == "all" else options.split
    asked = run.questions(split=side, columns=["id", "question", "template", "answer"])
    kind = kinds(asked["template"], asked["answer"], run.vocabulary)
    texts = dict(zip(asked["id"], zip(asked["question"], kind, strict=True), strict=True))
    boxes = hide == "boxes" or not video
    found, answers = list[Grounded](), list[str]()
    for table, known in ground(run._place, options, attribute_groups(run._place, options, None)):
        found += _grounded(table, known, texts, video, boxes)
        answers += table["answer"].unique(maintain_order=True).to_list()
    return AskedViews(found, list(dict.fromkeys(answers)), tuple(VIEWS) if view == "fpvg" else (view,), boxes)


def _grounded(
    table: pl.DataFrame, boxes: Boxes, texts: Mapping[str, tuple[str, str]], video: bool, hide: bool
) -> Iterator[Grounded]:
    places = boxes.table.partition_by("place", as_dict=True) if hide else {}
    for row in table.iter_rows(named=True):
        frames = {view: frozenset(row[f"{view}_frames"]) for view in OPPOSITE}
        own = [places[(place,)].rows(named=True) if (place,) in places else [] for place in row["place"]]
        hiding = {view: _hiding(view, frozenset(row[view]), own, video) for view in OPPOSITE} if hide else {}
        scope = row["place"][0] if video else row["place"]
        yield Grounded(row["id"], scope, *texts[row["id"]], frames, hiding, row["left_out"])


def _hiding(view: str, listed: frozenset[int], places: list[list[dict[str, Any]]], video: bool) -> Hiding:
    """All boxes but those of the view; what is relevant is seen even where another box lies on it."""
    hidden, kept = dict[int, list[Any]](), dict[int, list[Any]]()
    for number, boxes in enumerate(places, 1):
        for box in boxes:
            at = box["frame"] if video else number
            corners = (box["x1"], box["y1"], box["x2"], box["y2"])
            if box["box"] not in listed:
                hidden.setdefault(at, []).append(corners)
            elif view == "relevant":
                kept.setdefault(at, []).append(corners)
    return Hiding(*({at: tuple(own) for at, own in each.items()} for each in (hidden, kept)))
