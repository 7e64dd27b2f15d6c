"""Generate: every question of a corpus, as columns; cores are answered, wordings multiply them."""
