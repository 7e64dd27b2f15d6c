"""Export: release formats of benchmarks, written from tables."""
