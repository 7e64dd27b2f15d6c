"""Whoever makes questions about images, in memory."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from questree.search.word_tables import WordTables
from questree.stages.drafts.chunk import Workshop
from questree.stages.drafts.part_facts import PartFacts, write_facts
from questree.tables.images import Images


def workshop_of(images: Images, words: WordTables, **more: Any) -> Workshop:
    """About all of these images."""
    with TemporaryDirectory() as place:
        write_facts(images, np.arange(len(images.images)), words.attribute_group, Path(place))
        return Workshop(PartFacts.mapped(Path(place)), words, **more)
