"""Readings of a program: each is one fold."""
