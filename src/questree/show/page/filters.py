"""Which questions are wanted: every filter is a mask over the questions in memory, kept while pages are turned."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import numpy as np
from numpy.typing import NDArray

from questree.faults import Fault
from questree.show.page.questions import RIGHT, UNKNOWN, WRONG, Judgement, Questions
from questree.show.templates import Choice
from questree.show.views import Mask
from questree.stages.split.grammar import Wrong, check

REMEMBERED = 24
LONGEST, MOST_WORDS = 2000, 50  # characters of a query; words that are looked for, each in all questions
Made = TypeVar("Made")
Judging = Mapping[str, Callable[[Judgement], Mask]]
VERDICTS: Judging = {
    "right": lambda of: of.right == RIGHT,
    "wrong": lambda of: of.right == WRONG,
    "right for the wrong reasons": lambda of: (of.right == RIGHT) & of.wrong_below,
    "wrong, all sub-questions right": lambda of: (of.right == WRONG) & ~of.wrong_below,
    "not answered": lambda of: of.right == UNKNOWN,
}
CONTRADICTIONS: Judging = {
    "yes": lambda of: of.broken > 0,
    "no": lambda of: of.broken == 0,
}


DOTS = re.compile(r"/(\.\.?)/")


def address(path: str, wanted: Mapping[str, str], **changes: Any) -> str:
    """A link that keeps the filters; an id with dots between slashes is no way up, as browsers would have it."""
    place = DOTS.sub(r"/\1%2F", quote(path))
    kept = {name: str(value) for name, value in {**wanted, **changes}.items() if value not in ("", None)}
    return f"{place}?{urlencode(kept)}" if kept else place


@dataclass(frozen=True)
class FilteredRows:
    rows: NDArray[np.int64]  # ascending
    faults: list[Fault]
    kept: dict[Any, Any] = field(default_factory=dict)  # what pages worked out about these rows

    def keep(self, key: tuple[str, ...], make: Callable[[], Made]) -> Made:
        if key not in self.kept:
            self.kept[key] = make()
        kept: Made = self.kept[key]
        return kept


@dataclass(frozen=True)
class Blamed:
    """Why nothing was found."""

    name: str  # of the filter
    value: str
    others: dict[str, str]
    without: int  # questions that all the others let through
    alone: int  # questions it lets through by itself


def apart(wanted: Mapping[str, str]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every filter with its value and all the others; every word is one."""
    for name, value in wanted.items():
        others = {other: own for other, own in wanted.items() if other != name}
        if name != "words":
            yield name, value, others
            continue
        every = phrases(value)
        for at, word in enumerate(every):
            rest = " ".join(f'"{own}"' if " " in own else own for own in every[:at] + every[at + 1 :])
            yield name, f'"{word}"' if " " in word else word, others | ({name: rest} if rest else {})


def phrases(text: str) -> list[str]:
    """Words in small letters; what stands in quotes is one."""
    if len(text) > LONGEST:
        raise Wrong(f"expected at most {LONGEST} characters, got {len(text)}")
    found = [quoted or word for quoted, word in re.findall(r'"([^"]*)"?|(\S+)', text.lower())]
    words = [" ".join(one.split()) for one in found if one.strip()]
    if len(words) > MOST_WORDS:
        raise Wrong(f"expected at most {MOST_WORDS} words, got {len(words)}")
    return words


