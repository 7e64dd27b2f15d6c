"""`questree augment`: from raw facts to cleaned facts, with the ledger of what every rule changed."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.augmenting import AugmentOptions, cleaned
from questree.cli.clusters import clustered
from questree.cli.shared_options import WithoutOption, WorkersOption
from questree.cli.terminal import output, tell_made, watching

USUAL = AugmentOptions()


@output
@clustered
def augment(
    run: Path,
    /,
    *,
    options: Annotated[AugmentOptions, Parameter(name="*", negative_bool=())] = USUAL,
    without: WithoutOption = (),
    ablation: Annotated[bool, Parameter(negative="")] = False,
    workers: WorkersOption = 2,
) -> None:
    """Clean the raw facts of a run by the rules of augmentation and say what each changed.

    Parameters
    ----------
    run
        Run folder with raw facts; gets facts/ and ledger.json.
    ablation
        Also measure each rule alone and left out; needs a run that knows the truth.
    """
    with watching():
        made = cleaned(run, options, without, ablation, workers)
    tell_made(made)
