"""The stages of a run of any benchmark, with what the command line must know beside their functions."""

from typing import Annotated

from cyclopts import Parameter

from questree.api import stages
from questree.api.made import Made
from questree.cli.functions import command
from questree.faults import Fault, refuse

EVERY = Parameter(name="--all")
AGAIN = Parameter(negative="")  # an option that may be given again


def not_above(
    made: Made,
    *,
    fail_above: Annotated[
        float | None, Parameter(help="Exit with 1 if a guesser gets more per cent of all test questions right.")
    ] = None,
) -> None:
    refuse(
        [
            Fault("audit", f"{name}: {100 * value:.1f} % of all test questions, more than {fail_above:g} %")
            for name, value in made.record.guessed().items()
            if fail_above is not None and 100 * value > fail_above
        ]
    )


generate = command(stages.generate, {"text": Parameter(negative="--no-text"), "templates": AGAIN})
balance = command(stages.balance)
split = command(stages.split, {"every": EVERY, "name": AGAIN})
decompose = command(
    stages.decompose,
    {"balanced": Parameter(negative="--all"), "closed": Parameter(negative="--open"), "answers": AGAIN},
)
audit = command(stages.audit, then=not_above)
