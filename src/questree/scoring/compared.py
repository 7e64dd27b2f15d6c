"""How predictions are scored: the choices behind numbers, who reads what models said, and what models are called."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import Benchmark
from questree.faults import BadInput, Fault, refuse
from questree.metrics.answered import Missing, needed
from questree.metrics.comparison import FEWEST
from questree.metrics.errors import Choices
from questree.metrics.scores import Coverage, Resampling, Score, Scored, coverage
from questree.models.policies import KIND, POLICIES, Policy, QuestionTexts, ReadPredictions, understood
from questree.models.predictions import FieldNames, Predictions, model_name, read_predictions
from questree.said.lexicon import SynonymsFile, read_synonyms, shipped
from questree.said.reading import Reader
from questree.scoring.answer_kinds import kinds_of_nodes
from questree.tables.hierarchies import Hierarchies
from questree.tables.predictions import models, outdated
from questree.tables.run import Run
from questree.vocabulary.load import default, load
from questree.vocabulary.words import NONE, Vocabulary

if TYPE_CHECKING:
    from questree.stages.decompose.hierarchies import RunHierarchies

Tell = Callable[[str], None]  # who hears about coverage and policies
OneModel = tuple[str, Scored, list[Score]]  # a model under a policy, its scores, rows about coverage
Given = Path | Predictions  # a file of predictions, or what somebody has in memory
MANY = 0.05  # share of predictions without an answer that everybody should hear of
LABELS = {"text": "text-only", "model": "split model", "iid-size": "iid-size", "iid": "iid"}  # of a plan's models


@dataclass(frozen=True)
class Resampled:
    """The choices behind numbers and intervals."""

    least: ClassVar[int] = 0  # resamples
    missing: Missing = "error"
    """Treatment of questions without a prediction."""
    resamples: int = 1000
    """Number of bootstrap resamples behind low and high; 0 for none."""
    seed: int = 0
    """Seed of the resampling."""

    def __post_init__(self) -> None:
        wrong = f"expected at least {self.least}, got {self.resamples}"
        refuse([Fault("--resamples", wrong)] if self.resamples < self.least else [])

    @property
    def resampling(self) -> Resampling | None:
        return Resampling(self.resamples, self.seed) if self.resamples else None


@dataclass(frozen=True)
class Scoring(Resampled):
    """The same, and how free-form answers are read."""

    policy: Literal["exact", "vqa", "lenient", "all"] = "exact"
    """Way to read free-form answers; released numbers are `exact`."""
    vocabulary: Path | None = None
    """Vocabulary file with synonyms for `lenient`. [default: ours]"""
    synonyms: Path | None = None
    """TOML file of further ways to say answers, for `lenient`."""
    id_column: str = ""
    """Column or field of the question's id in files of predictions. [default: id, csv_q_id, questionId, ...]"""
    answer_column: str = ""
    """Column or field of what was said. [default: prediction]"""

    @property
    def policies(self) -> tuple[Policy, ...]:
        return POLICIES if self.policy == "all" else (self.policy,)


@dataclass(frozen=True)
class OnePolicy(Scoring):
    policy: Policy = "exact"
    """Way to read free-form answers; released numbers are `exact`."""


@dataclass(frozen=True)
class ComparingOptions(OnePolicy):
    least: ClassVar[int] = 1
    resamples: int = 1000
    """Number of bootstrap resamples."""
    fewest: int = FEWEST
    """Fewest items on either side of a difference that is tested."""


@dataclass(frozen=True)
class Planning(OnePolicy):
    resamples: int = 1000
    """Number of bootstrap resamples."""
    least: ClassVar[int] = 2  # how much a figure varies


def silent(_: str) -> None:
    pass


