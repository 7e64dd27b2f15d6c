"""Agreement as the papers write it, in loops: Krippendorff's alpha by its coincidences, Fleiss' kappa by its tables."""

from collections import Counter
from itertools import permutations

Rated = dict[str, dict[str, str]]  # unit -> rater -> value


def alpha(rated: Rated) -> float | None:
    """1 - (n - 1) * sum of o(c, k), c != k / sum of n(c) n(k), c != k."""
    coincidences = Counter[tuple[str, str]]()
    for said in rated.values():
        if len(said) > 1:
            for one, other in permutations(said, 2):
                coincidences[said[one], said[other]] += 1 / (len(said) - 1)  # type: ignore[assignment]
    n = Counter[str]()
    for (value, _), count in coincidences.items():
        n[value] += count
    total = sum(n.values())
    expected = sum(n[c] * n[k] for c in n for k in n if c != k)
    observed = sum(count for (c, k), count in coincidences.items() if c != k)
    return None if not expected else 1 - (total - 1) * observed / expected


def kappa(rated: Rated) -> float | None:
    """Of units that all have the same number of judgements."""
    sizes = {len(said) for said in rated.values()}
    assert len(sizes) == 1
    (n,) = sizes
    counts = [Counter(said.values()) for said in rated.values()]
    agreed = [sum(c * (c - 1) for c in count.values()) / (n * (n - 1)) for count in counts]
    total = sum(counts, Counter[str]())
    chance = sum((c / (n * len(counts))) ** 2 for c in total.values())
    return None if chance == 1 else (sum(agreed) / len(agreed) - chance) / (1 - chance)


def agreement(rated: Rated) -> float | None:
    shares = []
    for said in rated.values():
        pairs = [said[a] == said[b] for a, b in permutations(said, 2)]
        shares += [sum(pairs) / len(pairs)] if pairs else []
    return sum(shares) / len(shares) if shares else None
