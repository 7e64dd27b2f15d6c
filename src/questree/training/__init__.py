"""Networks are trained on the questions of a run and answer them: examples, one loop, checkpoints, predictions."""
