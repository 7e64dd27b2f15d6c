"""A judge of paired tests: every way to swap two models on videos, with loops and fractions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

Video = tuple[int, int, int, int]  # passed and asked of A, passed and asked of B


def ratio(videos: Sequence[Video], model: int) -> Fraction:
    return Fraction(sum(each[2 * model] for each in videos), sum(each[2 * model + 1] for each in videos))


def swapped(videos: Sequence[Video]) -> float:
    """The share of all ways to swap the models on videos whose difference is as large as the one there is."""
    sizes = []
    for swaps in product((False, True), repeat=len(videos)):
        turned = [(c, d, a, b) if swap else (a, b, c, d) for (a, b, c, d), swap in zip(videos, swaps, strict=True)]
        sizes.append(abs(ratio(turned, 1) - ratio(turned, 0)))
    here = abs(ratio(videos, 1) - ratio(videos, 0))
    return sum(size >= here for size in sizes) / len(sizes)


def signed(videos: Sequence[Video]) -> float:
    """The same of what every video adds, about the ratio of both models together."""
    asked = [sum(each[at] for each in videos) for at in (1, 3)]
    both = Fraction(sum(each[0] + each[2] for each in videos), sum(asked))
    added = [(c - both * d) / asked[1] - (a - both * b) / asked[0] for a, b, c, d in videos]
    assert sum(added) == ratio(videos, 1) - ratio(videos, 0)
    sizes = [
        abs(sum((size if sign else -size for size, sign in zip(added, signs, strict=True)), Fraction(0)))
        for signs in product((False, True), repeat=len(videos))
    ]
    here = abs(sum(added, Fraction(0)))
    return sum(size >= here for size in sizes) / len(sizes)
