"""The stages of a run of any benchmark: options in, its recipe at work, tables out."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from questree.api.stages import COUNTS, carried_out
from questree.cli.shared_options import (
    BenchmarkOption,
    ClosedWorldOption,
    EveryOption,
    PhrasesOption,
    SeedOption,
    ShardOption,
    Whole,
    WordsOption,
    WorkersOption,
)
from questree.cli.terminal import output, tell, tell_made, watching, write_json
from questree.faults import BadInput, Fault, at_least, refuse

Share = float | None


def carry_out(stage: str, run: Path, benchmark: str, workers: int, **given: Any) -> Any:
    """Let a stage do its work by the recipe of the run's benchmark, tell about it and return what it made."""
    with watching():
        told = carried_out(stage, run, benchmark, workers, given)
    tell(told.said)
    write_json(told.record)
    return told.record


@output
def generate_command(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    seed: SeedOption = 1,
    references: Annotated[
        int | None, Parameter(help="Videos: number of references kept per object and kind. [3]")
    ] = None,
    rare_below: Annotated[
        int | None, Parameter(help="Videos: fewest frames of the corpus on which a pair must be seen. [10]")
    ] = None,
    shard: ShardOption = None,
    phrases: PhrasesOption = None,
    edition: Annotated[Literal["2.0", "1.0"] | None, Parameter(help="Videos: edition of AGQA. [2.0]")] = None,
    text: Annotated[bool, Parameter(help="Videos: also write every question's text.")] = False,
    estimate: Annotated[
        bool, Parameter(negative=(), help="Videos: say how many questions and bytes are coming, and make none.")
    ] = False,
    questions: Annotated[
        int | None, Parameter(help="Image sets: largest number of questions of train, dev and test together. [100,000]")
    ] = None,
    words: WordsOption = None,
    verify: Annotated[
        str | None,
        Parameter(help="Image sets: scores of distractors, module:function or a file [{image, graph, score}]."),
    ] = None,
    verify_others: Annotated[
        str | None,
        Parameter(help="Image sets: scores of unannotated instances, module:function or a file like --verify's."),
    ] = None,
    distractors: Annotated[
        Literal["near", "random"] | None,
        Parameter(help="Image sets: images that nearly contain what is referred to, or any (EasyDistractors). [near]"),
    ] = None,
    at_most_as_paper: Annotated[
        bool,
        Parameter(negative="", help='Image sets: say "at most K" as in COVR; images without any do not count.'),
    ] = False,
    templates: Annotated[
        list[Path] | None, Parameter(help="TOML file of further templates; may be given several times.")
    ] = None,
    only_templates: Annotated[bool, Parameter(help="Ask only the further templates.", negative=())] = False,
    closed_world: ClosedWorldOption = False,
    workers: WorkersOption = 2,
) -> None:
    """Generate the questions of a run: all that its facts about videos give, or some about sets of its images.

    An interrupted run about videos goes on where it stopped. Image sets of train, dev and test share no image.

    Parameters
    ----------
    run
        Run folder with facts (`questree augment`, or `questree ingest gqa` and the like for images).
    """
    carry_out("generate", **locals())


@output
def balance(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    seed: SeedOption = 1,
    questions: Annotated[
        int | None, Parameter(help="Image sets: N in S = N / T, over all splits. [default: all questions]")
    ] = None,
    shares: Annotated[
        str | None,
        Parameter(
            help="Videos: per cent of each structure. [default: query=50,compare=15,choose=15,verify=15,logic=5]"
        ),
    ] = None,
    tail: Annotated[Share, Parameter(help="Videos: share of the rarest answers to leave alone. [0.05]")] = None,
    ratio: Annotated[Share, Parameter(help="Videos: ratio of head to tail answers at first. [3.0]")] = None,
    factor: Annotated[Share, Parameter(help="Videos: factor of the ratio after a failed pass. [0.75]")] = None,
    few: Annotated[int | None, Parameter(help="Videos: questions of an answer that end a pass. [10]")] = None,
    top_answers: Annotated[Share, Parameter(help="Videos: stop when this share of the answers ... [0.2]")] = None,
    top_questions: Annotated[
        Share, Parameter(help="Videos: ... has at most this share of the questions. [0.3]")
    ] = None,
    least: Annotated[Share, Parameter(help="Videos: share of a key's questions that must stay. [0.1]")] = None,
    workers: WorkersOption = 2,
) -> None:
    """Select questions so that their answers are balanced, each split apart.

    Videos: answers and structures, as AGQA does. Image sets: templates, answers and sizes of references, as COVR does.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate`).
    """
    carry_out("balance", **locals())


@output
def split(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    splits: Annotated[Path | None, Parameter(help="YAML file with your own splits.")] = None,
    every: EveryOption = False,
    more_steps: Annotated[
        str | None, Parameter(help="Videos: largest number of steps in train, as in relTime=5,objWhat=3.")
    ] = None,
    as_released: Annotated[
        bool, Parameter(help="Videos: novel compositions by the flags of AGQA's release.", negative=())
    ] = False,
    name: Annotated[
        list[str] | None, Parameter(help="Image sets: make only this split; may be given again.", negative="")
    ] = None,
    few_shot: Annotated[
        int | None, Parameter(help="Image sets: number of examples with the property that stay in train. [250]")
    ] = None,
    curve: Annotated[
        str | None,
        Parameter(help="Image sets: training lists with so many examples of what is held out, as in 0,50,250,all."),
    ] = None,
    seed: Annotated[int | None, Parameter(help="Image sets: seed of the draws. [0]")] = None,
    draws: Annotated[
        int | None, Parameter(help="Image sets: number of seeds of the program and the lexical split. [3]")
    ] = None,
    lexical_pairs: Annotated[int | None, Parameter(help="Image sets: number of pairs of terms held out. [65]")] = None,
    lexical_alone: Annotated[
        int | None, Parameter(help="Image sets: fewest questions of train with one term but not the other. [50]")
    ] = None,
    lexical_together: Annotated[
        int | None, Parameter(help="Image sets: fewest questions of test with both terms. [15]")
    ] = None,
    workers: WorkersOption = 2,
) -> None:
    """Split a run's questions into train and test in several ways; each split proves itself.

    Videos: by video, novel compositions, more steps, indirect references. Image sets: COVR's 21 splits, with dev.

    Parameters
    ----------
    run
        Run folder with questions; the balanced selection is split, if there is one.
    """
    given = locals()
    refuse(at_least(0, {name: given[name] for name in COUNTS}))
    carry_out("split", all=given.pop("every"), **given)


