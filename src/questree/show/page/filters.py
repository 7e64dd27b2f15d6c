"""Which questions are wanted: every filter is a mask over the questions in memory, kept while pages are turned."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import numpy as np
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.faults import Fault
from questree.metrics.dags.names import GROUP
from questree.show.page.models import RIGHT, RULES, UNKNOWN, WRONG, Judgement
from questree.show.page.questions import ALL_TYPES, KEY, Questions
from questree.stages.split.algebra import Predicate
from questree.stages.split.grammar import Wrong, check
from questree.stages.split.language import read
from questree.stages.split.work import read_split
from questree.tables.nodes import COMPOSITIONS

Mask = NDArray[np.bool_]  # [question]
REMEMBERED = 24
LONGEST = 2000  # characters of a query
VERDICTS: dict[str, Callable[[Judgement], Mask]] = {
    "right": lambda of: of.right == RIGHT,
    "wrong": lambda of: of.right == WRONG,
    "right for the wrong reasons": lambda of: (of.right == RIGHT) & of.wrong_below,
    "wrong, all sub-questions right": lambda of: (of.right == WRONG) & ~of.wrong_below,
    "not answered": lambda of: of.right == UNKNOWN,
}
CONTRADICTIONS: dict[str, Callable[[Judgement], Mask]] = {
    "yes": lambda of: of.broken > 0,
    "no": lambda of: of.broken == 0,
}


def address(path: str, wanted: Mapping[str, str], **changes: Any) -> str:
    """A link that keeps the filters."""
    kept = {name: str(value) for name, value in {**wanted, **changes}.items() if value not in ("", None)}
    return f"{quote(path)}?{urlencode(kept)}" if kept else quote(path)


@dataclass(frozen=True)
class Choice:
    value: str
    count: int | None = None  # questions of the run


@dataclass(frozen=True)
class Found:
    rows: NDArray[np.int64]  # ascending
    faults: list[Fault]
    kept: dict[Any, Any] = field(default_factory=dict)  # what pages worked out about these rows


@dataclass
class Filters:
    """Values come as text from a page's address; what is wrong with them is told, all of it."""

    questions: Questions
    _found: OrderedDict[tuple[tuple[str, str], ...], Found] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @cached_property
    def masks(self) -> dict[str, Callable[[str, Mapping[str, str]], Mask]]:
        """Name of a filter -> its mask, given its value and those of all others."""
        own = self.questions.columns
        found: dict[str, Callable[[str, Mapping[str, str]], Mask]] = {
            "query": lambda value, _: self.query(value),
            "template": lambda value, _: (
                own["template"] == [t.name for t in TEMPLATES].index(self.known(value, "template"))
            ),
            "steps": lambda value, _: own["steps"] == int(self.known(value, "steps")),
            "answer": lambda value, _: own["answer"] == self.questions.number[self.known(value, "answer")],
            "split": lambda value, _: self.split(self.known(value, "split")),
            "video": lambda value, _: self.video(value),
        }
        if not self.questions.decomposed:
            return found
        return found | {
            "type": lambda value, _: self.type(self.known(value, "type")),
            "composition": lambda value, _: self.bit(
                "composition", COMPOSITIONS.index(self.known(value, "composition"))
            ),
            "model": lambda value, _: self.everything(self.judgement(value)),
            "verdict": lambda value, all: self.judged(value, "verdict", VERDICTS, all.get("model", "")),
            "contradiction": lambda value, all: self.judged(
                value, "contradiction", CONTRADICTIONS, all.get("model", "")
            ),
            "rule": lambda value, all: self.rule(self.known(value, "rule"), all.get("model", "")),
            "other": lambda value, _: self.everything(self.judgement(value)),
            "other_verdict": lambda value, all: self.judged(value, "verdict", VERDICTS, all.get("other", "")),
        }

    def find(self, wanted: Mapping[str, str]) -> Found:
        """The questions all filters let through; none if something is wrong with a filter."""
        key = tuple(sorted((name, value) for name, value in wanted.items() if value))
        with self._lock:
            if key not in self._found:
                self._found[key] = self._find(dict(key))
                if len(self._found) > REMEMBERED:
                    self._found.popitem(last=False)
            self._found.move_to_end(key)
            return self._found[key]

    def _find(self, wanted: Mapping[str, str]) -> Found:
        mask, faults = np.ones(len(self.questions), bool), []
        for name, value in wanted.items():
            try:
                check("filter", (name,), list(self.masks))
                mask &= self.masks[name](value, wanted)
            except Wrong as wrong:
                faults.append(Fault(name.replace("_", " "), str(wrong)))
        return Found(np.flatnonzero(mask) if not faults else np.zeros(0, np.int64), faults)

    def known(self, value: str, name: str) -> str:
        check(name, (value,), [choice.value for choice in self.choices[name]])
        return value

    @cached_property
    def choices(self) -> dict[str, list[Choice]]:
        """The values filters take, with the questions behind them."""
        own = self.questions.columns
        steps, template, answer = (np.bincount(own[name]) for name in ("steps", "template", "answer"))
        words = self.questions.words
        found = {
            "template": [Choice(TEMPLATES[at].name, int(n)) for at, n in enumerate(template) if n],
            "steps": [Choice(str(at), int(n)) for at, n in enumerate(steps) if n],
            "answer": [Choice(words[at], int(answer[at])) for at in np.argsort(-answer, kind="stable") if answer[at]],
            "split": [Choice(name, int(mask.sum())) for name, mask in self.splits.items()],
        }
        if not self.questions.decomposed:
            return found
        names = [group for group in dict.fromkeys(GROUP.values()) if group not in ALL_TYPES]
        types = [Choice(name, int(self.type(name).sum())) for name in [*ALL_TYPES, *names]]
        compositions = [Choice(name, int(self.bit("composition", at).sum())) for at, name in enumerate(COMPOSITIONS)]
        return found | {
            "type": [choice for choice in types if choice.count],
            "composition": [choice for choice in compositions if choice.count],
            "rule": [Choice(name) for name in RULES],
            "verdict": [Choice(name) for name in VERDICTS],
            "contradiction": [Choice(name) for name in CONTRADICTIONS],
        }

    @cached_property
    def splits(self) -> dict[str, Mask]:
        """Train and test of the videos, and of every split that was written."""
        run = self.questions.bank.run
        video = self.questions.key // KEY
        found = {name: (self.questions.splits == name).to_numpy()[video] for name in ("train", "test")}
        for folder in sorted(path for path in (run.folder / "splits").glob("*") if path.is_dir()):
            for side, table in read_split(run, folder.name).items():
                keys = table["video"].to_numpy().astype(np.int64) * KEY + table["number"].to_numpy()
                found[f"{folder.name} {side}"] = self.questions.holding(keys)
        return {name: mask for name, mask in found.items() if mask.any()}

    def split(self, value: str) -> Mask:
        return self.splits[value]

    def video(self, value: str) -> Mask:
        check("video", (value,), self.questions.bank.ids)
        at = self.questions.video_at[value]
        begin, end = np.searchsorted(self.questions.key, [at * KEY, (at + 1) * KEY])
        found = np.zeros(len(self.questions), bool)
        found[begin:end] = True
        return found

    def type(self, value: str) -> Mask:
        """A type, or a row of the papers' tables that pools several."""
        wanted = [at for at, name in enumerate(ALL_TYPES) if value in (name, GROUP.get(name))]
        return np.isin(self.questions.columns["type"], wanted)

    def bit(self, column: str, at: int) -> Mask:
        return np.asarray(self.questions.columns[column] & np.uint16(1 << at) > 0)

    def judgement(self, model: str) -> Judgement:
        if not model:
            raise Wrong(f"of which model? There are {', '.join(self.questions.models) or 'none'}")
        if not self.questions.models:
            raise Wrong(f"no model {model!r}: this run has no predictions yet, `questree answer` writes them")
        check("model", (model,), list(self.questions.models))
        return self.questions.models[model].judgement

    def everything(self, _: Judgement) -> Mask:
        return np.ones(len(self.questions), bool)

    def judged(self, value: str, name: str, how: Mapping[str, Callable[[Judgement], Mask]], model: str) -> Mask:
        return how[self.known(value, name)](self.judgement(model))

    def rule(self, value: str, model: str) -> Mask:
        return np.asarray(self.judgement(model).broken & np.uint32(1 << RULES.index(value)) > 0)

    def query(self, text: str) -> Mask:
        """The language of splits."""
        if len(text) > LONGEST:
            raise Wrong(f"wanted at most {LONGEST} characters, came {len(text)}")
        try:
            predicate = read(text, self.questions.bank.vocabulary, self.most_steps)
            return self._holding(predicate)
        except RecursionError:
            raise Wrong("nested too deeply to be read") from None

    def _holding(self, predicate: Predicate) -> Mask:
        if "more_steps" in str(predicate) and not self.most_steps:
            raise Wrong("more_steps: `questree split` says where more steps begin, and it was not run")
        shards = range(len(self.questions.shards))
        parts = [predicate.holds(self.questions.rows(at)) for at in shards if len(self.questions.rows(at))]
        return np.concatenate(parts) if parts else np.zeros(0, bool)

    @cached_property
    def most_steps(self) -> tuple[int, ...]:
        """Per template, where its splits say so."""
        report = self.questions.bank.run.folder / "splits" / "report.json"
        if not report.is_file():
            return ()
        steps: dict[str, Any] = msgspec.json.decode(report.read_bytes())["options"]["more steps"]
        return tuple(int(steps[template.name]) for template in TEMPLATES)
