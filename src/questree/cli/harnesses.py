"""`questree export` for harnesses: lmms-eval, VLMEvalKit, inspect_ai, datasets of Hugging Face."""

from dataclasses import asdict, dataclass
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


@dataclass(frozen=True)
class HarnessOptions:
    """What is asked, and what models see of it."""

    split: SplitOption = "test"
    questions: QuestionsOption = 0
    seed: SeedOption = 0
    prompt: PromptOption = "short"
    media: MediaOption = None
    frames: FramesOption = 8
    benchmark: BenchmarkOption = ""


How = Annotated[HarnessOptions, Parameter(name="*")]
USUAL = HarnessOptions()


@output
def export_inspect(
    run: Path,
    /,
    *,
    out: OutOption,
    how: How = USUAL,
) -> None:
    """Write questions and sub-questions as a task of inspect_ai, with scorers for accuracy, CA, RWR and IC.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    export(run, "inspect", out=out, **asdict(how))


@output
def export_lmms_eval(
    run: Path,
    /,
    *,
    out: OutOption,
    how: How = USUAL,
    video: VideoOption = False,
) -> None:
    """Write questions and sub-questions as a task of lmms-eval, clustered by video.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    export(run, "lmms-eval", out=out, video=video, **asdict(how))


@output
def export_vlmevalkit(
    run: Path,
    /,
    *,
    out: OutOption,
    how: How = USUAL,
    video: VideoOption = False,
    inline: Annotated[bool, Parameter(negative="", help="Put the pictures into the table.")] = False,
) -> None:
    """Write questions and sub-questions as a table of VLMEvalKit, and of videos a dataset class.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    export(run, "vlmevalkit", out=out, video=video, inline=inline, **asdict(how))


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
