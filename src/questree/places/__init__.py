"""Runs, sources and outputs at URLs: the one layer that knows that a path may lie in an object store."""

from questree.places.moved import moved
from questree.places.place import Place, fetched, path_of
from questree.places.publish import delivering
from questree.places.seen import forget

__all__ = ["Place", "delivering", "fetched", "forget", "moved", "path_of"]
