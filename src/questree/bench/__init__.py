"""`questree bench`: the inner parts of stages, measured; it alone among commands looks beneath `api`."""
