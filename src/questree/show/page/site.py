"""Everything the pages are made from, read once when serving begins."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from questree.faults import BadInput
from questree.show.opened import Opened, taken_apart
from questree.show.page.compare import Comparing
from questree.show.page.filters import Filters
from questree.show.page.image_questions import ImageQuestions
from questree.show.page.questions import Questions
from questree.stages.decompose.texts import Texts
from questree.stages.decompose.words import AnswerWords
from questree.stages.questions import Question
from questree.tables.facts import Facts
from questree.tables.run import Run

READ = 8  # shards kept open


@dataclass
class Site:
    """A run, with questions about videos, about sets of images, or both."""

    run: Run
    questions: Questions | None
    images: ImageQuestions | None
    facts: Facts | None
    media: Path | None = None
    comparing: Comparing = field(init=False)

    def __post_init__(self) -> None:
        self.comparing = Comparing(self.run)
        self.shard = lru_cache(READ)(self._shard)

    @classmethod
    def read(cls, run: Run, media: Path | None = None) -> "Site":
        if not run.folder.is_dir():
            raise BadInput.at(run.folder, "no such run folder; make one with `questree ingest`")
        if media is not None and not media.is_dir():
            raise BadInput.at(media, "no such folder of frames; wanted DIR/<video>/<frame>.png or .jpg")
        images = ImageQuestions.read(run) if ImageQuestions.there(run) else None
        if not run.questions.is_dir() and images is None:
            run.vocabulary()
            raise BadInput.at(run.folder, "no questions to look at; `questree generate` or `questree covr` writes them")
        questions = Questions.read(run) if run.questions.is_dir() else None
        return cls(run, questions, images, run.load("facts") if questions else None, media)

    @property
    def asked(self) -> Questions:
        assert self.questions is not None, "pages about videos are only there with questions"
        return self.questions

    @cached_property
    def filters(self) -> Filters:
        return Filters(self.asked)

    @cached_property
    def texts(self) -> Texts:
        return Texts(self.asked.bank.vocabulary)

    @cached_property
    def words(self) -> AnswerWords:
        return AnswerWords(self.asked.bank.vocabulary)

    @property
    def models(self) -> list[str]:
        return list(self.questions.models) if self.questions else []

    def _shard(self, name: str) -> Opened:
        return Opened.read(self.run.decomposed / name)

    def dag(self, at: int, question: Question) -> tuple[Opened, dict[str, list[str | None]]]:
        """The DAG of the question in a row, and what every model says [node]."""
        asked = self.asked
        assert self.facts is not None
        if not asked.decomposed:
            return taken_apart(asked.bank, question, self.facts), {}
        shard, node = self.shard(asked.names[asked.shard_of(at)]), int(asked.columns["node"][at])
        said = {
            name: [word_of(asked, number) for number in [int(model.judgement.said[at]), *below]]
            for name, model in asked.models.items()
            for below in [model.said(shard)[0][shard.below(node)[1:]].tolist()]
        }
        return shard.only(node), said

    def video(self, at: int) -> Facts:
        """The facts of one video."""
        assert self.facts is not None
        return self.facts.between(at, at + 1)


def word_of(asked: Questions, number: int) -> str | None:
    return asked.words[number] if number >= 0 else None
