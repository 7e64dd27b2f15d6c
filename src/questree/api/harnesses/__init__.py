"""A run for the harnesses in which others ask models: folders that run there, whose logs are read back."""
