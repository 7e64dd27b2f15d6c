"""COVR: questions about sets of images."""
