"""Faithful and plausible visual grounding: which detections a question needs, and whether a model relies on them."""
