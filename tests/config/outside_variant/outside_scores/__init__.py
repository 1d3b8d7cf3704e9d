"""Somebody else's package, which minitx knows nothing of."""
