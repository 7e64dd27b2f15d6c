"""The tables of AGQA, over its question records and predictions."""
