"""The choices behind scores, as options of commands and functions."""

from questree.models.policies import Policy as Policy
from questree.scoring.compared import ComparingOptions as ComparingOptions
from questree.scoring.compared import OnePolicy as OnePolicy
from questree.scoring.compared import Planning as Planning
from questree.scoring.compared import Scoring as Scoring
