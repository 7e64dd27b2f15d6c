"""Raw files -> facts: readers of released formats and of people's own videos."""
