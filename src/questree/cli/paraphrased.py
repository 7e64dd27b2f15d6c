"""`questree score paraphrased`: a model on questions as they were written, and in people's own words."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.paraphrased import paraphrased_scores
from questree.cli.shared_options import BenchmarkOption, SeedOption, Whole
from questree.cli.terminal import output, tell_made, watching


@output
def paraphrased(
    run: Path,
    /,
    *,
    questions: Annotated[Path, Parameter(help="The set, as `questree people export --paraphrased` writes it.")],
    original: Annotated[str, Parameter(help="Predictions for the questions as they were: a file or a stored model.")],
    predictions: Annotated[Path, Parameter(help="Predictions for the same ids, asked in people's words.")],
    resamples: Annotated[Whole, Parameter(help="Number of bootstrap resamples.")] = 1000,
    seed: SeedOption = 0,
    benchmark: BenchmarkOption = "",
) -> None:
    """Accuracy on the same questions, asked as they were written and in people's own words, with the change.

    Parameters
    ----------
    run
        Run folder with DAGs.
    """
    with watching():
        made = paraphrased_scores(
            run,
            questions=questions,
            original=original,
            paraphrased=predictions,
            resamples=resamples,
            seed=seed,
            benchmark=benchmark,
        )
    tell_made(made)
