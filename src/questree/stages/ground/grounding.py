"""Grounding of a run: what each question is about and what it is not, shard by shard."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

import numpy as np
import polars as pl

from questree.benchmarks import chosen
from questree.columns.hashing import mix, seed_of
from questree.columns.joins import Ints, listed, starts
from questree.domains.images.corpus import corpus, padded
from questree.domains.video import Videos
from questree.faults import BadInput
from questree.notation.own_shapes import program_shapes
from questree.progress import watch
from questree.readings.answer import spell
from questree.stages.balance.rounds import between, selection
from questree.stages.ground.boxes import Boxes, image_boxes, video_boxes
from questree.stages.ground.evidence import About, about, unpacked, visited
from questree.stages.questions import Bank, Shard
from questree.stages.split.image_sets import selected
from questree.tables.facts import Facts
from questree.tables.images import Images
from questree.tables.run import Run
from questree.tables.scored import GROUNDED, RELEVANCE
from questree.tables.table import Table

LIST = pl.List(pl.UInt32)
GROUNDS = Table(
    "questions",
    {
        "id": pl.String,
        "place": pl.List(pl.String),  # the video, or the images
        "answer": pl.String,
        "structural": pl.String,  # of a video; the template of a question about images
        "relevant": LIST,  # boxes
        "irrelevant": LIST,
        "relevant_frames": LIST,  # numbers of frames; empty for images
        "irrelevant_frames": LIST,
        "left_out": pl.String,  # why there is nothing to compare, empty if there is
    },
)
SIDES = ("train", "test")
CHUNK = 20_000  # questions at a time


@dataclass(frozen=True)
class GroundOptions:
    split: str = "test"  # train, dev (images), test, or all
    all: bool = False  # not only the balanced selection
    sample: int = 0  # so many questions, drawn by seed; 0: all of them
    seed: int = 0
    benchmark: str = ""  # of a run with several


def ground(
    run: Run, options: GroundOptions, attribute_groups: Mapping[str, str]
) -> Iterator[tuple[pl.DataFrame, Boxes]]:
    """Tables of GROUNDS with the boxes they speak of, in the order of the run's questions."""
    own = chosen(run, options.benchmark, "questions")
    if not own.has(run, "questions"):
        raise BadInput.at(run.folder, "no questions here: expected questions/ (about videos) or covr/ (about images)")
    found: Iterator[tuple[pl.DataFrame, Boxes]] = own.part("grounds")(run, options, attribute_groups)
    return found


def about_videos(run: Run, options: GroundOptions) -> bool:
    return chosen(run, options.benchmark, "questions").domain == "video"


def wanted(split: pl.Series, options: GroundOptions, there: tuple[str, ...]) -> pl.Series:
    """[row] is it of the split that is asked for?"""
    if options.split not in (*there, "all"):
        raise BadInput.at("--split", f"expected {', '.join(there)} or all, got {options.split!r}")
    return split == options.split if options.split != "all" else split.is_not_null()


def of_videos(
    run: Run, options: GroundOptions, _: Mapping[str, str] | None = None
) -> Iterator[tuple[pl.DataFrame, Boxes]]:
    bank, facts = Bank(run), run.load("facts")
    if not facts.told:
        raise BadInput.at(run.facts, "no facts to ground on: the questions were imported without --facts")
    known = facts.videos["split"]
    inside = wanted(
        pl.select(pl.when(known == "train").then(known).otherwise(pl.lit("test"))).to_series(), options, SIDES
    )
    chosen = None if options.all else selection(run)
    draw = GroundedDraw(options, bank.ids)
    if options.sample:
        for folder in bank.folders():
            draw.see(asked(bank.shard(folder), inside, chosen))
    boxed = np.append(0, np.cumsum(box_counts(facts)))
    for folder in watch(bank.folders(), "grounding", len(bank.folders())):
        shard = bank.shard(folder)
        questions = draw.drawn(asked(shard, inside, chosen))
        if questions.is_empty():
            continue
        first = shard.first
        own = facts.between(first, first + shard.named.videos)
        boxes, key = video_boxes(own, bank.vocabulary, int(boxed[first]))
        world = bank.edition.read(own, bank.vocabulary)
        for begin in range(0, len(questions), CHUNK):
            few = questions[begin : begin + CHUNK]
            found = about(world, shard.where(few), key)
            yield video_rows(shard.where(few), found, boxes, world), boxes


def asked(shard: Shard, inside: pl.Series, chosen: pl.DataFrame | None) -> pl.DataFrame:
    """The questions of a shard that are wanted."""
    questions = shard.questions.filter(inside.gather(shard.questions["video"]))
    if chosen is not None:
        own = between(chosen, questions)
        questions = questions.join(own, on=["video", "number"], how="semi", maintain_order="left")
    return questions.sort("video", "number")


@dataclass
class GroundedDraw:
    """Questions by keyed hash: those with the smallest, so many as are wanted."""

    options: GroundOptions
    ids: list[str]
    hashes: list[Ints] = field(default_factory=list)

    def hashed(self, questions: pl.DataFrame) -> Ints:
        seeds = {at: seed_of(self.options.seed, self.ids[at]) for at in questions["video"].unique().to_list()}
        own = np.array([seeds[at] for at in questions["video"].to_list()], np.uint64)
        return mix(own, questions["number"].to_numpy())

    def see(self, questions: pl.DataFrame) -> None:
        self.hashes.append(self.hashed(questions))

    def drawn(self, questions: pl.DataFrame) -> pl.DataFrame:
        if not self.options.sample or questions.is_empty():
            return questions
        return questions.filter(pl.Series(self.hashed(questions) <= self.limit))

    @cached_property
    def limit(self) -> np.uint64:
        every = np.concatenate([np.zeros(0, np.uint64), *self.hashes])
        at = min(self.options.sample, len(every)) - 1
        return np.uint64(np.partition(every, at)[at]) if at >= 0 else np.uint64(0)


