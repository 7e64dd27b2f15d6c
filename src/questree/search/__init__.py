"""COVR from image facts: subgraphs, related and distracting images, questions."""
