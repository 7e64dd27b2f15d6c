"""Images: facts of images in memory, and COVR's operators over sets of them."""

from questree.domains.images import answers, things
from questree.domains.images.batches import spelled
from questree.domains.images.corpus import Corpus, ImageSets, corpus, image_sets
from questree.domains.images.kinds import IMAGES

__all__ = ["IMAGES", "Corpus", "ImageSets", "answers", "corpus", "image_sets", "spelled", "things"]
