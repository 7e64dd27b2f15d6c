"""What is scored: questions or DAGs of a run or of files, with anybody's predictions."""
