"""Parallel text: reading, tokenising, batching."""