def box_counts(facts: Facts) -> Ints:
    """[video] how many boxes there are."""
    tables = (facts.persons, facts.objects)
    spots = [table.filter(pl.col("x1").is_not_null())["video"].to_numpy() for table in tables]
    return sum(
        (np.bincount(spot, minlength=len(facts.videos)) for spot in spots), np.zeros(len(facts.videos), np.int64)
    )


def video_rows(asked: Shard, found: About, boxes: Boxes, world: Videos) -> pl.DataFrame:
    place, templates = asked.video, asked.edition.by_code
    ids = pl.Series(world.ids, dtype=pl.String).gather(place)
    shown = unpacked(found.frames).astype(bool)  # [question, frame]
    there = np.arange(shown.shape[1]) < world.length[place][:, None]
    numbers = np.append(world.number, 0)
    frames = {
        f"{name}_frames": listed(numbers[world.frame_start[place[row]] + frame], starts(row, len(place)))
        for name, (row, frame) in {
            "relevant": np.nonzero(shown & there),
            "irrelevant": np.nonzero(~shown & there),
        }.items()
    }
    named = {
        "id": asked.named_ids,
        "place": ids.to_frame("id").select(pl.concat_list("id")).to_series(),
        "answer": answers(asked),
        "structural": pl.Series([t.categories.structural for t in templates]).gather(asked.questions["template"]),
    }
    return rows(named | frames, found.question, found.box, boxes, [place])


def answers(asked: Shard) -> pl.Series:
    """[question] as it is printed; template and answer are small numbers, so each pair is spelled once."""
    pairs, templates = asked.questions.select("template", "answer").unique(), asked.edition.by_code
    said = [spell(templates[code].node.kind, answer, asked.vocabulary) or "" for code, answer in pairs.rows()]
    known = pairs.with_columns(said=pl.Series(said, dtype=pl.String))
    return asked.questions.join(known, on=["template", "answer"], how="left", maintain_order="left")["said"]


def of_images(
    run: Run, options: GroundOptions, attribute_groups: Mapping[str, str]
) -> Iterator[tuple[pl.DataFrame, Boxes]]:
    images, questions = Images.load(run.images), selected(run, options.all)
    questions = questions.filter(wanted(questions["split"], options, ("train", "dev", "test")))
    if options.sample:
        hashed = pl.Series(np.array([seed_of(options.seed, id) for id in questions["id"].to_list()], np.uint64))
        questions = questions.filter(hashed.rank("ordinal") <= options.sample)
    known, (boxes, box_of) = corpus(images, attribute_groups), image_boxes(images)
    ids = images.images["id"].to_list()
    for begin in range(0, len(questions), CHUNK):
        few = questions[begin : begin + CHUNK]
        place = padded(few["images"].to_list())
        question, thing = visited(program_shapes(few), place, known)
        box, nothing = box_of[thing], pl.Series([[]], dtype=LIST).new_from_index(0, len(few))
        named = {
            "id": few["id"],
            "place": [[ids[at] for at in own] for own in few["images"].to_list()],
            "answer": few["answer"],
            "structural": few["template"],
            "relevant_frames": nothing,
            "irrelevant_frames": nothing,
        }
        yield rows(named, question[box >= 0], box[box >= 0], boxes, list(np.where(place < 0, -1, place).T)), boxes


def rows(named: Mapping[str, object], question: Ints, box: Ints, boxes: Boxes, place: list[Ints]) -> pl.DataFrame:
    """GROUNDS from the relevant boxes (rows of `boxes`) of questions and their places."""
    count, number = len(place[0]), boxes.table["box"].to_numpy()
    (question, box), (other, rest) = boxes.parted(question, box, place)
    some = [np.bincount(own, minlength=count) > 0 for own in (question, other)]
    left = np.where(some[0], np.where(some[1], "", "nothing irrelevant"), "nothing relevant")
    lists = {
        "relevant": listed(number[box], starts(question, count)),
        "irrelevant": listed(number[rest], starts(other, count)),
    }
    return GROUNDS.frame(pl.DataFrame({**named, **lists, "left_out": left}))


def relevant(
    run: Run, options: GroundOptions, attribute_groups: Mapping[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The questions, and boxes as positions among those of their video or images; the first image is theirs."""
    asked, found = [GROUNDED.empty()], [RELEVANCE.empty()]
    for table, boxes in ground(run, options, attribute_groups):
        asked.append(table.select("id", pl.col("place").list.first().alias("image"), "answer", "structural"))
        sizes = boxes.table.group_by("place", maintain_order=True).agg(first=pl.col("box").min(), size=pl.len())
        known = {place: (first, size) for place, first, size in sizes.rows()}
        rows = []
        for places, own, other, left in table.select("place", "relevant", "irrelevant", "left_out").iter_rows():
            at = positions([known.get(place, (0, 0)) for place in places])
            rows.append(([at[box] for box in own], [at[box] for box in other], len(at), left))
        found.append(pl.DataFrame(rows, schema=dict(RELEVANCE.columns), orient="row"))
    return pl.concat(asked), pl.concat(found)


def positions(places: list[tuple[int, int]]) -> dict[int, int]:
    """box -> its position; places: (number of the first box, how many), one after the other."""
    before = accumulate((size for _, size in places), initial=0)
    return {
        first + step: shift + step for (first, size), shift in zip(places, before, strict=False) for step in range(size)
    }
