"""The metrics of AGQA-Decomp, over hierarchies and predictions as columns."""
