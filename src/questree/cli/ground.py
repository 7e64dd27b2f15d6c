"""`questree ground`: what questions are about, as boxes and frames."""

from questree.api import answering
from questree.cli.functions import command
from questree.cli.stages import EVERY

ground = command(answering.ground, {"every": EVERY})
