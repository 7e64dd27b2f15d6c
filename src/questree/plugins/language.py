"""What a plugin adds to the language of questions: operators, consistency rules, templates, rules of generation."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from string import Formatter
from typing import Any, Literal, TypeVar, get_type_hints

from questree.extensions import extends_language, one_of, takes, wrong
from questree.faults import BadInput
from questree.program import Kind, Op
from questree.rules import SCHEMES, extend

Function = TypeVar("Function", bound=Callable[..., Any])
Declare = Callable[[Function], Function]
Medium = Literal["video", "images"]
SCHEME = {"video": "videos", "images": "images"}


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
        one_of("operator", called, "medium", medium, languages)
        known = [each.name for each in fields(Op) if each.name not in ("name", "doc", "run", "params", "result")]
        for reading in readings:
            one_of("operator", called, "keyword", reading, known)
        hints, parameters = get_type_hints(run, include_extras=True), list(inspect.signature(run).parameters)[1:]
        for each in [*parameters, "return"]:
            if not isinstance(next(iter(getattr(hints.get(each), "__metadata__", ())), None), Kind):
                raise wrong("operator", called, f"{each}: expected a kind (Object, Bool ...), got {hints.get(each)}")
        if called in languages[medium].ops:
            taken = ", ".join(languages[medium].ops)
            raise wrong("operator", called, f"expected a new name, got one that is taken; taken are {taken}")
        _said(called, readings, parameters)
        if "parts" in readings:
            takes("operator", called, readings["parts"], "vocabulary", *parameters, what="parts: ")
            readings["parts"] = _in_scheme(called, medium, readings["parts"])
        made = languages[medium].operator(name, **readings)(run)
        _listed(medium, made)
        extends_language()
        return made

    return declare


def _said(name: str, readings: Mapping[str, Any], parameters: list[str]) -> None:
    """Refuse English about arguments that the operator does not have."""
    ask, phrase = readings.get("ask", ()), readings.get("phrase", ())
    for texts in (ask, *(phrase.values() if isinstance(phrase, dict) else [phrase])):
        for text in [texts] if isinstance(texts, str) else texts if isinstance(texts, tuple) else ():
            for _, argument, _, _ in Formatter().parse(text):
                if argument is not None:
                    one_of("operator", name, f"argument in {text!r}", argument, parameters)


def _in_scheme(name: str, medium: Medium, parts: Callable[..., Any]) -> Callable[..., Any]:
    """The sub-questions, refused if their composition is one that nobody has declared."""
    place = wrong("operator", name, "").faults[0].place

    def checked(vocabulary: Any, *arguments: Any) -> Any:
        found = parts(vocabulary, *arguments)
        known = SCHEMES[SCHEME[medium]].compositions
        for label in (label for label, _ in found if label not in known):
            raise BadInput.at(place, f"parts: expected a composition, got {label!r}; choose from {', '.join(known)}")
        return found

    return checked


def _listed(medium: Medium, made: Op) -> None:
    """A new composition and a new type become rows of the tables, with or without a rule."""
    types = [made.type] if isinstance(made.type, str) and made.type else []
    extend(SCHEME[medium], types, [made.label] if made.label else [], bool(made.result.yes))


def rule(composition: str, *, medium: Medium, sentence: str, **rest: Any) -> Declare[Any]:
    """A consistency rule: a function of the answers to a question and its sub-questions that says when they agree.

    Keywords as of questree.rules.Rule, and `types` of questions that have it; `yes_no`: are new types answered so?
    """
    from questree.rules import Rule, add

    types, yes_no = rest.pop("types", ()), rest.pop("yes_no", True)

    def declare(reads: Callable[..., Any]) -> Any:
        one_of("rule", composition, "medium", medium, SCHEME)
        takes("rule", composition, reads, "members")
        try:
            add(Rule(composition, reads, sentence, **rest), SCHEME[medium], types, yes_no)
        except (TypeError, ValueError) as error:
            raise wrong("rule", composition, str(error).removeprefix(f"rule {composition}: ")) from error
        extends_language()
        return reads

    return declare


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
        takes("rule of generation", name, fails, "core")
        RULES.add(name, (Look(CORE, needs, fails),))
        return fails

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
        takes("template", name, build, "source", "template")
    for message in check(template, build is None):
        raise wrong("template", name, message)
    if build is not None:
        template = replace(template, builder=name)
        BUILDERS.add(name, build)
    BY_NAME.add(name, template)
    extends_language()
