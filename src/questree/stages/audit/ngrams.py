"""A question-only model: a linear classifier over hashed word n-grams, which never sees a video."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.columns.joins import Ints

BUCKETS = 1 << 18  # of hashed n-grams
LONGEST = 3  # words of an n-gram
EPOCHS, RATE = 3, 0.5


@dataclass(frozen=True)
class Grams:
    """The n-grams of texts as numbers below BUCKETS: those of text i stand in start[i]..start[i + 1]."""

    start: NDArray[np.int64]
    gram: NDArray[np.int32]


def grams(texts: pl.Series) -> Grams:
    """All n-grams of one to three words; case and punctuation do not count."""
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    joined = texts.str.join("").item() if len(texts) else ""
    start, found = _grams(np.frombuffer(joined.encode(), np.uint8), np.append(0, np.cumsum(lengths)))
    return Grams(start, found)


@njit(cache=True)
def _grams(letters, offsets):  # type: ignore[no-untyped-def]
    start = np.zeros(len(offsets), np.int64)
    found = np.empty(LONGEST * (len(letters) // 2 + len(offsets)), np.int32)
    words, free = np.zeros(LONGEST, np.uint64), 0
    for text in range(len(offsets) - 1):
        begin, inside, word, count = offsets[text], False, np.uint64(0), 0
        for at in range(begin, offsets[text + 1] + 1):
            letter = letters[at] if at < offsets[text + 1] else np.uint8(32)
            if 65 <= letter <= 90:
                letter += np.uint8(32)
            if 97 <= letter <= 122 or 48 <= letter <= 57:
                word = (word ^ np.uint64(letter)) * np.uint64(0x100000001B3) + np.uint64(1)
                inside = True
            elif inside:
                for back in range(LONGEST - 1, 0, -1):
                    words[back] = words[back - 1]
                words[0], count = word, count + 1
                gram = np.uint64(0)
                for back in range(min(count, LONGEST)):
                    gram = (gram ^ words[back]) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(back + 1)
                    found[free] = gram >> np.uint64(64 - 18)
                    free += 1
                word, inside = np.uint64(0), False
        start[text + 1] = free
    return start, found[:free].copy()


@dataclass(frozen=True)
class NgramModel:
    """weights of the answers of each kind: [n-gram, answer]."""

    weights: dict[int, NDArray[np.float32]]
    answers: dict[int, Ints]

    def predict(self, of: Grams, kind: Ints) -> Ints:
        """[text] the answer code, among the answers of its kind; -1 for a kind that was never trained."""
        found = np.full(len(kind), -1, np.int64)
        for each, weights in self.weights.items():
            rows = np.flatnonzero(kind == each)
            found[rows] = self.answers[each][_predict(weights, of.start, of.gram, rows)]
        return found


def train(of: Grams, answer: Ints, kind: Ints, order: Ints) -> NgramModel:
    """Softmax regression by Adagrad, question after question in the given order, several times."""
    weights, answers = {}, {}
    for each in np.unique(kind).tolist():
        rows = order[kind[order] == each]
        answers[each], place = np.unique(answer[rows], return_inverse=True)
        weights[each] = _train(of.start, of.gram, rows, place, len(answers[each]), EPOCHS, RATE)
    return NgramModel(weights, answers)


@njit(cache=True)
def _train(start, gram, rows, answer, answers, epochs, rate):  # type: ignore[no-untyped-def]
    weights = np.zeros((BUCKETS, answers), np.float32)
    seen = np.full(BUCKETS, 1.0, np.float32)  # how much each n-gram has been corrected already
    scores = np.empty(answers, np.float32)
    for _ in range(epochs):
        for at in range(len(rows)):
            own = gram[start[rows[at]] : start[rows[at] + 1]]
            scores[:] = 0
            for g in own:
                scores += weights[g]
            scores -= scores.max()
            scores[:] = np.exp(scores)
            scores /= scores.sum()
            scores[answer[at]] -= 1
            size = np.float32((scores * scores).sum())
            for g in own:
                seen[g] += size
                step = np.float32(rate / (np.sqrt(seen[g]) * np.sqrt(len(own))))
                for a in range(answers):
                    weights[g, a] -= step * scores[a]
    return weights


@njit(cache=True)
def _predict(weights, start, gram, rows):  # type: ignore[no-untyped-def]
    found = np.zeros(len(rows), np.int64)
    scores = np.empty(weights.shape[1], np.float32)
    for at in range(len(rows)):
        scores[:] = 0
        for g in gram[start[rows[at]] : start[rows[at] + 1]]:
            scores += weights[g]
        found[at] = np.argmax(scores)
    return found
