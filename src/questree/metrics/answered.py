"""Hierarchies with one model's predictions beside them: the columns all AGQA-Decomp metrics read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.cells import Bools
from questree.rules import NEVER, Case, Members, NodeColumns, Rule, Scheme, WordNumbers, scheme_of
from questree.tables.hierarchies import COMPOSED, NOTHING, Hierarchies

Missing = Literal["error", "wrong", "skip"]
Ints = NDArray[Any]


@dataclass(frozen=True)
class Answered:
    """What the metrics see; word numbers are shared by answers, objects and predictions."""

    hierarchies: Hierarchies
    groups: list[str]  # rows of the tables by type: those of the paper, then types of the data's own
    group_of_type: NDArray[np.int64]  # [type] position in `groups`, NOTHING for an unscored type
    video: NDArray[np.uint32]  # [node]
    prediction: NDArray[np.int32]  # [node] word, NOTHING without one
    scored: Bools  # [node] type is scored, and there is a prediction, or a truth without which counts as wrong
    yes_no: Bools  # [node] scored and of a type answered yes or no
    correct: Bools  # [node]
    isolated: NDArray[np.int32]  # [question without a DAG] predicted word
    words: WordNumbers  # every word that is an answer, an object or a prediction
    scheme: Scheme
    skipping: bool  # questions without a prediction are left out

    def column(self, name: str) -> Ints:
        return self.hierarchies.nodes[name].to_numpy()

    def group(self, nodes: Ints) -> NDArray[np.int64]:
        """[row] position in `groups` of these nodes."""
        return np.asarray(self.group_of_type[self.column("type")[nodes]])

    @cached_property
    def listing(self) -> "Listing":
        return Listing.of(self.hierarchies)

    @property
    def compositions(self) -> list[str]:
        return self.listing.compositions

    @property
    def rules(self) -> list[str]:
        return self.listing.rules

    @property
    def answered(self) -> Bools:
        """[node] there is a ground truth."""
        return np.asarray(self.column("answer") != NOTHING)

    @cached_property
    def read(self) -> list["RuleReading"]:
        """What the rules read in the predictions for all scored questions with parts."""
        return list(readings(self))


@dataclass(frozen=True)
class Listing:
    """What the tables about DAGs list, whoever answered."""

    types: tuple[str, ...]  # of nodes and of questions without a DAG
    named: tuple[str, ...]  # compositions that have a number
    seen: frozenset[str]  # types of nodes
    there: frozenset[str]  # compositions that occur

    @classmethod
    def of(cls, found: Hierarchies) -> "Listing":
        seen = {found.types[at] for at in np.flatnonzero(np.bincount(found.nodes["type"].to_numpy()))}
        there = np.unique(found.composed["composition"].to_numpy()).tolist()
        own = frozenset(found.compositions[at] for at in there)
        return cls(tuple(found.types), tuple(found.compositions), frozenset(seen), own)

    @classmethod
    def together(cls, parts: Sequence["Listing"]) -> "Listing":
        """Of parts of a corpus, in their order."""
        types = dict.fromkeys(name for part in parts for name in part.types)
        named = dict.fromkeys(name for part in parts for name in part.named)
        seen, there = (set[str]().union(*own) for own in ([p.seen for p in parts], [p.there for p in parts]))
        return cls(tuple(types), tuple(named), frozenset(seen), frozenset(there))

    @cached_property
    def scheme(self) -> Scheme:
        return scheme_of(list(self.types))

    @cached_property
    def group_of(self) -> dict[str, str | None]:
        """Type -> the row it counts for; None for an unscored one."""
        scheme = self.scheme
        return {name: None if name in scheme.unscored else scheme.group_of(name) for name in self.types}

    @cached_property
    def groups(self) -> list[str]:
        """Rows of the tables by type: those of the paper, then types of the data's own."""
        return list(dict.fromkeys([*self.scheme.groups, *(name for name in self.group_of.values() if name)]))

    @property
    def own_groups(self) -> list[str]:
        """The rows of tables about DAGs: a type that only questions without a DAG have is no row there."""
        seen = {self.group_of[name] for name in self.seen}
        return [name for name in self.groups if name in self.scheme.groups or name in seen]

    @property
    def compositions(self) -> list[str]:
        """The rows of tables by composition: those of the paper, then the data's own."""
        return list(dict.fromkeys([*self.scheme.compositions, *self.named]))

    @property
    def rules(self) -> list[str]:
        """Names of the rules that are reported; a rule from outside leaves data without its composition as it is."""
        absent = self.scheme.added - self.there
        return self.scheme.names(name for name in self.scheme.rules if name not in absent)


