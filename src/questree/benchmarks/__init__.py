"""Benchmarks as data: templates, English frames, held-out compositions."""
