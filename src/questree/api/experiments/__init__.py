"""The papers' experiments as one command each: train, answer, score, and say which published findings hold here."""
