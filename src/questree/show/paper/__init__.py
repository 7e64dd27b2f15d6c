"""Tables and plots as a paper takes them: as wide as a column of text, with marks of what differs."""
