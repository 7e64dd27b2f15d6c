"""Questions -> a selection of them whose answers cannot be guessed: answers first, then structures."""
