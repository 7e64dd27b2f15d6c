"""`make bench NAME=...`: the inner parts of stages, measured; not part of the package."""
