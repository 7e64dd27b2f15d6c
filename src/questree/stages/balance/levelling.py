"""Which questions of one answer go when k must go: those whose time phrase leaves the answer as it was, first."""

from collections.abc import Sequence

from numba import njit


def remaining(counts: Sequence[int], k: int) -> tuple[int, int, int, int]:
    """Counts per temporal effect after k deletions."""
    same, different, no_direct, no_temporal = counts
    a, b, c, d = kept(same, different, no_direct, no_temporal, k)
    return int(a), int(b), int(c), int(d)


@njit(cache=True, nogil=True)
def kept(same, different, no_direct, no_temporal, k):  # type: ignore[no-untyped-def]
    """Counts per temporal effect (9.1) after k deletions (9.2); an odd one of a half or a third is taken from `same`.

    Same and different are made equal; these two equal to no_direct; these three to no_temporal; then a quarter each.
    """
    if k >= same + different + no_direct + no_temporal:
        return 0, 0, 0, 0
    cut = min(k, abs(same - different))
    if same > different:
        same -= cut
    else:
        different -= cut
    k -= cut
    if no_direct > same:
        cut = min(k, no_direct - same)
        no_direct -= cut
    else:
        cut = min(k, 2 * (same - no_direct))
        same, different = same - (cut + 1) // 2, different - cut // 2
    k -= cut
    if no_temporal > same:
        cut = min(k, no_temporal - same)
        no_temporal -= cut
    else:
        cut = min(k, 3 * (same - no_temporal))
        same, different, no_direct = same - (cut + 2) // 3, different - (cut + 1) // 3, no_direct - cut // 3
    k -= cut
    quarter, left = k // 4, k % 4
    first = min(left, no_temporal - quarter)
    left -= first
    return (
        same - quarter - (left + 1) // 2,
        different - quarter - left // 2,
        no_direct - quarter,
        no_temporal - quarter - first,
    )
