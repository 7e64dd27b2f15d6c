"""The naive meaning, written from the papers in sets and loops: what the package must agree with."""
