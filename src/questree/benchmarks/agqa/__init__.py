"""AGQA: 27 templates of edition 2.0, the 28th of edition 1.0, and what is held out."""
