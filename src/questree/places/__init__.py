"""Runs, sources and outputs at URLs: the one layer that knows that a path may lie in an object store."""

from questree.places.addresses import may_be_path
from questree.places.in_place import changed
from questree.places.moved import moved
from questree.places.place import Place, fetched, path_of
from questree.places.publish import delivering
from questree.places.seen import forget

__all__ = ["Place", "changed", "delivering", "fetched", "forget", "may_be_path", "moved", "path_of"]
