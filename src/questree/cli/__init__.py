"""Commands, progress, errors a person can act on."""