@dataclass(frozen=True)
class PredictionReader:
    """Reads predictions for questions with these ids and answers, under the policies asked for."""

    needed: pl.Series
    known: pl.Series
    answers: Sequence[str]
    how: Scoring = Scoring()
    say: Tell = silent
    texts: QuestionTexts | None = None
    samples: frozenset[str] = frozenset()  # models that need not have answered everything
    kinds: Callable[[Vocabulary], pl.DataFrame] | None = None  # id, kind of answer

    @classmethod
    def of(
        cls,
        asked: pl.DataFrame,
        how: Scoring,
        say: Tell,
        texts: QuestionTexts | None,
        kinds: Callable[[Vocabulary], pl.DataFrame] | None = None,
    ) -> "PredictionReader":
        """For a table of questions with their answers, all of them needed."""
        answers = asked["answer"].unique(maintain_order=True).to_list()
        return cls(asked["id"], asked["id"], answers, how, say, texts, kinds=kinds)

    def read(self, file: Path, model: str) -> list[tuple[str, pl.DataFrame, list[Score]]]:
        """(model, its answers, rows about coverage) per policy; coverage is said, and refused if it must be whole."""
        return self.readings(
            file, read_predictions(file, model, FieldNames(self.how.id_column, self.how.answer_column))
        )

    def readings(self, place: object, given: Predictions) -> list[tuple[str, pl.DataFrame, list[Score]]]:
        """The same of predictions that were read."""
        found = coverage(self.needed, self.known, given.table)
        repeated = f", {given.duplicates:,} repeated ids (the last counts)" if given.duplicates else ""
        self.tell(place, given.model, found, repeated)
        asked = given.table.filter(pl.col("id").is_in(self.known.implode()))  # others say nothing about the model
        readings = []
        for policy in self.how.policies:
            reading = self.understood(asked, policy)
            model, rows = self.about(given.model, policy, found, reading.unparsed, len(reading.table))
            readings.append((model, reading.table, rows))
        return readings

    def tell(self, place: object, model: str, found: Coverage, more: str) -> None:
        missing = "skip" if model in self.samples else self.how.missing
        self.say(f"{model}: predictions for {found}{more}; missing: {missing}")
        if missing == "error" and found.missing:
            raise BadInput.at(place, lacking(found))

    @cached_property
    def words(self) -> Vocabulary:
        return words_of(self.how)

    @cached_property
    def reader(self) -> Reader:
        synonyms = read_synonyms(self.how.synonyms) if self.how.synonyms else shipped()
        return _reader(tuple(self.answers), *map(msgspec.json.encode, (self.words, synonyms)))

    @cached_property
    def known_kinds(self) -> pl.DataFrame | None:
        return self.kinds(self.words) if self.kinds else None

    def kinds_at(self, _: Vocabulary) -> pl.DataFrame:
        """The same where rows of keys stand for ids, as in answers that a run keeps."""
        assert self.known_kinds is not None
        return self.known_kinds.select(pl.int_range(pl.len()).alias("id"), "kind")

    def understood(self, table: pl.DataFrame, policy: Policy) -> ReadPredictions:
        if policy != "lenient" or self.known_kinds is None:
            return understood(table, self.reader, policy, self.texts)
        kinds = self.known_kinds.rename({"kind": KIND}).unique("id", keep="first")  # several files may have an id
        asked = table.join(kinds, on="id", how="left", maintain_order="left")
        found = understood(asked.with_columns(pl.col(KIND).fill_null("")), self.reader, policy, self.texts)
        return replace(found, table=found.table.drop(KIND))

    def about(self, model: str, policy: Policy, found: Coverage, unparsed: int, count: int) -> tuple[str, list[Score]]:
        """The model's name under a policy, and rows about coverage and unparsed answers."""
        name = model if len(self.how.policies) == 1 else f"{model} ({policy})"
        self.say(f"{name}: policy {policy}, {unparsed:,} of {count:,} predictions are no answer of this data")
        share = unparsed / count if count else None
        if policy == self.how.policies[-1] and (told := much_unread(name, policy, share)):
            self.say(told)
        return name, [found.row(policy, name), Score("unparsed", "policy", policy, share, count, None, None, name)]


@lru_cache(maxsize=1)
def _reader(answers: tuple[str, ...], words: bytes, synonyms: bytes) -> Reader:
    """All shards of a process have one: what it has learnt about answers and questions serves the next one."""
    known, more = msgspec.json.decode(words, type=Vocabulary), msgspec.json.decode(synonyms, type=SynonymsFile)
    return Reader(answers, known, more)


def much_unread(model: str, policy: Policy, share: float | None) -> str:
    """What everybody should hear if much of what a model said is no answer."""
    if share is None or share <= MANY:
        return ""
    hint = "" if policy == "lenient" else "--policy=lenient reads free text, "
    lost = f"{share:.1%} of the predictions are no answer under --policy={policy}"
    return f"warning: {model}: {lost}; {hint}`questree predictions check` lists them"


def looked_up(read: Callable[[], pl.DataFrame] | None) -> QuestionTexts | None:
    """Texts of questions in a table of id and question, which is read when the first are asked for."""
    if read is None:
        return None
    table = lru_cache(1)(lambda: read().unique("id", keep="first", maintain_order=True))

    def texts(ids: pl.Series) -> pl.Series:
        return ids.to_frame("id").join(table(), on="id", how="left", maintain_order="left")["question"]

    return texts


def lacking(found: Coverage) -> str:
    strange = f" (predictions for no question here: {found.unknown:,})" if found.unknown else ""
    return (
        f"no prediction for {found.missing:,} of {found.needed:,} questions, for example "
        f"{', '.join(found.examples)}{strange}; give them, or choose --missing=wrong or --missing=skip"
    )


