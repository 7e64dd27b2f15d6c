"""A split: questions that ask about drinking after something are held out of train, and are the test."""

from questree.plugins import split

split("drinking-after", held_out='has(after) & uses(relation="drinking from")')
