"""The stages of a run as functions, each with the options of its command; what they tell is a value."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from questree.api.made import Made
from questree.api.runs import Run, StrPath
from questree.benchmarks import BENCHMARKS, STAGES, Benchmark, Told, chosen
from questree.faults import BadInput, Fault, at_least, refuse
from questree.places import path_of
from questree.tables import run as tables
from questree.tables.lock import lock
from questree.tables.owners import writing
from questree.workers import in_parallel, whole

COUNTS = ("few_shot", "draws", "lexical_pairs", "lexical_alone", "lexical_together")


def carried_out(stage: str, run: StrPath, benchmark: str, workers: int, given: Mapping[str, Any]) -> Told:
    """Let a stage do its work by the recipe of the run's benchmark, and lock what it made."""
    needs, makes = STAGES[stage]
    place = tables.Run.at(run)
    own = chosen(place, benchmark or (run.benchmark if isinstance(run, Run) else ""), needs)
    used = {name: value for name, value in given.items() if value is not None and value is not False}
    refuse(foreign(own, stage, used))
    with writing(place.folder, stage):
        recipe = own.recipe(stage)
        if recipe.shared or not in_parallel(1):
            told = recipe.work(place, used, workers)
        else:
            told = whole(_on_worker, stage, own.name, place.folder, used, workers)
        if told.wrote:
            lock(place, own.locked(makes))
    return told


def _on_worker(stage: str, benchmark: str, run: Path, used: Mapping[str, Any], workers: int) -> Told:
    """What is told is worked out there, too."""
    told = BENCHMARKS[benchmark].recipe(stage).work(tables.Run(run), used, workers)
    return replace(told, said=list(told.said), remarks=list(told.remarks))


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
        return [path_of(each) for each in ([value] if isinstance(value, str) else value)]
    return path_of(value) if name in ("words", "splits", "absent", "without") and isinstance(value, str) else value