def one_source(hierarchies: Path | None, questions: Path | None, run: Path | None, split: str | None) -> None:
    """Refuses anything but one source of questions, and a split of files."""
    if sum(place is not None for place in (hierarchies, questions, run)) != 1:
        raise BadInput.at("", "expected one of a run, --hierarchies DIR (AGQA-Decomp) and --questions FILE (AGQA)")
    if run is None and split is not None:
        raise BadInput.at("--split", "expected a run, got files, which are of one split")


def run_reader(run: Run, split: str | None, benchmark: str, how: Scoring) -> "tuple[RunHierarchies, PredictionReader]":
    """The DAGs of a run, all in memory, and who reads predictions for them."""
    from questree.stages.decompose.hierarchies import hierarchies_in
    from questree.stages.decompose.question_texts import texts_by_id

    asked = hierarchies_in(run, split, benchmark)
    read = asked.hierarchies
    texts, kinds = partial(texts_by_id, asked), partial(kinds_of_nodes, read)
    return asked, dag_reader(read, answers_of(read), for_run(run, how), texts, kinds)


def dag_reader(
    read: Hierarchies,
    answers: Sequence[str],
    how: Scoring,
    texts: QuestionTexts | None,
    kinds: Callable[[Vocabulary], pl.DataFrame],
) -> PredictionReader:
    """For DAGs; `answers`: of all DAGs there are, of which these may be some."""
    scored, every = (read.keys.gather(needed(read, scored)) for scored in (True, False))
    return PredictionReader(scored, every, answers, how, texts=texts, kinds=kinds)


def words_of(how: Scoring) -> Vocabulary:
    """The vocabulary that was given, or AGQA's."""
    return load(how.vocabulary) if how.vocabulary else default()


def for_run(run: Run, how: Scoring) -> Scoring:
    """With the words of a run, unless others are given; image sets have none."""
    own = how.vocabulary is None and run.vocabulary_file.is_file()
    return replace(how, vocabulary=run.vocabulary_file) if own else how


def options_in(asked: "RunHierarchies") -> pl.DataFrame:
    """What choices between two actions offer in a run."""
    from questree.stages.decompose.choices import choices_of

    if not asked.run.vocabulary_file.is_file():
        raise BadInput.at("--errors", "expected DAGs of questions about videos, got image sets")
    return choices_of(asked)


def choices(options: pl.DataFrame, how: Scoring) -> Choices:
    """What choices between two actions offer, and what their words are about."""
    words = words_of(how)
    names = {word.name: word.name for word in words.objects}
    named = zip(words.actions, words.object_of.tolist(), strict=True)
    about = {action.phrase: words.objects[thing].name for action, thing in named if thing != NONE}
    return Choices(options, names | about)


def answers_of(read: Hierarchies) -> list[str]:
    """Words that are an answer, or an object asked about."""
    return [word for word, here in zip(read.words, used_words(read).tolist(), strict=True) if here]


def used_words(read: Hierarchies) -> NDArray[np.bool_]:
    """[word]"""
    used = np.zeros(len(read.words) + 1, bool)  # NOTHING is the last
    for column in (read.nodes["answer"], read.nodes["object"], read.isolated["answer"]):
        used[column.to_numpy()] = True
    return used[:-1]


def names(files: Iterable[Path]) -> list[str]:
    """A name per file: its stem, with its folder where two are the same."""
    paths = list(files)
    stems = [model_name(path) for path in paths]
    return [
        stem if stems.count(stem) == 1 else f"{path.parent.name or '.'}/{stem}"
        for path, stem in zip(paths, stems, strict=True)
    ]


def given_names(given: Sequence[Given]) -> list[str]:
    """The same, with the names that predictions in memory have."""
    of_files = iter(names(one for one in given if isinstance(one, Path)))
    return [next(of_files) if isinstance(one, Path) else one.model for one in given]


def stored_models(run: Run, own: Benchmark) -> list[str]:
    """Models that have answered the DAGs of a benchmark in a run."""
    return models(run, own.of_images)


def current_models(run: Run, there: Sequence[str], say: Tell) -> tuple[str, ...]:
    """All stored models but those whose nodes the run has no more, which are told; they stay if there are no others."""
    old = [name for name in there if outdated(run, name)]
    if len(old) == len(there):
        return tuple(there)  # who reads them says what to do
    for name in old:
        say(f"warning: {name}: left out, answers to other nodes than the run has now; run `questree answer` again")
    return tuple(name for name in there if name not in old)


def known_models(place: object, wanted: Iterable[str], there: Sequence[str]) -> tuple[str, ...]:
    """The models asked for, each once; those that are not there are refused."""
    named = tuple(dict.fromkeys(wanted))
    known = f"choose from {', '.join(there)}" if there else "there are none; `questree answer` stores them"
    strange = [name for name in named if name not in there]
    refuse([Fault(str(place), f"expected a stored model, got {name!r}; {known}") for name in strange])
    return named
