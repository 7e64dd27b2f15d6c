"""`questree completion`: what a shell needs to complete commands and options."""

from typing import Annotated, Literal

from cyclopts import Parameter


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="Shell to write it for.")], /) -> None:
    """Print the completion script of a shell, such as for `source <(questree completion bash)`."""
    from questree.cli.app import app

    print(app.generate_completion(prog_name="questree", shell=shell).rstrip())