@dataclass
class Filters:
    """Values come as text from a page's address; what is wrong with them is told, all of it."""

    questions: Questions
    _found: OrderedDict[tuple[tuple[str, str], ...], FilteredRows] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @cached_property
    def masks(self) -> dict[str, Callable[[str, Mapping[str, str]], Mask]]:
        """Name of a filter -> its mask, given its value and those of all others."""
        view, own = self.questions.view, self.questions.columns
        found: dict[str, Callable[[str, Mapping[str, str]], Mask]] = {
            "words": lambda value, _: self.questions.saying(phrases(value)),
            "query": lambda value, _: self.query(value),
            "template": lambda value, _: own["template"] == view.templates.index(self.known(value, "template")),
            "answer": lambda value, _: own["answer"] == self.questions.number[self.known(value, "answer")],
            "split": lambda value, _: self.splits[self.known(value, "split")],
            view.scope: lambda value, _: view.within(value, own["key"]),
            **{name: self.whole(name) for name in view.numbers},
        }
        if not view.decomposed:
            return found
        return found | {
            "type": lambda value, _: self.type(self.known(value, "type")),
            "composition": lambda value, _: self.composition(self.known(value, "composition")),
            "model": lambda value, _: self.everything(self.judgement(value)),
            "verdict": lambda value, all: self.judged(value, "verdict", VERDICTS, all.get("model", "")),
            "contradiction": lambda value, all: self.judged(
                value, "contradiction", CONTRADICTIONS, all.get("model", "")
            ),
            "rule": lambda value, all: self.rule(self.known(value, "rule"), all.get("model", "")),
            "other": lambda value, _: self.everything(self.judgement(value)),
            "other_verdict": lambda value, all: self.judged(value, "verdict", VERDICTS, all.get("other", "")),
        }

    def find(self, wanted: Mapping[str, str]) -> FilteredRows:
        """The questions all filters let through; none if something is wrong with a filter."""
        key = tuple(sorted((name, value) for name, value in wanted.items() if value))
        with self._lock:
            if key not in self._found:
                self._found[key] = self._find(dict(key))
                if len(self._found) > REMEMBERED:
                    self._found.popitem(last=False)
            self._found.move_to_end(key)
            return self._found[key]

    def _find(self, wanted: Mapping[str, str]) -> FilteredRows:
        mask, faults = np.ones(len(self.questions), bool), []
        for name, value in wanted.items():
            try:
                check("filter", (name,), list(self.masks))
                mask &= self.masks[name](value, wanted)
            except Wrong as wrong:
                faults.append(Fault(name.replace("_", " "), str(wrong)))
        return FilteredRows(np.flatnonzero(mask) if not faults else np.zeros(0, np.int64), faults)

    def blamed(self, wanted: Mapping[str, str]) -> "Blamed | None":
        """Of filters that together find nothing, the one without which most is found; or which finds least alone."""
        each = list(apart(wanted))
        if not each:
            return None
        masks = [self.masks[name](value, wanted) for name, value, _ in each]
        against = np.sum([~mask for mask in masks], axis=0)  # [question] filters that exclude it
        without = [int((~mask & (against == 1)).sum()) for mask in masks]
        alone = [int(mask.sum()) for mask in masks]
        at = int(np.argmax(without)) if any(without) else int(np.argmin(alone))
        return Blamed(*each[at], without[at], alone[at])

    def known(self, value: str, name: str) -> str:
        check(name, (value,), [choice.value for choice in self.choices[name]])
        return value

    @cached_property
    def choices(self) -> dict[str, list[Choice]]:
        """The values filters take, with the questions behind them."""
        view, own, words = self.questions.view, self.questions.columns, self.questions.words
        counts = {name: np.bincount(own[name]) for name in ("template", "answer", *view.numbers)}
        answer = counts["answer"]
        found = {
            "template": [Choice(view.templates[at], int(n)) for at, n in enumerate(counts["template"]) if n],
            "answer": [Choice(words[at], int(answer[at])) for at in np.argsort(-answer, kind="stable") if answer[at]],
            "split": [Choice(name, int(mask.sum())) for name, mask in self.splits.items()],
            **{name: [Choice(str(at), int(n)) for at, n in enumerate(counts[name]) if n] for name in view.numbers},
        }
        if not view.decomposed:
            return found
        types = sorted(self.questions.types)
        pooled = [name for name in dict.fromkeys(map(view.scheme.group_of, types)) if name not in types]
        counted = {name: int(self.type(name).sum()) for name in [*types, *pooled]}
        composed = {name: int(self.composition(name).sum()) for name in view.scheme.compositions}
        return found | {
            "type": [Choice(name, n) for name, n in counted.items() if n],
            "composition": [Choice(name, n) for name, n in composed.items() if n],
            "rule": [Choice(name) for name in view.scheme.all_rules],
            "verdict": [Choice(name) for name in VERDICTS],
            "contradiction": [Choice(name) for name in CONTRADICTIONS],
        }

    @cached_property
    def splits(self) -> dict[str, Mask]:
        found = self.questions.view.splits(self.questions.columns["key"])
        return {name: mask for name, mask in found.items() if mask.any()}

    def whole(self, name: str) -> Callable[[str, Mapping[str, str]], Mask]:
        """A filter by a whole number."""
        return lambda value, _: self.questions.columns[name] == int(self.known(value, name))

    def type(self, value: str) -> Mask:
        """A type, or a row of the papers' tables that pools several."""
        group_of = self.questions.view.scheme.group_of
        wanted = [at for at, name in enumerate(self.questions.types) if value in (name, group_of(name))]
        return np.isin(self.questions.columns["type"], wanted)

    def composition(self, value: str) -> Mask:
        at = np.uint64(self.questions.view.scheme.compositions.index(value))
        return np.asarray(self.questions.columns["composition"] >> at & np.uint64(1) > 0)

    def judgement(self, model: str) -> Judgement:
        if not model:
            raise Wrong(f"of which model? There are {', '.join(self.questions.models) or 'none'}")
        if not self.questions.models:
            raise Wrong(f"no model {model!r}: this run has no predictions yet, `questree answer` writes them")
        check("model", (model,), list(self.questions.models))
        return self.questions.models[model].judgement

    def everything(self, _: Judgement) -> Mask:
        return np.ones(len(self.questions), bool)

    def judged(self, value: str, name: str, how: Judging, model: str) -> Mask:
        return how[self.known(value, name)](self.judgement(model))

    def rule(self, value: str, model: str) -> Mask:
        at = np.uint64(self.questions.view.scheme.all_rules.index(value))
        return np.asarray(self.judgement(model).broken >> at & np.uint64(1) > 0)

    def query(self, text: str) -> Mask:
        """What the box above the list takes."""
        if len(text) > LONGEST:
            raise Wrong(f"expected at most {LONGEST} characters, got {len(text)}")
        try:
            return self.questions.in_order(self.questions.view.query(text, self.questions.shards))
        except RecursionError:
            raise Wrong("nested too deeply to be read") from None