@output
def decompose_command(
    run: Path | None = None,
    /,
    *,
    benchmark: BenchmarkOption = "",
    balanced: Annotated[
        bool | None,
        Parameter(negative="--all", help="Take the balanced selection (if there is one), or all questions."),
    ] = None,
    closed: Annotated[
        bool | None,
        Parameter(
            negative="--open",
            help="Videos, closed world: what nobody annotated is not there. Open: it is not said. "
            "Synthetic runs are closed.",
        ),
    ] = None,
    rules_only: Annotated[
        bool,
        Parameter(negative="", help="Videos: do not run programs; keep what rules make of the questions' answers."),
    ] = False,
    absent: Annotated[
        Path | None,
        Parameter(help="Videos: file of objects labelled absent, CSV video,object or JSON {video: [object]}."),
    ] = None,
    invalid_actions: Annotated[
        Whole,
        Parameter(help="Videos: number of actions per video that do not occur, for questions with the answer no."),
    ] = 0,
    train_set: Annotated[
        bool, Parameter(negative="", help="Videos: also choose sub-questions to train on, with balanced answers.")
    ] = False,
    words: WordsOption = None,
    from_agqa: Annotated[
        Path | None, Parameter(help="A released AGQA question file instead of a run; no scene graphs needed.")
    ] = None,
    answers: Annotated[
        list[Path] | None,
        Parameter(
            help="With --from-agqa: unbalanced question file, or folder with such, whose answers are used; repeatable.",
            negative="",
        ),
    ] = None,
    out: Annotated[Path | None, Parameter(help="With --from-agqa: folder for the hierarchies.")] = None,
    workers: WorkersOption = 2,
) -> None:
    """Take every question of a run apart into its DAG of sub-questions, and answer each of them by execution.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate` writes them); left out with --from-agqa.
    """
    if from_agqa:
        used = balanced is not None or closed is not None or rules_only or invalid_actions or train_set
        if run or out is None or used:
            wanted = (
                "--from-agqa FILE goes with --out DIR, --answers FILE, --absent FILE, --workers N and no run folder;"
            )
            raise BadInput.at("decompose", f"{wanted} a file of questions is taken apart whole, by rules only")
        from questree.api.released import decompose_file

        with watching():
            made = decompose_file(from_agqa, out=out, absent=absent, answers=answers or (), workers=workers)
        tell_made(made)
        return
    if run is None or out or answers:
        raise BadInput.at("decompose", "expected a run folder, or --from-agqa FILE --out DIR")
    carry_out(
        "decompose",
        run,
        benchmark,
        workers,
        balanced=balanced,
        all=balanced is False,
        closed=closed,
        open=closed is False,
        rules_only=rules_only,
        absent=absent,
        invalid_actions=invalid_actions or None,
        train_set=train_set,
        words=words,
    )


@output
def audit(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    most: Annotated[int, Parameter(help="Largest number of questions per set and split whose text is read.")] = 500_000,
    seed: SeedOption = 1,
    templates: Annotated[bool, Parameter(help="Also print one line per template.")] = False,
    fail_above: Annotated[
        float | None, Parameter(help="Exit with 1 if a guesser gets more per cent of all test questions right.")
    ] = None,
    workers: WorkersOption = 2,
) -> None:
    """Guess the answers without looking at videos or images, before and after balancing; nothing should get far.

    Parameters
    ----------
    run
        Run folder with questions, and better with a balanced selection; tables and plots go to its folder `audit`
        (image sets: `covr/audit`).
    """
    found = carry_out("audit", run, benchmark, workers, most=most, seed=seed, templates=templates)
    refuse(
        [
            Fault("audit", f"{name}: {100 * value:.1f} % of all test questions, more than {fail_above:g} %")
            for name, value in found.guessed().items()
            if fail_above is not None and 100 * value > fail_above
        ]
    )


@output
def ground(
    run: Path,
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder to write; an earlier grounding there is replaced.")],
    format: Annotated[Literal["jsonl", "parquet"], Parameter()] = "jsonl",
    split: Annotated[str, Parameter(help="Split to take: train, dev (image sets), test, or all.")] = "test",
    every: EveryOption = False,
    sample: Annotated[int, Parameter(help="Number of questions to draw; 0 for all.")] = 0,
    seed: Annotated[int, Parameter(help="Seed of the sample.")] = 0,
    benchmark: BenchmarkOption = "",
    words: WordsOption = None,
) -> None:
    """What each question is about, from the evidence of its program: boxes to keep or to remove, frames to show.

    Parameters
    ----------
    run
        Run folder with questions about videos or about images.
    """
    from questree.api.answering import ground as grounded

    with watching():
        made = grounded(
            run, out=out, format=format, split=split, every=every, sample=sample, seed=seed, benchmark=benchmark,
            words=words,
        )  # fmt: skip
    tell_made(made)
