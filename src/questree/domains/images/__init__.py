"""Images: facts of images in memory, and COVR's operators over sets of them."""

from questree.domains.images import answers, things
from questree.domains.images.corpus import Corpus, corpus
from questree.domains.images.kinds import IMAGES
from questree.domains.images.sets import ImageSets, image_sets
from questree.domains.images.spelling import spelled

__all__ = ["IMAGES", "Corpus", "ImageSets", "answers", "corpus", "image_sets", "spelled", "things"]
