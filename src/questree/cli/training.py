"""`questree train` and `questree predict`: networks learn the questions of a run and answer them."""

from questree.api import training
from questree.cli.functions import command

train = command(training.train)
predict = command(training.predict)
