"""Whoever makes questions about images, in memory."""

from typing import Any

import numpy as np

from questree.search.word_tables import WordTables
from questree.stages.drafts.chunk import Workshop
from questree.stages.drafts.part_facts import PartFacts
from questree.tables.images import Images


def workshop_of(images: Images, words: WordTables, **more: Any) -> Workshop:
    """About all of these images."""
    return Workshop(PartFacts.of(images, np.arange(len(images.images)), words.attribute_group), words, **more)
