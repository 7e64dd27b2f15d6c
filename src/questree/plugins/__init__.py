"""What a plugin file imports: one function per kind of entry, which checks it and puts it where the package's own are.

from questree.plugins import metric

@metric("yes rate", formula="questions answered yes / questions")
def yes_rate(table):
    return table["prediction"] == "yes"
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, get_type_hints

from questree.extensions import Plugin, a_list, blamed, declared, one_of, wrong
from questree.extensions import load as _load
from questree.faults import BadInput, Fault
from questree.plugins.language import Declare, Medium, generation, image_template, operator, ops, rule, template
from questree.terms import Action, Bool, Categories, Object, Relation, Term

if TYPE_CHECKING:  # what the functions below are given and give back, for those who write types
    from questree.domains.images.kinds import Attribute, Count, Scenes, Thing, Things
    from questree.domains.video.kinds import Frames, Window
    from questree.formats.plain import questions
    from questree.networks.batches import QuestionBatch
    from questree.networks.catalogue import Inputs
    from questree.rules import Case, Members, Ways
    from questree.sources.catalogue import Setting
    from questree.stages.augment import Change, Graphs
    from questree.tables.run import Run
    from questree.vocabulary.words import Vocabulary

__all__ = [
    "augmentation",
    "bot",
    "exporter",
    "generation",
    "image_template",
    "load",
    "metric",
    "model",
    "operator",
    "ops",
]
__all__ += ["questions", "rule", "source", "split", "template"]
__all__ += ["Action", "Attribute", "Bool", "Case", "Categories", "Change", "Count", "Frames", "Graphs", "Inputs"]
__all__ += ["Members", "QuestionBatch"]
__all__ += ["Object", "Relation", "Run", "Scenes", "Term", "Thing", "Things", "Vocabulary", "Ways", "Window"]
SETTINGS = (str, int, float, bool)  # types of what a source may be told
UNSEEN = 128  # numbers of a stream where a model is blind and there are no features
PLACES = {
    **dict.fromkeys(("Attribute", "Count", "Scenes", "Thing", "Things"), "domains.images.kinds"),
    **dict.fromkeys(("Case", "Members", "Ways"), "rules"),
    **dict.fromkeys(("Change", "Graphs"), "stages.augment"),
    **dict.fromkeys(("Frames", "Window"), "domains.video.kinds"),
    "Run": "tables.run",
    "questions": "formats.plain",
    "Inputs": "networks.catalogue",
    "QuestionBatch": "networks.batches",
    "Vocabulary": "vocabulary.words",
}


def __getattr__(name: str) -> Any:
    """Types of other modules, imported when a plugin asks for them."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"questree.{PLACES[name]}"), name)


def load(*files: str | Path) -> None:
    """Load plugin files, as --plugin does on the command line."""
    _load(Plugin(str(file), Path(file).resolve()) for file in files)


def source(name: str, *, says: str, medium: Medium = "video", sign: str = "") -> Declare[Any]:
    """`questree ingest NAME`: a function of a folder that yields records in the form of docs/ingest.md or images.md.

    Further parameters with defaults are settings: `--set NAME=VALUE`, of the type they are annotated with."""
    from questree.sources.catalogue import SOURCES, Source
    from questree.sources.own_json import read_own_images, read_own_json

    one_of("source", name, "medium", medium, ("video", "images"))
    for what, text in (("says", says), ("sign", sign)):
        if not isinstance(text, str):
            raise wrong("source", name, f"{what}: expected a text, got {text!r}")

    def put(read: Callable[..., Iterable[Mapping[str, Any]]]) -> None:
        def images(folder: Path, **settings: Any) -> Any:
            return read_own_images(folder, _given(read, folder, settings))

        def videos(folder: Path, vocabulary: Any, **settings: Any) -> Any:
            return read_own_json(folder, vocabulary, _given(read, folder, settings))

        settings = _settings(name, read)
        SOURCES.add(name, Source(says, medium, videos if medium == "video" else images, sign, settings=settings))

    def _given(read: Callable[..., Iterable[Any]], folder: Path, settings: Mapping[str, Any]) -> Iterable[Any]:
        try:
            if not folder.exists():
                raise BadInput.at(folder, "expected a folder or file, got nothing of this name")
            records = read(folder, **settings)
            if not isinstance(records, Iterable):
                raise wrong("source", name, f"expected records, got {type(records).__name__}; yield one per {medium}")
            yield from records
        except Exception as error:
            own, file = blamed(error), _read_file(error, folder)
            if isinstance(error, BadInput) or own is None or file is None:
                raise
            raise BadInput([Fault(fault.place, f"{fault.message}; reading {file}") for fault in own.faults]) from error

    return declared("source", name, ("folder",), put)


def _settings(name: str, read: Callable[..., Any]) -> dict[str, "Setting"]:
    """Parameters after the first, of the type they are annotated with, or else of that of their default."""
    from questree.sources.catalogue import Setting

    hints, (_, *more), found = get_type_hints(read), signature(read).parameters.values(), dict[str, Setting]()
    for each in more:
        kind = hints.get(each.name, type(each.default))
        if kind not in SETTINGS:
            raise wrong("source", name, f"{each.name}: expected str, int, float or bool, got {kind}")
        if type(each.default) is not kind and not (kind is float and type(each.default) is int):
            raise wrong("source", name, f"{each.name}: expected a default of {kind.__name__}, got {each.default!r}")
        found[each.name] = Setting(kind, each.default)
    return found


