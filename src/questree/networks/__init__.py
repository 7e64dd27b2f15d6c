"""Neural networks that answer questions about what they see, one per file, written from the papers' descriptions."""
