"""A vocabulary on its way to workers: what a client has half-written is not seen by workers of a store."""

import pickle
import zlib
from functools import lru_cache

from questree.vocabulary.words import Vocabulary


def packed_words(vocabulary: Vocabulary) -> bytes:
    return zlib.compress(pickle.dumps(vocabulary), 1)


@lru_cache(maxsize=2)
def unpacked_words(words: bytes) -> Vocabulary:
    """The same vocabulary, once in every process."""
    found: Vocabulary = pickle.loads(zlib.decompress(words))
    return found