def generate(
    run: StrPath,
    *,
    benchmark: str = "",
    seed: int = 1,
    references: int | None = None,
    rare_below: int | None = None,
    shard: int | None = None,
    phrases: int | None = None,
    most_per_video: int | None = None,
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
    as_released: bool = False,
    workers: int = 2,
) -> Made:
    """Generate the questions of a run: all that its facts about videos give, or some about sets of its images.

    An interrupted run about videos goes on where it stopped. Image sets of train, dev and test share no image.

    Parameters
    ----------
    run
        Run folder with facts (`questree augment`, or `questree ingest gqa` and the like for images).
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    seed
        Seed of the draws.
    references
        Videos: number of references kept per object and kind. [3]
    rare_below
        Videos: fewest frames of the corpus on which a pair must be seen. [10]
    shard
        Videos: largest number of videos per file. [128]
    phrases
        Videos: largest number of time phrases per video. [default: all]
    most_per_video
        Videos: largest number of questions of a video; of one with more a sample is asked about. [3,000,000]
    edition
        Videos: edition of AGQA. [2.0]
    text
        Videos: also write every question's text.
    estimate
        Videos: say how many questions and bytes are coming, and make none.
    questions
        Image sets: largest number of questions of train, dev and test together. [100,000]
    words
        Image sets: folder of word tables. [default: the shipped ones]
    verify
        Image sets: scores of distractors, module:function or a file [{image, graph, score}].
    verify_others
        Image sets: scores of unannotated instances, module:function or a file as for `verify`.
    distractors
        Image sets: images that nearly contain what is referred to, or any (EasyDistractors). [near]
    at_most_as_paper
        Image sets: say "at most K" as in COVR; images without any do not count.
    templates
        TOML file of further templates; several may be given.
    only_templates
        Ask only the further templates.
    closed_world
        Videos with actions alone: ask everything; what nobody annotated is taken for absent.
    as_released
        Videos: ask of repeated actions as AGQA's release does, whichever time of them is meant.
    workers
        Number of processes.

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
    share_tolerance: float | None = None,
    tail: float | None = None,
    ratio: float | None = None,
    factor: float | None = None,
    few: int | None = None,
    top_answers: float | None = None,
    top_questions: float | None = None,
    least: float | None = None,
    without: StrPath | None = None,
    untimed_keys: bool = False,
    as_released: bool = False,
    workers: int = 2,
) -> Made:
    """Select questions so that their answers are balanced, each split apart.

    Videos: answers and structures, as AGQA does. Image sets: templates, answers and sizes of references, as COVR does.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate`).
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    seed
        Seed of the draws.
    questions
        Image sets: N in S = N / T, over all splits. [default: all questions]
    shares
        Videos: per cent of each structure. [default: query=50,compare=15,choose=15,verify=15,logic=5]
    share_tolerance
        Videos: per cent points by which a share may miss; the other structures are cut, query too. [default: any]
    tail
        Videos: share of the rarest answers to leave alone. [0.05]
    ratio
        Videos: ratio of head to tail answers at first. [3.0]
    factor
        Videos: factor of the ratio after a failed pass. [0.75]
    few
        Videos: questions of an answer that end a pass. [10]
    top_answers
        Videos: share of a template's answers, the most frequent ones, ... [0.2]
    top_questions
        Videos: ... and the share of its questions that may have one of them. [0.3]
    least
        Videos: share of the questions that must stay where answers are levelled. [0.1]
    without
        CSV of id and reason: questions to leave out, as `questree people export --rejected` writes.
    untimed_keys
        Videos: as many yes as no per template and arguments, whatever the time phrase: more questions stay.
    as_released
        Videos: as AGQA's release: answers may follow from rules alone, and top answers may still dominate.
    workers
        Number of processes.

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
    """Split a run's questions into train and test in several ways; each split proves itself.

    Videos: by video, novel compositions, more steps, indirect references. Image sets: COVR's 21 splits, with dev.

    Parameters
    ----------
    run
        Run folder with questions; the balanced selection is split, if there is one.
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    splits
        YAML file with your own splits.
    every
        Take every question, not only the balanced selection.
    more_steps
        Videos: largest number of steps in train, as in relTime=5,objWhat=3.
    as_released
        Videos: novel compositions by the flags of AGQA's release.
    name
        Image sets: make only this split; several may be given.
    few_shot
        Image sets: number of examples with the property that stay in train. [250]
    curve
        Image sets: training lists with so many examples of what is held out, as in 0,50,250,all.
    seed
        Image sets: seed of the draws. [0]
    draws
        Image sets: number of seeds of the program and the lexical split. [3]
    lexical_pairs
        Image sets: number of pairs of terms held out. [65]
    lexical_alone
        Image sets: fewest questions of train with one term but not the other. [50]
    lexical_together
        Image sets: fewest questions of test with both terms. [15]
    workers
        Number of processes.

    >>> questree.split("images", name=["HAS-QUANT"], workers=1)
    <Made by split: wrote images/covr/splits>
    """
    given = dict(locals())
    refuse(at_least(0, {name: given[name] for name in COUNTS}))
    return _made("split", given | {"all": given.pop("every")})


def decompose(
    run: StrPath | None = None,
    *,
    benchmark: str = "",
    balanced: bool | None = None,
    closed: bool | None = None,
    rules_only: bool = False,
    absent: StrPath | None = None,
    invalid_actions: int = 0,
    train_set: bool = False,
    words: StrPath | None = None,
    from_agqa: StrPath | None = None,
    answers: Sequence[StrPath] | None = None,
    out: StrPath | None = None,
    workers: int = 2,
) -> Made:
    """Take every question of a run apart into its DAG of sub-questions, and answer each of them by execution.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate` writes them); left out with `from_agqa`.
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    balanced
        Take the balanced selection (if there is one), or all questions.
    closed
        Videos, closed world: what nobody annotated is not there. Open: it is not said. Synthetic runs are closed.
    rules_only
        Videos: do not run programs; keep what rules make of the questions' answers.
    absent
        Videos: file of objects labelled absent, CSV video,object or JSON {video: [object]}.
    invalid_actions
        Videos: number of actions per video that do not occur, for questions with the answer no.
    train_set
        Videos: also choose sub-questions to train on, with balanced answers.
    words
        Image sets: folder of word tables. [default: the shipped ones]
    from_agqa
        A released AGQA question file instead of a run; no scene graphs needed.
    answers
        With `from_agqa`: unbalanced question files, or folders with such, whose answers are used.
    out
        With `from_agqa`: folder for the hierarchies.
    workers
        Number of processes.

    >>> questree.decompose("images", workers=1).data()["questions"]
    16
    """
    given = dict(locals())
    if from_agqa is not None:
        from questree.api.released import decompose_file

        used = balanced is not None or closed is not None or rules_only or invalid_actions or train_set
        if run or out is None or used:
            fits = "--out DIR, --answers FILE, --absent FILE, --workers N and no run folder"
            why = "a file of questions is taken apart whole, by rules only"
            raise BadInput.at("decompose", f"--from-agqa FILE goes with {fits}; {why}")
        return decompose_file(from_agqa, out=out, absent=absent, answers=answers or (), workers=workers)
    if run is None or out or answers:
        raise BadInput.at("decompose", "expected a run folder, or --from-agqa FILE and --out DIR")
    given |= {"all": balanced is False, "open": closed is False, "invalid_actions": invalid_actions or None}
    return _made("decompose", given)


def audit(
    run: StrPath, *, benchmark: str = "", most: int = 500_000, seed: int = 1, templates: bool = False, workers: int = 2
) -> Made:
    """Guess the answers without looking at videos or images, before and after balancing; nothing should get far.

    Parameters
    ----------
    run
        Run folder with questions, and better with a balanced selection; tables and plots go to its folder `audit`
        (image sets: `covr/audit`).
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    most
        Largest number of questions per set and split whose text is read.
    seed
        Seed of the draws.
    templates
        Also print one line per template.
    workers
        Number of processes.

    >>> questree.audit("images", workers=1)
    <Made by audit: wrote audit.json and plots to images/covr/audit>
    """
    return _made("audit", locals())
