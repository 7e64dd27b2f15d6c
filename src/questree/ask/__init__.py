"""Models answer the questions of a run: what they see, how they are asked, what they said before."""
