"""Files that are there whole or not at all, for whoever writes results."""

from questree.tables.store import new_file as new_file
