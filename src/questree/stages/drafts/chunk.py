"""The questions of some images: references drawn, images found around them, drafts made, answered, and put in pairs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, repeat

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.covr.forms import ImageTemplate, things
from questree.benchmarks.covr.references import size
from questree.benchmarks.covr.templates import BY_NAME
from questree.columns.draws import Draws
from questree.columns.joins import listed
from questree.domains.images.english import reads_well
from questree.domains.images.graph import Graph
from questree.search.drawn import sampled
from questree.search.other_instances import OtherInstances, OtherScorer
from questree.search.related import Related
from questree.search.verification import Scorer
from questree.search.word_tables import WordTables
from questree.stages.drafts.answering import Answer, Answerer, SureAnswerer
from questree.stages.drafts.builders import Reasons, drafts
from questree.stages.drafts.number_questions import whether
from questree.stages.drafts.part_facts import PartFacts
from questree.stages.drafts.sources import Draft, DraftSource, Finds, Images, Near, annotated_seconds
from questree.tables.image_questions import MADE
from questree.tables.questions import PROGRAM

LIMIT, POSITIVES = 6, 8  # images of a kind, and images that contain a reference, that are drawn at most
TIMES = range(2, 5)  # how often an image contains a reference that is asked for by image
SAME_NUMBER = "whose two sets of images do not have two numbers"
SAME, ALONE = "same answer as its twin", "no twin with another answer"
ROW = {name: dtype for name, dtype in MADE.columns.items() if name not in ("split", "images", *PROGRAM)}
COLUMNS = ROW | {"program": pl.String, "images": MADE.columns["images"]}


@dataclass
class DraftedChunk:
    questions: pl.DataFrame  # COLUMNS; pairs are numbered from 0
    pairs: int
    dropped: Reasons
    unmade: Reasons  # references that a template had no use for


@dataclass
class Workshop:
    """All that is needed to make questions about the images of one part."""

    facts: PartFacts
    words: WordTables
    verify: Scorer | None = None
    templates: Iterable[ImageTemplate] = BY_NAME.values()  # in the order they are asked
    others: OtherScorer | None = None
    near: bool = True  # do distracting images nearly contain the reference? if not, they are any

    def __post_init__(self) -> None:
        facts, same = self.facts, self.facts.same
        self.words = same.tables(self.words) if same else self.words
        others = None if self.others is None else OtherInstances(facts.boxes, facts.index, self.others)
        self.related = Related(facts.index, self.words, self.verify, others)
        merged = None if facts.merged is None else Answerer(facts.merged, same)
        self.answerer = SureAnswerer(Answerer(facts.corpus), merged)
        self.ids = facts.corpus.image_ids

    def questions(self, rows: Sequence[int], per_image: int, seed: int) -> DraftedChunk:
        """Of these images (rows of the part), from at most so many references of each."""
        dropped, unmade = Reasons(), Reasons()
        sources = self.sources(rows, per_image, seed)
        made = [draft for source in sources for draft in drafts(source, self.templates, unmade)]
        answers = self.answerer.answer(made)
        asked = {at: draft for at, draft in enumerate(map(self.whether, made, answers)) if draft}
        verified = dict(zip(asked, self.answerer.answer(list(asked.values())), strict=True))
        ready = AnsweredDrafts(self.ids, dropped)
        for at, draft in enumerate(made):
            if at in asked:
                ready.add(asked[at], verified[at])
            elif not draft.verified_by:
                ready.add(draft, answers[at])
            else:
                unmade[draft.verified_by.name, SAME_NUMBER] += 1
        return DraftedChunk(ready.table(self.facts.rows), ready.pairs, dropped, unmade)

    def sources(self, rows: Sequence[int], per_image: int, seed: int) -> Iterator[DraftSource]:
        places: dict[tuple[Graph, int], int] = {}  # reference and how often an image must contain it -> place
        drawn: list[tuple[int, Graph, int, int]] = []
        for image, _, graph, times in sampled(self.facts.index, self.words, rows, per_image, seed):
            if not reads_well(graph):
                continue
            for wanted in (1, times) if times in TIMES else (1,):
                drawn.append((image, graph, wanted, places.setdefault((graph, wanted), len(places))))
        drawn = [own for own, told in zip(drawn, self.annotated(drawn), strict=True) if told]
        graphs, wanted_times = [graph for graph, _ in places], [times for _, times in places]
        finds = Finds(self.related.find(graphs, wanted_times, LIMIT, seed, instances=True, positives=POSITIVES))
        near = [Near(finds, finds.found.of(place)) for place in range(len(places))]
        any_of = 0 if self.near else len(self.ids)
        found = (
            DraftSource(image, graph, near[place], self.words, (seed, self.ids[image], times, text), times, any_of)
            for image, graph, times, place in drawn
            for text in [things(graph).text]
        )
        others = self.related.others
        yield from found if others is None else annotated_seconds(list(found), others)

    def annotated(self, drawn: Sequence[tuple[int, Graph, int, int]]) -> Iterable[bool]:
        """[source] does its image seem to have no further instance of the reference?"""
        others = self.related.others
        if others is None:
            return repeat(True, len(drawn))
        return map(bool, others.annotated([(image, graph) for image, graph, _, _ in drawn]))

    def whether(self, draft: Draft, answers: Sequence[Answer]) -> Draft | None:
        """Where the numbers of both sets are known and differ: is it so much?"""
        if not draft.verified_by or len({answer.value for answer in answers if not answer.reason}) != 2:
            return None
        numbers = [int(answer.value) for answer in answers]
        return whether(draft, numbers, Draws(draft.text, *(named(images, self.ids) for images in draft.sets)))


def named(images: Images, ids: list[str]) -> str:
    return " ".join([ids[image] for image in images])


@dataclass
class AnsweredDrafts:
    """Answered questions as columns; twins of one draft are a pair."""

    ids: list[str]  # of images
    dropped: Reasons
    rows: list[tuple[object, ...]] = field(default_factory=list)  # all columns but images
    images: list[Images] = field(default_factory=list)
    pairs: int = 0

    def add(self, draft: Draft, answers: Sequence[Answer]) -> None:
        good: dict[str, Images] = {}
        for answer, images in zip(answers, draft.sets, strict=True):
            reason = answer.reason or (SAME if answer.value in good else "")
            if reason:
                self.dropped[draft.template.name, reason] += 1
            else:
                good[answer.value] = images
        template = draft.template
        without_positive = template.positives[0] == 0 and answers[0].reason  # only the first set is sure to have one
        if good and (without_positive or (template.twin and len(good) == 1)):
            self.dropped[draft.template.name, ALONE] += len(good)
            return
        sizes = size(draft.graphs).values() if good else ()
        for value, images in good.items():
            id = identity(draft, value, named(sorted(images), self.ids))
            row = (id, template.name, draft.text, value, *sizes, self.pairs, draft.program.text)
            self.rows.append(row)
            self.images.append(images)
        self.pairs += bool(good)

    def table(self, rows: NDArray[np.int64]) -> pl.DataFrame:
        table = pl.DataFrame(self.rows, schema=ROW | {"program": pl.String}, orient="row")
        return table.with_columns(images=lists(self.images, rows))


def identity(draft: Draft, answer: str, images: str) -> str:
    """The same for the same question, answer and set of images, and for nothing else."""
    digest = blake2b("\0".join((draft.text, answer, images)).encode(), digest_size=8).hexdigest()
    return f"{draft.template.name.lower()}-{digest}"


def lists(sets: Sequence[Images], rows: NDArray[np.int64]) -> pl.Series:
    """Sets of images, by their rows among all images, as a column."""
    flat = rows[list(chain.from_iterable(sets))].astype(np.uint32)
    return listed(flat, np.cumsum([0, *map(len, sets)]))