class RuleReading(NamedTuple):
    """A rule in the compositions of its kind that have as many parts."""

    rule: Rule
    rows: Ints  # in `composed`
    case: Case


def readings(model: Answered) -> Iterator[RuleReading]:
    """Every rule where it could apply, by the number of parts it looks at."""
    columns = node_columns(model)
    for rule, rows, nodes in members(model):
        yield RuleReading(rule, rows, rule.reads(Members(columns, nodes)))


def node_columns(model: Answered) -> NodeColumns:
    """What rules see of all nodes."""
    return NodeColumns(
        model.words,
        model.prediction,
        model.column("object"),
        model.yes_no,
        model.scored,
        model.column("parent"),
        lambda: options(model),
    )


def members(model: Answered) -> Iterator[tuple[Rule, Ints, tuple[Ints, ...]]]:
    """Every rule, rows in `composed` that it is about, and per member their nodes: the question, then its parts."""
    found = model.hierarchies
    parent, kind, first, size = (found.composed[name].to_numpy() for name in COMPOSED.columns)
    child, type = found.edges["child"].to_numpy(), model.column("type")
    wanted = (model.scored & model.column("parent"))[parent]
    there = {found.compositions[at]: at for at in np.flatnonzero(np.bincount(kind)).tolist()}
    for name, rule in model.scheme.rules.items():
        if name not in there:
            continue
        rows = np.flatnonzero(wanted & (kind == there[name]))
        if rule.parents:
            rows = rows[np.array([each in rule.parents for each in found.types], bool)[type[parent[rows]]]]
        for parts in np.flatnonzero(np.bincount(size[rows])).tolist():
            own = rows[size[rows] == parts]
            nodes = [child[first[own] + at] for at in range(parts)]
            if rule.parts == "scored pair":
                kept = model.scored[nodes[0]] & model.scored[nodes[-1]] if parts == 2 else np.zeros(len(own), bool)
                own, nodes = own[kept], [each[kept] for each in nodes]
            if parts and len(own):
                yield rule, own, (parent[own], *nodes)


def options(model: Answered) -> Ints:
    """[node] the object asked about by the first child of its Equals composition; NEVER if it has none."""
    found = model.hierarchies
    parent, kind, first, size = (found.composed[name].to_numpy() for name in COMPOSED.columns)
    rows = np.flatnonzero(kind == (found.compositions.index("Equals") if "Equals" in found.compositions else NEVER))
    option = np.full(len(model.scored), NEVER, np.int32)
    option[parent[rows]] = NOTHING
    rows = rows[size[rows] > 0]
    option[parent[rows]] = model.column("object")[found.edges["child"].to_numpy()[first[rows]]]
    return option


@dataclass(frozen=True)
class ModelAnswers:
    """One model's answers by key."""

    words: list[str]
    by_key: NDArray[np.int32]  # [key] position in `words`, NOTHING without an answer


def answered(
    hierarchies: Hierarchies, predictions: pl.DataFrame | ModelAnswers, missing: Missing = "error"
) -> Answered:
    """Predictions beside the nodes: with the columns id and prediction (each id once), or by key."""
    number = {word: at for at, word in enumerate(hierarchies.words)}
    if isinstance(predictions, ModelAnswers):
        words = [number.setdefault(word, len(number)) for word in predictions.words]
        said = np.array([*words, NOTHING], np.int32)[predictions.by_key]
    else:
        said = predictions_by_key(hierarchies, predictions, number)
    return beside(hierarchies, said, number, missing)


def beside(
    hierarchies: Hierarchies, said: NDArray[np.int32], number: dict[str, int], missing: Missing = "error"
) -> Answered:
    """`said`: [key] the predicted word as `number` numbers it, NOTHING without one."""
    prediction, truth = said[hierarchies.nodes["key"].to_numpy()], hierarchies.nodes["answer"].to_numpy()
    types, type = hierarchies.types, hierarchies.nodes["type"].to_numpy()
    scheme = scheme_of(types)
    shown = [None if name in scheme.unscored else scheme.group_of(name) for name in types]
    groups = list(dict.fromkeys([*scheme.groups, *(name for name in shown if name)]))
    group = np.array([groups.index(name) if name else NOTHING for name in shown], np.int64)
    there = prediction != NOTHING
    if missing != "skip":
        there |= truth != NOTHING  # without a truth nobody can be wrong, so nobody has to say anything
    scored = (group != NOTHING)[type] & there
    return Answered(
        hierarchies=hierarchies,
        groups=groups,
        group_of_type=group,
        video=hierarchies.node_video,
        prediction=prediction,
        scored=scored,
        yes_no=np.array([name in scheme.yes_no for name in types], bool)[type] & scored,
        correct=(prediction == truth) & (prediction != NOTHING),
        isolated=said[hierarchies.isolated["key"].to_numpy()],
        words=WordNumbers(number),
        scheme=scheme,
        skipping=missing == "skip",
    )


