"""What a plugin adds to the language of questions: operators, consistency rules, templates, rules of generation."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from string import Formatter
from typing import Any, Literal, TypeVar, get_type_hints

from questree.extensions import a_list, declared, extends_language, one_of, place_of, takes, when_all_are_loaded, wrong
from questree.plugins import checked
from questree.rules import SCHEMES, extend
from questree.terms import BOOL, Categories, Kind, Language, Op

Function = TypeVar("Function", bound=Callable[..., Any])
Declare = Callable[[Function], Function]
Medium = Literal["video", "images"]
SCHEME = {"video": "videos", "images": "images"}
ADDED: dict[Medium, list[Op]] = {"video": [], "images": []}  # operators of plugins
LISTED = {name: ((*scheme.compositions,), (*scheme.types,)) for name, scheme in SCHEMES.items()}  # without plugins


class NamedOps(dict[str, Op]):
    def __missing__(self, name: str) -> Op:
        near = get_close_matches(name, self, 3) or sorted(self)
        raise KeyError(f"expected an operator, got {name!r}; choose from {', '.join(near)}")


def ops(medium: Medium) -> dict[str, Op]:
    """Every operator of a medium by name: called with arguments it is a program, its `run` is its meaning."""
    one_of("operators", "of a medium", "medium", medium, SCHEME)
    return NamedOps(_language(medium).ops)


def _language(medium: Medium) -> Language:
    from questree.domains.images import IMAGES
    from questree.domains.video import VIDEO

    return IMAGES if medium == "images" else VIDEO


def operator(medium: Medium = "video", *, name: str = "", **readings: Any) -> Callable[[Any], Any]:
    """An operator: its signature is its type, its body its meaning over columns; keywords: English, parts, evidence."""

    def declare(run: Callable[..., Any]) -> Any:
        called = name or run.__name__
        one_of("operator", called, "medium", medium, SCHEME)
        language = _language(medium)
        known = [each.name for each in fields(Op) if each.name not in ("name", "doc", "run", "params", "result")]
        for reading in readings:
            one_of("operator", called, "keyword", reading, known)
        hints, parameters = get_type_hints(run, include_extras=True), list(inspect.signature(run).parameters)[1:]
        for each in [*parameters, "return"]:
            if not isinstance(next(iter(getattr(hints.get(each), "__metadata__", ())), None), Kind):
                raise wrong("operator", called, f"{each}: expected a kind (Object, Bool ...), got {hints.get(each)}")
        if called in language.ops:
            taken = ", ".join(language.ops)
            raise wrong("operator", called, f"expected a new name, got one that is taken; taken are {taken}")
        _plain(called, readings)
        if "parts" in readings:
            takes("operator", called, readings["parts"], "vocabulary", *parameters, what="parts: ")
        _english(
            called, readings, {each: hints[each].__metadata__[0] for each in [*parameters, "return"]}, language.ops
        )
        made = language.operator(name, **readings)(run)
        made = language.ops[called] = _checked(made, language, SCHEMES[SCHEME[medium]].compositions)
        ADDED[medium].append(made)
        # a new composition and a new type become rows of the tables, with or without a rule
        types = [made.type] if isinstance(made.type, str) and made.type else []
        extend(SCHEME[medium], types, [made.label] if made.label else [], bool(made.result.yes))
        extends_language()
        return made

    return declare


def _plain(name: str, readings: dict[str, Any]) -> None:
    """Refuse what would fail, or be taken for something else, only when a question is read."""
    categories = readings.get("categories", Categories())
    if not isinstance(categories, Categories):
        raise wrong("operator", name, f"categories: expected Categories(...), got {categories!r}")
    from questree.metrics.answers import LISTED

    reasoning = a_list("operator", name, "categories: reasoning", categories.reasoning)
    if categories.structural:
        one_of("operator", name, "categories: structural", categories.structural, LISTED["structural"])
    readings["categories"] = replace(categories, reasoning=reasoning)
    for each in ("options", "given"):
        if each in readings:
            readings[each] = a_list("operator", name, each, readings[each])
    for each in ("steps", "reference_steps"):
        got = readings.get(each, 0)
        if not isinstance(got, int) or isinstance(got, bool) or got < 0:
            raise wrong("operator", name, f"{each}: expected a whole number, got {got!r}")
    for each in ("label", "target", "type"):
        got = readings.get(each, "")
        if not isinstance(got, str) and not (each == "type" and callable(got)):
            raise wrong("operator", name, f"{each}: expected a text, got {got!r}")


def _english(name: str, readings: Mapping[str, Any], kinds: Mapping[str, Kind], ops: Mapping[str, Op]) -> None:
    """Refuse a question nobody can ask, arguments that are not there, and forms nothing of that kind is said in."""
    result = kinds["return"]
    if not readings.get("ask") and (result.yes or (result.askable and not readings.get("phrase"))):
        raise wrong("operator", name, "expected English (ask=...), got none")
    for text in _texts(readings.get("ask", ()), readings.get("phrase", ())):
        for _, argument, form, _ in Formatter().parse(text):
            if argument is not None:
                one_of(
                    "operator", name, f"argument in {text!r}", argument, [each for each in kinds if each != "return"]
                )
                if form:
                    one_of("operator", name, f"form in {text!r}", form, _forms(kinds[argument], ops))


def _texts(ask: Any, phrase: Any) -> Iterator[str]:
    for texts in (ask, *(phrase.values() if isinstance(phrase, Mapping) else [phrase])):
        yield from [texts] if isinstance(texts, str) else texts if isinstance(texts, tuple) else ()


def _forms(kind: Kind, ops: Mapping[str, Op]) -> list[str]:
    """The forms in which operators say, or are said, an argument of a kind."""
    from questree.stages.drafts.given import FORMS

    def fits(other: Kind) -> bool:
        return other == kind or bool(kind == BOOL and other.yes)

    found = {"ask"} if kind.askable else set[str]()
    for op in ops.values():
        if fits(op.result) and not callable(op.phrase):
            found |= {*op.phrase}
        elif fits(op.result) and kind.name in ("things", "thing"):
            found |= {*FORMS}
        for text in _texts(op.ask, op.phrase):
            said = [(name, form) for _, name, form, _ in Formatter().parse(text) if name]
            found |= {form for name, form in said if form and fits(op.params[name])}
    return sorted(found - {""})


def _checked(op: Op, language: Language, compositions: list[str]) -> Op:
    """The operator with functions whose results are looked at."""
    place = place_of("operator", op.name)
    found: dict[str, Any] = {"run": checked.operator_value(place, op.result, op.run)}
    if op.parts:
        found["parts"] = checked.sub_questions(place, language, compositions, op.parts)
    for name in ("focus", "rests"):
        if function := getattr(op, name):
            found[name] = checked.evidence(f"{place}: {name}", function)
    if callable(op.type):
        found["type"] = checked.a_text(f"{place}: type", op.type)
    return replace(op, **found)


def rule(composition: str, *, medium: Medium, sentence: str, **rest: Any) -> Declare[Any]:
    """A consistency rule: a function of the answers to a question and its sub-questions that says when they agree.

    Keywords as of questree.rules.Rule, and `types` of questions that have it; `yes_no`: are new types answered so?
    """
    from questree.rules import Rule, add

    types, yes_no = rest.pop("types", ()), rest.pop("yes_no", True)

    def put(reads: Callable[..., Any]) -> None:
        one_of("rule", composition, "medium", medium, SCHEME)
        about = a_list("rule", composition, "types", types)
        for each in ("names", "parents"):
            if each in rest:
                a_list("rule", composition, each, rest[each])
        try:
            own = checked.rule_case(place_of("rule", composition), reads)
            add(Rule(composition, own, sentence, **rest), SCHEME[medium], about, yes_no)
        except (TypeError, ValueError) as error:
            raise wrong("rule", composition, str(error).removeprefix(f"rule {composition}: ")) from error
        when_all_are_loaded(lambda: _linked(composition, medium, about))
        extends_language()

    return declared("rule", composition, ("members",), put)


def _linked(composition: str, medium: Medium, types: tuple[str, ...]) -> None:
    """Refuse names that no operator has; what functions of plugins return is not known, unless it is nearly right."""
    compositions, known = LISTED[SCHEME[medium]]
    labels = [op.label for op in ADDED[medium] if op.label]
    loose = [label for label in labels if label not in SCHEMES[SCHEME[medium]].rules]
    if composition not in (*compositions, *labels) and (
        not any(op.parts for op in ADDED[medium]) or get_close_matches(composition, loose)
    ):
        one_of("rule", composition, "composition", composition, dict.fromkeys((*labels, *compositions)))
    own = [op.type for op in ADDED[medium] if isinstance(op.type, str) and op.type]
    free = any(callable(op.type) for op in ADDED[medium])
    for each in types:
        timed = any(each.startswith(f"{type} ") for type in own)  # what another operator makes of it
        if each not in (*known, *own) and not timed and (not free or get_close_matches(each, own)):
            one_of("rule", composition, "types", each, dict.fromkeys((*own, *known)))


def template(name: str, *, program: str, wordings: Iterable[str], group: str, key: str, **ranges: Any) -> None:
    """A question about videos: program, wordings, ranges of its slots, rules; fields as in docs/add-a-template.md."""
    from questree.stages.generate.given import GivenTemplate, add

    for each in ranges:
        one_of("template", name, "keyword", each, GivenTemplate.__struct_fields__)
    given: dict[str, Any] = {
        each: got if isinstance(got, bool) else a_list("template", name, each, got) for each, got in ranges.items()
    }
    texts = a_list("template", name, "wordings", wordings)
    add(GivenTemplate(name, program, texts, group, key, **given).template())


def generation(name: str, *, needs: str = "") -> Declare[Any]:
    """A rule of generation, which templates name: a function of candidates that says which of them are not asked."""
    from questree.stages.generate.rules import CORE, RULES, Look

    def put(fails: Callable[..., Any]) -> None:
        RULES.add(name, (Look(CORE, needs, checked.left_out(place_of("rule of generation", name), fails)),))

    return declared("rule of generation", name, ("core",), put)


def image_template(
    name: str, *, program: str, wordings: Iterable[str], asks: str = "", build: Callable[..., Any] | None = None
) -> None:
    """A question about image sets: a program with the holes {R}, or {A} and {B}, and its English with {R:many} ...

    `build` is for other holes: a function of a source and the template that makes a draft, as those of stages/drafts.
    """
    from questree.benchmarks.covr.templates import BY_NAME
    from questree.stages.drafts.builders import BUILDERS
    from questree.stages.drafts.given import check, made

    template = made(name, program, a_list("template", name, "wordings", wordings), asks)
    if build is not None:
        takes("template", name, build, "source", "template")
    for message in check(template, build is None):
        raise wrong("template", name, message)
    if build is not None:
        template = replace(template, builder=name)
        BUILDERS.add(name, build)
    BY_NAME.add(name, template)
    extends_language()
