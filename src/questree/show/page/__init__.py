"""The page: browse the questions of a run, look at one, compare two models, see sets of images."""
