"""Images: facts of image sets in memory, and COVR's operators over them."""

from questree.domains.images import answers, things
from questree.domains.images.evaluate import Outcome, evaluate, reasons, spelled
from questree.domains.images.kinds import IMAGES
from questree.domains.images.sets import ImageSets, image_sets

__all__ = ["IMAGES", "ImageSets", "Outcome", "answers", "evaluate", "image_sets", "reasons", "spelled", "things"]
