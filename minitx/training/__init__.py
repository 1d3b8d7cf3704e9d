"""Training with Lightning: the only package that imports it."""
