"""COVR: accuracy by template, and the baselines that only look at the answers of the training set."""
