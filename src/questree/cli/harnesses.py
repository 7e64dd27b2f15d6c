"""`questree export` for harnesses: lmms-eval, VLMEvalKit, inspect_ai, datasets of Hugging Face."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api import exporting
from questree.cli.formats import OutOption
from questree.cli.shared_options import BenchmarkOption, SeedOption, Whole
from questree.cli.terminal import output, tell_made, watching

QuestionsOption = Annotated[
    Whole,
    Parameter(help="Number of questions to draw, types and answers alike often; each with its whole DAG. 0: all."),
]
PromptOption = Annotated[str, Parameter(help="Prompt of `questree ask`: short, scoped, reasoned, or a TOML file.")]
SplitOption = Annotated[str, Parameter(help="Questions of this split; `all` for every one.")]
MediaOption = Annotated[
    Path | None,
    Parameter(help="Folder of frames, DIR/<video>/<frame>.png, of videos, or of images, DIR/<image>.png or .jpg."),
]
FramesOption = Annotated[Whole, Parameter(help="Videos: largest number of frames to show, evenly spread.")]
VideoOption = Annotated[
    bool, Parameter(negative="", help="Videos: hand over the file DIR/<video>.mp4 instead of frames.")
]


@output
def export_inspect(
    run: Path,
    /,
    *,
    out: OutOption,
    split: SplitOption = "test",
    questions: QuestionsOption = 0,
    seed: SeedOption = 0,
    prompt: PromptOption = "short",
    media: MediaOption = None,
    frames: FramesOption = 8,
    benchmark: BenchmarkOption = "",
) -> None:
    """Write questions and sub-questions as a task of inspect_ai, with scorers for accuracy, CA, RWR and IC.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    asked = {"split": split, "questions": questions, "seed": seed, "prompt": prompt, "benchmark": benchmark}
    export(run, "inspect", out=out, media=media, frames=frames, **asked)


@output
def export_lmms_eval(
    run: Path,
    /,
    *,
    out: OutOption,
    split: SplitOption = "test",
    questions: QuestionsOption = 0,
    seed: SeedOption = 0,
    prompt: PromptOption = "short",
    media: MediaOption = None,
    frames: FramesOption = 8,
    video: VideoOption = False,
    benchmark: BenchmarkOption = "",
) -> None:
    """Write questions and sub-questions as a task of lmms-eval, clustered by video.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    asked = {"split": split, "questions": questions, "seed": seed, "prompt": prompt, "benchmark": benchmark}
    export(run, "lmms-eval", out=out, media=media, frames=frames, video=video, **asked)


@output
def export_vlmevalkit(
    run: Path,
    /,
    *,
    out: OutOption,
    split: SplitOption = "test",
    questions: QuestionsOption = 0,
    seed: SeedOption = 0,
    prompt: PromptOption = "short",
    media: MediaOption = None,
    frames: FramesOption = 8,
    video: VideoOption = False,
    inline: Annotated[bool, Parameter(negative="", help="Put the pictures into the table.")] = False,
    benchmark: BenchmarkOption = "",
) -> None:
    """Write questions and sub-questions as a table of VLMEvalKit, and of videos a dataset class.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    asked = {"split": split, "questions": questions, "seed": seed, "prompt": prompt, "benchmark": benchmark}
    export(run, "vlmevalkit", out=out, media=media, frames=frames, video=video, inline=inline, **asked)


@output
def export_hf(
    run: Path,
    /,
    *,
    out: OutOption,
    media: MediaOption = None,
    frames: FramesOption = 8,
    licence: Annotated[str, Parameter(help="Licence of what the questions were made from, as the Hub names it.")] = (
        "unknown"
    ),
    source: Annotated[str, Parameter(help="What the questions were made from, in words.")] = "",
    benchmark: BenchmarkOption = "",
) -> None:
    """Write questions, sub-questions and the edges between them as Parquet files of every split, with a dataset card.

    With --media frames or images are in the files.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    more = {"frames": frames, "licence": licence, "source": source, "benchmark": benchmark}
    export(run, "hf", out=out, media=media, **more)


def export(run: Path, format: str, *, out: Path, **options: object) -> None:
    with watching():
        made = exporting.export(run, format, out=out, **options)
    tell_made(made)
