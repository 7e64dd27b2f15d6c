"""What predicates may say of questions about videos, and of those about image sets, besides what all may say."""

from collections.abc import Callable, Collection, Mapping
from functools import partial, reduce

import numpy as np

from questree.benchmarks.agqa import held_out
from questree.benchmarks.agqa.editions import SECOND, Edition
from questree.benchmarks.agqa.templates import TIMES, Template
from questree.benchmarks.covr.splits import PATTERNS, PROPERTIES, WORDS
from questree.columns.joins import Ints
from questree.domains.video import VIDEO
from questree.notation.covr import OPERATIONS
from questree.readings.answer import spell
from questree.stages.split.compositions import LISTS, Says
from questree.stages.split.grammar import Atom, PredicateLanguage, PredicateReader, Wrong, check, read
from questree.stages.split.predicates import Either, Has, NamedPredicate, OfColumns, Predicate, PredicateWord
from questree.stages.split.rows import NUMBER, QuestionRows, Truth
from questree.tables.questions import time_kind
from questree.vocabulary.words import Vocabulary

FLAGS = {name: 1 << bit for bit, name in enumerate(held_out.FLAGS)}
FLAGS |= {"novel": held_out.NOVEL, "indirect": held_out.INDIRECT}
OF_TEMPLATE: dict[str, Callable[[Template], tuple[str, ...]]] = {
    "template": lambda t: (t.name,),
    "structure": lambda t: (t.categories.structural,),
    "semantic": lambda t: (t.categories.semantic,),
    "reasoning": lambda t: t.categories.reasoning,
    "type": lambda t: (t.answer_type,),
}
COMPARE = {
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
KINDS = (*dict.fromkeys(WORDS.values()), NUMBER)
UNKNOWN = -2  # a word that occurs nowhere
NUMERIC = r"^-?[0-9]+(\.[0-9]+)?$"


def column(rows: QuestionRows, name: str) -> Ints:
    return rows.questions[name].to_numpy().astype(np.int64)


def flag(name: str) -> OfColumns:
    """At least one of the flags of this name is set."""
    return OfColumns(name, lambda rows: (column(rows, "flags") & FLAGS[name]) > 0)


def of_templates(text: str, holds_for: list[bool]) -> OfColumns:
    """holds_for: [template]"""
    return OfColumns(text, lambda rows: np.array(holds_for)[column(rows, "template")])


def more_steps(most: tuple[int, ...]) -> OfColumns:
    """More steps than the template's threshold; most: [template]."""
    return OfColumns("more_steps", lambda rows: column(rows, "steps") > np.array(most)[column(rows, "template")])


def of_videos(vocabulary: Vocabulary, most_steps: tuple[int, ...] = (), edition: Edition = SECOND) -> PredicateLanguage:
    """most_steps: per template, for `more_steps`."""
    templates = edition.by_code

    def word(kind: str, name: str) -> int:
        at: dict[str, int] = getattr(vocabulary, f"{kind}_at")
        check(kind, (name,), list(at))
        return at[name]

    def steps(reader: PredicateReader, _: str) -> Predicate:
        relation, number = reader.take().text, reader.take()
        if relation not in COMPARE or number.kind != "number":
            raise Wrong(f"at {number.at}: steps are compared with a number, as in (steps > 4)")
        compare, than = COMPARE[relation], int(number.text)
        return OfColumns(f"(steps {relation} {than})", lambda rows: compare(column(rows, "steps"), than))

    def of_template(reader: PredicateReader, name: str) -> Predicate:
        values, look = reader.values(name), OF_TEMPLATE[name]
        check(name, values, list(dict.fromkeys(value for t in edition.templates for value in look(t))))
        return of_templates(f"{name}({', '.join(values)})", [bool({*values} & {*look(t)}) for t in templates])

    def time(reader: PredicateReader, name: str) -> Predicate:
        values = reader.values(name)
        check(name, values, list(TIMES))
        codes = [TIMES.index(kind) for kind in values]
        return OfColumns(f"time({', '.join(values)})", lambda rows: np.isin(time_kind(column(rows, "time")), codes))

    def answer(reader: PredicateReader, name: str) -> Predicate:
        values, spelled = reader.values(name), [_spellings(template, vocabulary) for template in templates]
        check(name, values, sorted({answer for own in spelled for answer in own}))
        table = np.zeros((len(templates), 1 + max(max(own.values()) for own in spelled)), bool)  # [template, answer]
        for template, own in enumerate(spelled):
            table[template, [own[value] for value in values if value in own]] = True
        text = "answer({})".format(", ".join(f'"{value}"' for value in values))
        return OfColumns(text, lambda rows: table[column(rows, "template"), column(rows, "answer")])

    def says(reader: PredicateReader, name: str) -> Predicate:
        values = reader.values(name)
        check(name, values, list(LISTS.values()))
        found: list[Predicate] = [Says(value, held_out.held_out(vocabulary)) for value in values]
        return reduce(Either, found)

    own: dict[str, Atom] = dict.fromkeys(OF_TEMPLATE, of_template)
    own |= {
        "says": says,
        "time": time,
        "answer": answer,
        "steps": steps,
        "more_steps": lambda *_: more_steps(most_steps),
    }
    own |= dict.fromkeys(FLAGS, lambda _, name: flag(name))
    return PredicateLanguage("operator", VIDEO.ops, ("action", "object", "relation"), word, own)


def _spellings(template: Template, vocabulary: Vocabulary) -> dict[str, int]:
    """Answer -> its number."""
    kind = template.node.kind
    count = len(getattr(vocabulary, kind.words)) if kind.words else 2
    return {spell(kind, code, vocabulary) or "": code for code in range(count)}


KnownWords = Callable[[str], Collection[str]]  # kind of word -> those that occur; "answer" -> all answers


def of_images(position: Mapping[str, int], known: KnownWords | None = None) -> PredicateLanguage:
    """position: of words among those of questions. Words are checked against what is known, unless the predicate is one
    of ours, or was checked before."""

    def word(kind: str, name: str) -> int:
        if known is not None:
            check(kind, (name,), sorted(known(kind)))
        return position.get(name, UNKNOWN)

    def one_of(reader: PredicateReader, name: str) -> Predicate:
        values = reader.values(name)
        if known is not None:
            check(name, values, list(PATTERNS) if name == "template" else sorted(known(name)))
        return OfColumns(f"{name}({', '.join(values)})", partial(_among, name=name, values=values))

    def number(reader: PredicateReader, name: str) -> Predicate:
        if reader.next.text != "(":
            return NamedPredicate(name, OfColumns(name, _numbered))
        plain, named = reader.arguments(name)
        if named or len(plain) != 1 or not plain[0].isdecimal():
            raise Wrong("number(...) takes one number")
        return Has("", (PredicateWord(NUMBER, position.get(plain[0], UNKNOWN), plain[0]),))

    own: dict[str, Atom] = {"number": number, "numeric": lambda _, name: OfColumns(name, _numeric)}
    own |= {"template": one_of, "answer": one_of}
    own |= dict.fromkeys(PROPERTIES, lambda _, name: covr_property(name, position))
    return PredicateLanguage("operation", OPERATIONS, KINDS, word, own)


def of_image_rows(rows: QuestionRows) -> PredicateLanguage:
    """What may be said of questions that are all here; words are checked."""
    return of_images(rows.position, partial(words_of, rows))


def words_of(rows: QuestionRows, kind: str) -> list[str]:
    return rows.questions["answer"].unique().to_list() if kind == "answer" else rows.words_of(kind)


def covr_property(name: str, position: Mapping[str, int]) -> NamedPredicate:
    return NamedPredicate(name, read(PROPERTIES[name], of_images(position)))


def _among(rows: QuestionRows, name: str, values: tuple[str, ...]) -> Truth:
    return np.asarray(rows.questions[name].is_in(values).to_numpy())


def _numeric(rows: QuestionRows) -> Truth:
    return np.asarray(rows.questions["answer"].str.contains(NUMERIC).to_numpy())


def _numbered(rows: QuestionRows) -> Truth:
    """Is some number given?"""
    return rows.having(lambda shape: any(arg.kind == NUMBER for piece in shape.pieces for arg in piece.args))
