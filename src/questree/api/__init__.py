"""What notebooks, training loops and commands call: runs, questions, programs, DAGs and scores as objects."""
