"""Programs as text: our own notation and those of the papers."""
