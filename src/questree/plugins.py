"""What a plugin file imports: one function per kind of entry, which checks it and puts it where the package's own are.

from questree.plugins import metric

@metric("yes rate", formula="questions answered yes / questions")
def yes_rate(table):
    return table["prediction"] == "yes"
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_type_hints

from questree.extensions import Plugin, extends_language, wrong
from questree.extensions import load as _load
from questree.program import Action as Action
from questree.program import Bool as Bool
from questree.program import Categories as Categories
from questree.program import Kind, Op
from questree.program import Object as Object
from questree.program import Relation as Relation
from questree.program import Term as Term

if TYPE_CHECKING:  # what the functions below are given and give back, for those who write types
    from questree.domains.images.kinds import Attribute as Attribute
    from questree.domains.images.kinds import Count as Count
    from questree.domains.images.kinds import Scenes as Scenes
    from questree.domains.images.kinds import Thing as Thing
    from questree.domains.images.kinds import Things as Things
    from questree.domains.video.kinds import Frames as Frames
    from questree.domains.video.kinds import Window as Window
    from questree.formats.plain import questions as questions
    from questree.rules import Case as Case
    from questree.rules import Members as Members
    from questree.rules import Ways as Ways
    from questree.stages.augment import Change as Change
    from questree.stages.augment import Graphs as Graphs
    from questree.tables.run import Run as Run
    from questree.vocabulary.words import Vocabulary as Vocabulary

Function = TypeVar("Function", bound=Callable[..., Any])
Declare = Callable[[Function], Function]
Medium = Literal["video", "images"]
PLACES = {
    **dict.fromkeys(("Attribute", "Count", "Scenes", "Thing", "Things"), "domains.images.kinds"),
    **dict.fromkeys(("Case", "Members", "Ways"), "rules"),
    **dict.fromkeys(("Change", "Graphs"), "stages.augment"),
    **dict.fromkeys(("Frames", "Window"), "domains.video.kinds"),
    "Run": "tables.run",
    "questions": "formats.plain",
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
    """`questree ingest NAME`: a function of a folder that yields records in the form of docs/ingest.md or images.md."""
    from questree.sources.catalogue import SOURCES, Source
    from questree.sources.own_images import read_image_records
    from questree.sources.own_json import read_records

    _one_of("source", name, "medium", medium, ("video", "images"))

    def declare(read: Callable[[Path], Iterable[Mapping[str, Any]]]) -> Any:
        _takes("source", name, read, "folder")

        def images(folder: Path) -> Any:
            return read_image_records(_given(read, folder), folder)

        def videos(folder: Path, vocabulary: Any) -> Any:
            return read_records(_given(read, folder), vocabulary, folder)

        SOURCES.add(name, Source(says, medium, videos if medium == "video" else images, sign))
        return read

    def _given(read: Callable[[Path], Iterable[Any]], folder: Path) -> Iterable[Any]:
        records = read(folder)
        if not isinstance(records, Iterable):
            raise wrong("source", name, f"expected records, got {type(records).__name__}; yield one per {medium}")
        return records

    return declare


def exporter(name: str, *, says: str) -> Declare[Any]:
    """`questree export NAME RUN --out DIR`: a function of (run, folder) that fills the folder; it may return counts."""
    from questree.formats.catalogue import EXPORTERS, Exporter

    def declare(write: Callable[["Run", Path], Mapping[str, int] | None]) -> Any:
        _takes("exporter", name, write, "run", "folder")
        EXPORTERS.add(name, Exporter(says, write=write))
        return write

    return declare


def metric(name: str, *, formula: str, by: str = "", how: str = "ratio", needs: Iterable[str] = ()) -> Declare[Any]:
    """A score: a function of the table of questions -> what each counts (1, 0, or null), in one Series per part."""
    from questree.metrics.catalogue import METRICS, Metric
    from questree.metrics.cells import COMBINE

    _one_of("metric", name, "how", how, COMBINE)

    def declare(count: Callable[..., Any]) -> Any:
        _takes("metric", name, count, "table")
        METRICS.add(name, Metric(name, formula, count, by, how, tuple(needs)))  # type: ignore[arg-type]
        return count

    return declare


def augmentation(name: str, *, says: str, after: str = "propagate annotations") -> Declare[Any]:
    """A rule that changes facts: a function of (graphs, vocabulary) -> (graphs, counts of what it changed)."""
    from questree.stages.augment import RULES, Rule

    def declare(change: Callable[..., Any]) -> Any:
        _takes("augmentation", name, change, "graphs", "vocabulary")
        number = max(rule.number for rule in RULES.values()) + 1
        rule = Rule(number, name, says, lambda graphs, vocabulary, options: change(graphs, vocabulary))
        RULES.add(name, rule, after)
        return change

    return declare


def ops(medium: Medium) -> dict[str, Op]:
    """Every operator of a medium by name: called with arguments it is a program, its `run` is its meaning."""
    from questree.domains.images import IMAGES
    from questree.domains.video import VIDEO

    return {"video": VIDEO, "images": IMAGES}[medium].ops


def operator(medium: Medium = "video", *, name: str = "", **readings: Any) -> Callable[[Any], Any]:
    """An operator: its signature is its type, its body its meaning over columns; keywords: English, parts, evidence."""
    from questree.domains.images import IMAGES
    from questree.domains.video import VIDEO

    languages = {"video": VIDEO, "images": IMAGES}

    def declare(run: Callable[..., Any]) -> Any:
        called = name or run.__name__
        _one_of("operator", called, "medium", medium, languages)
        known = [each.name for each in fields(Op) if each.name not in ("name", "doc", "run", "params", "result")]
        for reading in readings:
            _one_of("operator", called, "keyword", reading, known)
        hints = get_type_hints(run, include_extras=True)
        for each in [*list(inspect.signature(run).parameters)[1:], "return"]:
            if not isinstance(next(iter(getattr(hints.get(each), "__metadata__", ())), None), Kind):
                raise wrong("operator", called, f"{each}: expected a kind (Object, Bool ...), got {hints.get(each)}")
        if called in languages[medium].ops:
            taken = ", ".join(languages[medium].ops)
            raise wrong("operator", called, f"expected a new name, got one that is taken; taken are {taken}")
        extends_language()
        return languages[medium].operator(name, **readings)(run)

    return declare


def rule(composition: str, *, medium: Medium, sentence: str, **rest: Any) -> Declare[Any]:
    """A consistency rule: a function of the answers to a question and its sub-questions that says when they agree.

    Keywords as of questree.rules.Rule, and `types` of questions that have it; `yes_no`: are new types answered so?
    """
    from questree.rules import Rule, add

    schemes = {"video": "videos", "images": "images"}
    types, yes_no = rest.pop("types", ()), rest.pop("yes_no", True)

    def declare(reads: Callable[..., Any]) -> Any:
        _one_of("rule", composition, "medium", medium, schemes)
        _takes("rule", composition, reads, "members")
        try:
            add(Rule(composition, reads, sentence, **rest), schemes[medium], types, yes_no)
        except (TypeError, ValueError) as error:
            raise wrong("rule", composition, str(error).removeprefix(f"rule {composition}: ")) from error
        extends_language()
        return reads

    return declare


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

    _one_of("split", name, "medium", medium, PLUGGED)
    if not held_out:
        raise wrong("split", name, "held_out: expected a predicate, got nothing")
    PLUGGED[medium].add(name, Given(held_out, train, test))


def template(name: str, *, program: str, wordings: Iterable[str], group: str, key: str, **ranges: Any) -> None:
    """A question about videos: program, wordings, ranges of its slots, rules; fields as in docs/add-a-template.md."""
    from questree.stages.generate.given import GivenTemplate, add

    try:
        given = GivenTemplate(name, program, tuple(wordings), group, key, **{k: _fixed(v) for k, v in ranges.items()})
    except TypeError as error:
        known = ", ".join(GivenTemplate.__struct_fields__)
        raise wrong("template", name, f"{error}; choose from {known}") from error
    add(given.template())


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def generation(name: str, *, needs: str = "") -> Declare[Any]:
    """A rule of generation, which templates name: a function of candidates that says which of them are not asked."""
    from questree.stages.generate.rules import CORE, RULES, Look

    def declare(fails: Callable[..., Any]) -> Any:
        _takes("rule of generation", name, fails, "core")
        RULES.add(name, (Look(CORE, needs, fails),))
        return fails

    return declare


def bot(name: str, *, says: str) -> Declare[Any]:
    """Who answers: a function of a table of questions and sub-questions -> their answers, a Series of words."""
    import polars as pl

    from questree.models.asked import chance
    from questree.models.bots import BOTS, Bot

    def declare(answers: Callable[..., Any]) -> Any:
        _takes("bot", name, answers, "table")

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
            numbers = {word: corpus.number.setdefault(word, len(corpus.number)) for word in found.unique().drop_nulls()}
            return found.replace_strict(numbers, default=-1, return_dtype=pl.Int32).to_numpy()

        BOTS.add(name, Bot(says, said))
        return answers

    return declare


def image_template(
    name: str, *, program: str, wordings: Iterable[str], asks: str = "", build: Callable[..., Any] | None = None
) -> None:
    """A question about image sets: a program with the holes {R}, or {A} and {B}, and its English with {R:many} ...

    `build` is for other holes: a function of a source and the template that makes a draft, as those of stages/drafts.
    """
    from questree.benchmarks.covr.templates import BY_NAME
    from questree.stages.drafts.builders import BUILDERS
    from questree.stages.drafts.given import check, made

    template = made(name, program, tuple(wordings), asks)
    if build is not None:
        _takes("template", name, build, "source", "template")
    for message in check(template, build is None):
        raise wrong("template", name, message)
    if build is not None:
        template = replace(template, builder=name)
        BUILDERS.add(name, build)
    BY_NAME.add(name, template)
    extends_language()


def _takes(kind: str, name: str, function: Any, *wanted: str) -> None:
    """Refuse what cannot be called with so many arguments, before it is."""
    if not callable(function):
        raise wrong(kind, name, f"expected a function of ({', '.join(wanted)}), got {type(function).__name__}")
    try:
        inspect.signature(function).bind(*wanted)
    except TypeError:
        got = ", ".join(inspect.signature(function).parameters)
        raise wrong(kind, name, f"expected a function of ({', '.join(wanted)}), got one of ({got})") from None


def _one_of(kind: str, name: str, what: str, got: str, choices: Iterable[str]) -> None:
    known = list(choices)
    if got not in known:
        raise wrong(kind, name, f"{what}: expected a known one, got {got!r}; choose from {', '.join(known)}")
