"""People: what they are asked about a run, what they answered, and what follows from it."""
