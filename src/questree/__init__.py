"""questree builds, takes apart and scores compositional questions about videos and images."""

__version__ = "0.1.0"
