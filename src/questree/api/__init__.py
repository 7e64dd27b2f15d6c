"""What commands, pages and notebooks call: a run, what is scored in it, and the scores."""
