"""Attempts to break every command: what is promised is in docs/reliability.md. `make chaos` runs all of them."""
