"""The stages of a run as functions, each with the options of its command; what they tell is a value."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from os import fspath
from pathlib import Path
from typing import Any, Literal

from questree.api.made import Made
from questree.api.runs import Run, StrPath
from questree.benchmarks import BENCHMARKS, STAGES, Benchmark, Told, chosen
from questree.faults import Fault, at_least, refuse
from questree.tables import run as tables
from questree.tables.lock import lock
from questree.tables.owners import writing

COUNTS = ("few_shot", "draws", "lexical_pairs", "lexical_alone", "lexical_together")


def carried_out(stage: str, run: StrPath, benchmark: str, workers: int, given: Mapping[str, Any]) -> Told:
    """Let a stage do its work by the recipe of the run's benchmark, and lock what it made."""
    needs, makes = STAGES[stage]
    place = tables.Run(Path(fspath(run)))
    own = chosen(place, benchmark or (run.benchmark if isinstance(run, Run) else ""), needs)
    used = {name: value for name, value in given.items() if value is not None and value is not False}
    refuse(foreign(own, stage, used))
    with writing(place.folder, stage) if makes else nullcontext():
        told = own.recipe(stage).work(place, used, workers)
        if makes and told.wrote:
            lock(place, own.locked(makes))
    return told


def foreign(own: Benchmark, stage: str, used: Mapping[str, object]) -> list[Fault]:
    """Options that mean something for other benchmarks only."""
    faults = []
    for flag in sorted(used.keys() - own.recipe(stage).takes, key=list(used).index):
        scopes = " or ".join(one.scopes for one in BENCHMARKS.values() if flag in one.recipe(stage).takes)
        faults.append(Fault(f"--{flag.replace('_', '-')}", f"expected a run of {scopes}, got {own.scopes}"))
    return faults


def _made(stage: str, given: Mapping[str, Any]) -> Made:
    """By the arguments of a function below."""
    options = {name: _path(name, value) for name, value in given.items()}
    run, benchmark, workers = (options.pop(name) for name in ("run", "benchmark", "workers"))
    told = carried_out(stage, run, benchmark, workers, options)
    return Made(stage, list(told.said), told.record, told.remarks)


def _path(name: str, value: Any) -> Any:
    """Files and folders may be texts."""
    if name == "templates" and isinstance(value, Sequence):
        return [Path(each) for each in ([value] if isinstance(value, str) else value)]
    return Path(value) if name in ("words", "splits", "absent") and isinstance(value, str) else value


def generate(
    run: StrPath,
    *,
    benchmark: str = "",
    seed: int = 1,
    references: int | None = None,
    rare_below: int | None = None,
    shard: int | None = None,
    phrases: int | None = None,
    edition: Literal["2.0", "1.0"] | None = None,
    text: bool = False,
    estimate: bool = False,
    questions: int | None = None,
    words: StrPath | None = None,
    verify: str | None = None,
    verify_others: str | None = None,
    distractors: Literal["near", "random"] | None = None,
    at_most_as_paper: bool = False,
    templates: Sequence[StrPath] | None = None,
    only_templates: bool = False,
    closed_world: bool = False,
    workers: int = 2,
) -> Made:
    """Generate the questions of a run, as `questree generate` does.

    Videos take references, rare_below, shard, phrases, edition, text, estimate, closed_world; image sets take
    questions, words, verify, verify_others, distractors, at_most_as_paper. `questree generate --help` explains each.

    >>> questree.generate("images", questions=8, workers=1)
    <Made by generate: wrote 6 questions to images/covr>
    """
    return _made("generate", locals())


def balance(
    run: StrPath,
    *,
    benchmark: str = "",
    seed: int = 1,
    questions: int | None = None,
    shares: str | None = None,
    tail: float | None = None,
    ratio: float | None = None,
    factor: float | None = None,
    few: int | None = None,
    top_answers: float | None = None,
    top_questions: float | None = None,
    least: float | None = None,
    workers: int = 2,
) -> Made:
    """Select questions so that their answers are balanced, as `questree balance` does.

    Image sets take questions and seed, videos all others; `questree balance --help` explains each.

    >>> questree.balance("images").lines
    ['kept 16 of 20 in images/covr']
    """
    return _made("balance", locals())


def split(
    run: StrPath,
    *,
    benchmark: str = "",
    splits: StrPath | None = None,
    every: bool = False,
    more_steps: str | None = None,
    as_released: bool = False,
    name: list[str] | None = None,
    few_shot: int | None = None,
    curve: str | None = None,
    seed: int | None = None,
    draws: int | None = None,
    lexical_pairs: int | None = None,
    lexical_alone: int | None = None,
    lexical_together: int | None = None,
    workers: int = 2,
) -> Made:
    """Split a run's questions into train and test in several ways, as `questree split` does.

    Videos take more_steps and as_released, image sets what follows them; `questree split --help` explains each.

    >>> questree.split("images", name=["HAS-QUANT"], workers=1)
    <Made by split: wrote images/covr/splits>
    """
    given = dict(locals())
    refuse(at_least(0, {name: given[name] for name in COUNTS}))
    return _made("split", given | {"all": given.pop("every")})


def decompose(
    run: StrPath,
    *,
    benchmark: str = "",
    balanced: bool | None = None,
    closed: bool | None = None,
    rules_only: bool = False,
    absent: StrPath | None = None,
    invalid_actions: int = 0,
    train_set: bool = False,
    words: StrPath | None = None,
    workers: int = 2,
) -> Made:
    """Take every question of a run apart into its DAG and answer each part, as `questree decompose` does.

    `balanced`: the selection (default, if there is one) or all questions. Videos take closed, rules_only, absent,
    invalid_actions and train_set, image sets words; `questree decompose --help` explains each.

    >>> questree.decompose("images", workers=1).data()["questions"]
    16
    """
    given = dict(locals())
    given |= {"all": balanced is False, "open": closed is False, "invalid_actions": invalid_actions or None}
    return _made("decompose", given)


def audit(
    run: StrPath, *, benchmark: str = "", most: int = 500_000, seed: int = 1, templates: bool = False, workers: int = 2
) -> Made:
    """Guess the answers without looking at videos or images, as `questree audit` does.

    >>> questree.audit("images", workers=1)
    <Made by audit: wrote audit.json and plots to images/covr/audit>
    """
    return _made("audit", locals())