def predictions_by_key(
    hierarchies: Hierarchies, predictions: pl.DataFrame, number: dict[str, int]
) -> NDArray[np.int32]:
    """[key] the predicted word; new words get the numbers after those of the hierarchies."""
    for word in predictions["prediction"].unique(maintain_order=True).drop_nulls():
        number.setdefault(word, len(number))
    return words_by_key(hierarchies.keys, predictions, number)


def words_by_key(keys: pl.Series, predictions: pl.DataFrame, words: Iterable[str]) -> NDArray[np.int32]:
    """[key] the position of the predicted word among all, NOTHING without one."""
    numbers = pl.DataFrame({"prediction": list(words)}, schema={"prediction": pl.String}).with_row_index("word")
    said = predictions.select("id", "prediction").join(numbers, on="prediction", how="left")
    found = pl.DataFrame({"id": keys}).join(said, on="id", how="left", maintain_order="left")
    return found["word"].cast(pl.Int32).fill_null(NOTHING).to_numpy()


def first(text: Ints, rows: Ints) -> Ints:
    """The rows that are the first of their text, in order."""
    earliest = np.full(int(text.max(initial=0)) + 1, -1, np.int64)
    earliest[text[rows][::-1]] = rows[::-1]  # the last assignment stays
    kept = earliest[earliest >= 0]
    return np.sort(kept)


def needed(hierarchies: Hierarchies, scored: bool = True) -> Ints:
    """The keys of all questions that need a prediction, those of scored types with a truth; or of all questions."""
    unscored = scheme_of(hierarchies.types).unscored if scored else frozenset[str]()
    of_type = np.array([name not in unscored for name in hierarchies.types], bool)
    found = np.zeros(len(hierarchies.keys), bool)
    for table in (hierarchies.nodes, hierarchies.isolated):
        wanted = of_type[table["type"].to_numpy()]
        if scored:
            wanted &= table["answer"].to_numpy() != NOTHING
        found[table["key"].to_numpy()[wanted]] = True
    return np.flatnonzero(found)


def questions_of(model: Answered) -> pl.DataFrame:
    """With or without a DAG; `parts` are the rows of a question's sub-questions, `dag` is null without one."""
    found, rows = model.hierarchies, first(model.column("text"), np.flatnonzero(model.scored))
    alone = model.group_of_type[found.isolated["type"].to_numpy()] != NOTHING
    nodes, loose = found.nodes[rows], found.isolated.filter(pl.Series(alone))
    words, types = pl.Series([*model.words.number, None], dtype=pl.String), pl.Series(found.types, dtype=pl.String)
    last = len(words) - 1
    truth = np.concatenate([nodes["answer"].to_numpy(), loose["answer"].to_numpy()])
    said = np.concatenate([model.prediction[rows], model.isolated[alone]])
    table = pl.DataFrame(
        {
            "row": np.arange(len(truth)),
            "scope": np.concatenate([model.video[rows], loose["video"].to_numpy()]),
            "dag": np.concatenate([nodes["dag"].to_numpy().astype(np.int64), np.full(len(loose), NOTHING)]),
            "id": found.keys.gather(pl.concat([nodes["key"], loose["key"]])),
            "type": types.gather(pl.concat([nodes["type"], loose["type"]])),
            "answer": words.gather(np.where(truth == NOTHING, last, truth)),
            "prediction": words.gather(np.where(said == NOTHING, last, said)),
            "correct": pl.select(pl.when(pl.Series(truth != NOTHING)).then(pl.Series(said == truth))).to_series(),
        }
    )
    listed = _parts(model, rows).group_by("row", maintain_order=True).agg("parts")
    dag = pl.when(pl.col("dag") != NOTHING).then("dag")
    return table.with_columns(dag).join(listed, on="row", how="left", maintain_order="left").drop("row")


def _parts(model: Answered, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pl.DataFrame:
    """row, parts: each sub-question of a row once."""
    found, text = model.hierarchies, model.column("text")
    row_of = np.full(int(text.max(initial=0)) + 1, NOTHING, np.int64)
    row_of[text[rows]] = np.arange(len(rows))
    parent = np.repeat(found.composed["parent"].to_numpy(), found.composed["edges"].to_numpy())
    edges = pl.DataFrame({"row": row_of[text[parent]], "parts": row_of[text[found.edges["child"].to_numpy()]]})
    return edges.filter(pl.col("row") != NOTHING, pl.col("parts") != NOTHING).unique().sort("row", "parts")
