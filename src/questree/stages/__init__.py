"""From table to table: one stage of the work each."""
