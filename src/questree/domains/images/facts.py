"""The facts of all images as long columns: of every page its things, of every thing what is said about it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[Any]
Bools = NDArray[np.bool_]
Bits = NDArray[Any]  # [row, page] a set of things: bit i is thing i of the page; never negative

# A page is up to this many things of one image. Larger images have several pages, side by side in a row.
PAGE = 63


class Facts(NamedTuple):
    """What is said about every thing. The last page, thing and edge stand for none."""

    first_thing: Ints  # [page + 1]
    first_attribute_on: Ints  # [page + 1] place in the columns of attributes
    first_edge_on: Ints  # [page + 1] place in the columns of edges
    is_next: Bools  # [page] does it go on with the image of the page before?
    name: Ints  # [thing] word
    first_attribute: Ints  # [thing + 1]
    attribute: Ints  # [attribute] word
    bearer: Ints  # [attribute] bit of its thing
    group_of: Ints  # [word] group of attributes, ABSENT
    first_edge: Ints  # [thing + 1]
    link: Ints  # [edge] word
    subject: Ints  # [edge] bit of its thing
    target: Ints  # [edge] thing
    target_page: Ints  # [edge] how many pages after that of its thing
    target_bit: Ints  # [edge]
    informative: Bools  # [edge] may it be asked for what the relation between two things is?
