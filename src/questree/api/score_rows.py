"""Rows of scores, and what tables of them are laid out and worded with."""

from questree.metrics import errors
from questree.metrics.catalogue import METRICS as METRICS
from questree.metrics.cells import OVERALL as OVERALL
from questree.metrics.comparison import MEDIAN as MEDIAN
from questree.metrics.comparison import ModelDifference as ModelDifference
from questree.metrics.comparison import compare as compare
from questree.metrics.comparison import only as only
from questree.metrics.fpvg import CATEGORIES as CATEGORIES
from questree.metrics.fpvg import MODIFIED as MODIFIED
from questree.metrics.fpvg import SETS as SETS
from questree.metrics.fpvg import SIDES as SIDES
from questree.metrics.fpvg import SIGNS as SIGNS
from questree.metrics.scores import Resampling as Resampling
from questree.metrics.scores import Score as Score
from questree.metrics.scores import Scored as Scored
from questree.metrics.scores import find as find
from questree.scoring.compared import LABELS as LABELS
from questree.scoring.footnotes import Footnotes as Footnotes
from questree.scoring.grids import grid as grid
from questree.scoring.grids import once as once
from questree.scoring.grids import percent as percent
from questree.scoring.grids import plain as plain
from questree.scoring.grids import shown as shown

ERROR, ERRORS = errors.BY, errors.KINDS
