"""`questree generate`: the questions of a run, with their answers."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.cli.shared_options import BenchmarkOption, SeedOption, WordsOption, WorkersOption, carry_out
from questree.cli.terminal import output


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
    shard: Annotated[int | None, Parameter(help="Videos: number of videos per file. [128]")] = None,
    edition: Annotated[Literal["2.0", "1.0"] | None, Parameter(help="Videos: edition of AGQA. [2.0]")] = None,
    text: Annotated[bool, Parameter(help="Videos: also write every question's text.")] = False,
    questions: Annotated[
        int | None, Parameter(help="Image sets: largest number of questions of train, dev and test together. [100,000]")
    ] = None,
    words: WordsOption = None,
    verify: Annotated[
        str | None,
        Parameter(help="Image sets: scores of distractors, module:function or a file [{image, graph, score}]."),
    ] = None,
    templates: Annotated[
        list[Path] | None, Parameter(help="TOML file of further templates; may be given several times.")
    ] = None,
    only_templates: Annotated[bool, Parameter(help="Ask only the further templates.", negative=())] = False,
    workers: WorkersOption = 2,
) -> None:
    """Generate the questions of a run: all that its facts about videos give, or some about sets of its images.

    An interrupted run about videos goes on where it stopped. Image sets of train, dev and test share no image.

    Parameters
    ----------
    run
        Run folder with facts (`questree augment`, or `questree ingest gqa` and the like for images).
    """
    given = {
        "seed": seed,
        "references": references,
        "rare_below": rare_below,
        "shard": shard,
        "edition": edition,
        "text": text,
        "questions": questions,
        "words": words,
        "verify": verify,
        "templates": templates,
        "only_templates": only_templates,
    }
    carry_out("generate", run, benchmark, given, workers)
