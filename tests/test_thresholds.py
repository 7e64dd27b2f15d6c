"""The hash of a rank, looked for in many places at once."""

import numpy as np
import pytest

from questree.columns.hashing import mix
from questree.stages.split.thresholds import SeenHashes, Windows, of_rank, seen


@pytest.mark.parametrize("wide", [8.0, 0.0])  # or so narrow that nothing is found at first
def test_the_hash_of_a_rank_is_found_where_it_must_be(wide: float) -> None:
    rng = np.random.default_rng(5)
    count = np.array([20_000, 1, 7, 3000, 0, 500])
    group = np.repeat(np.arange(6), count)
    hashes, place = mix(3, np.arange(len(group))), rng.integers(0, 4, len(group))
    rank, looks = np.array([11_000, 0, 6, 0, -1, -1]), list[int]()

    def look(within: Windows) -> list[SeenHashes]:
        parts = [seen(group[place == at], hashes[place == at], within) for at in range(4)]
        looks.append(sum(len(part.inside) for part in parts))
        return parts

    found = of_rank(rank, count, look, wide)
    wanted = [np.sort(hashes[group == at])[rank[at]] if rank[at] >= 0 else 0 for at in range(6)]
    assert found.tolist() == [int(each) for each in wanted]
    assert wide == 0 or (len(looks) == 1 and looks[0] < 1500)  # of 23,508 hashes
