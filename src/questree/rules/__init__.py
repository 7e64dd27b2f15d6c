"""Every consistency rule, stated once, for scores, propagation, bots, the page and the tests of the theorem."""

from questree.rules.rule import NEVER, NO, YES, Case, Members, NodeColumns, Rule, Ways, WordNumbers
from questree.rules.schemes import IMAGE_DAGS, SCHEMES, VIDEO_DAGS, Scheme, add, extend, scheme_of, sentence

__all__ = [
    "IMAGE_DAGS",
    "NEVER",
    "NO",
    "SCHEMES",
    "VIDEO_DAGS",
    "YES",
    "Case",
    "Members",
    "NodeColumns",
    "Rule",
    "Scheme",
    "Ways",
    "WordNumbers",
    "add",
    "extend",
    "scheme_of",
    "sentence",
]
