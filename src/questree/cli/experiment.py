"""`questree experiment`: the papers' experiments on a run."""

from questree.api.experiments import running
from questree.cli.functions import command

experiment = command(running.experiment)
