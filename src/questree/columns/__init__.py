"""Tools for columns: hashing, joins, keys."""
