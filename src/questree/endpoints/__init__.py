"""Servers that speak OpenAI's chat completions: how they are asked, how fast, and within which budget."""
