"""Import: questions of released benchmarks, read into tables."""
