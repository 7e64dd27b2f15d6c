"""`questree features`: what models see of a run."""

from questree.api import feature_sets
from questree.cli.functions import command

features = command(feature_sets.make_features)
