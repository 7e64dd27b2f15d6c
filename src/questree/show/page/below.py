"""What is true of a node's sub-questions, down to the last, told to the node: bits united from below."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.show.opened import Opened

Bits = NDArray[Any]  # [node] a set as bits of an unsigned number


def below(shard: Opened, own: Bits) -> Bits:
    """[node] the bits of all below it, without its own."""
    found = np.zeros_like(own)
    for (begin, end), children in zip(reversed(shard.spans), reversed(by_form(shard, shard.child)), strict=True):
        if children.size:  # a form's sub-questions are of later forms
            found[begin:end] = np.bitwise_or.reduce(own[children] | found[children], axis=1)
    return found


def compositions(shard: Opened) -> Bits:
    """[node] which compositions its edges have."""
    found = np.zeros(len(shard.nodes), np.uint16)
    for (begin, end), labels in zip(shard.spans, by_form(shard, shard.label), strict=True):
        if labels.size:
            found[begin:end] = np.bitwise_or.reduce(np.uint16(1) << labels.astype(np.uint16), axis=1)
    return found


def by_form(shard: Opened, column: Bits) -> list[Bits]:
    """[form] a column of edges as [node of the form, part]: nodes of one form have equally many parts."""
    parts = shard.forms["parts"].to_list()
    return [
        column[shard.first[begin] : shard.first[end]].reshape(end - begin, width)
        for (begin, end), width in zip(shard.spans, parts, strict=True)
    ]
