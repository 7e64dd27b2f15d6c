"""Models: who answers questions."""