def _read_file(error: BaseException, folder: Path) -> Path | None:
    """The data file a reader was at when it failed: the last one of its folder that a variable names."""
    values = [value for frame, _ in walk_tb(error.__traceback__) for value in frame.f_locals.values()]
    files = [value for value in values if isinstance(value, Path) and (value == folder or folder in value.parents)]
    return next((file for file in reversed(files) if file.is_file()), None)


def exporter(name: str, *, says: str) -> Declare[Any]:
    """`questree export NAME RUN --out DIR`: a function of (run, folder) that fills the folder; it may return counts."""
    from questree.formats.catalogue import EXPORTERS, Exporter

    return declared("exporter", name, ("run", "folder"), lambda write: EXPORTERS.add(name, Exporter(says, write=write)))


def metric(
    name: str,
    *,
    formula: str,
    by: str = "",
    how: str = "ratio",
    needs: Iterable[str] = (),
    by_video: bool = True,
) -> Declare[Any]:
    """A score: a function of the table of questions -> what each counts (1, 0, or null), in one Series per part.

    What a question counts depends on the questions about its video or first image alone, as the table holds those of
    some videos or images. `by_video` said so before it went for all metrics: it makes no difference."""
    from questree.metrics.catalogue import COLUMNS, GROUPED, METRICS, SHIPPED, Metric
    from questree.metrics.cells import COMBINE

    one_of("metric", name, "how", how, COMBINE)
    columns = a_list("metric", name, "needs", needs)
    for what, column, known in (("by", by, GROUPED), *(("needs", each, COLUMNS) for each in columns)):
        if column:
            one_of("metric", name, what, column, known)
    if name in SHIPPED:
        raise wrong("metric", name, f"expected a new name, got one that is taken; taken are {', '.join(SHIPPED)}")
    entry = partial(Metric, name, formula, by=by, how=how, needs=columns)  # type: ignore[arg-type]
    return declared("metric", name, ("table",), lambda count: METRICS.add(name, entry(count)))


def augmentation(name: str, *, says: str, after: str = "propagate annotations", by_video: bool = False) -> Declare[Any]:
    """A rule that changes facts: a function of (graphs, vocabulary) -> (graphs, counts of what it changed).

    `by_video`: what it does to a video depends on that video alone, so that many processes may share the videos."""
    from questree.stages.augment import RULES, AugmentationRule

    def put(change: Callable[..., Any]) -> None:
        number = max(rule.number for rule in RULES.values()) + 1

        def apply(graphs: "Graphs", vocabulary: "Vocabulary", options: object) -> Any:
            return change(graphs, vocabulary)

        RULES.add(name, AugmentationRule(number, name, says, apply, by_video=by_video), after)

    return declared("augmentation", name, ("graphs", "vocabulary"), put)


def split(
    name: str,
    *,
    held_out: str | list[str],
    medium: Medium = "video",
    train: str = "",
    test: str = "",
) -> None:
    """A split: what is held out of train, as predicates in the language of docs/splits.md or docs/covr-splits.md."""
    from questree.stages.split.declared import PLUGGED, Given

    one_of("split", name, "medium", medium, PLUGGED)
    if not held_out:
        raise wrong("split", name, "held_out: expected a predicate, got nothing")
    PLUGGED[medium].add(name, Given(held_out, train, test))


def model(
    name: str,
    *,
    says: str,
    streams: Iterable[str] = (),
    rate: float = 1e-3,
    batch: int = 64,
    epochs: int = 15,
    patience: int = 3,
) -> Declare[Any]:
    """`questree train --model NAME`: a function of `inputs` -> a torch.nn.Module, batch -> logits [row, answer].

    `streams`: what it looks at, of appearance, motion and objects; the rest is how it is trained."""
    from questree.networks.catalogue import PLUGGED, SHIPPED, STREAMS, Network, Schedule, Size

    looked = a_list("model", name, "streams", streams)
    for stream in looked:
        one_of("model", name, "streams", stream, STREAMS)
    if name in SHIPPED:
        raise wrong("model", name, f"expected a new name, got one that is taken; taken are {', '.join(SHIPPED)}")
    size = Size(Schedule(rate, batch, epochs, patience))

    def put(build: Callable[..., Any]) -> None:
        sizes = {"small": size, "paper": size}
        PLUGGED.add(name, Network(says, build, sizes, dict.fromkeys(looked, UNSEEN)))

    return declared("model", name, ("inputs",), put)


def bot(name: str, *, says: str) -> Declare[Any]:
    """Who answers: a function of a table of questions and sub-questions -> their answers, a Series of words."""
    import polars as pl

    from questree.models.asked import chance
    from questree.models.bots import BOTS, Bot

    def put(answers: Callable[..., Any]) -> None:
        def said(corpus: Any, asked: Any) -> Any:
            words = pl.Series([*corpus.number, None], dtype=pl.String)
            table = pl.DataFrame(
                {
                    "scope": asked.scope,
                    "type": asked.types,
                    "answer": words.gather(asked.truth % len(words)),  # NOTHING is the last
                    "random": chance(asked.drawn(corpus.options.seed, name)),
                }
            )
            found = answers(table)
            if not isinstance(found, pl.Series) or len(found) != len(table):
                raise wrong("bot", name, f"expected a Series of {len(table)} answers, got {type(found).__name__}")
            new = sorted(found.unique().drop_nulls())
            numbers = {word: corpus.number.setdefault(word, len(corpus.number)) for word in new}
            return found.replace_strict(numbers, default=-1, return_dtype=pl.Int32).to_numpy()

        BOTS.add(name, Bot(says, said))

    return declared("bot", name, ("table",), put)
