"""How guessable a benchmark is from its questions alone, before and after balancing."""
