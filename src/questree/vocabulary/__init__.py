"""The words of a world as data: objects, relations, actions, their forms, and the special lists about them."""

from questree.vocabulary.load import default, load
from questree.vocabulary.words import Action, Object, Relation, Vocabulary

__all__ = ["Action", "Object", "Relation", "Vocabulary", "default", "load"]
