"""Attention and its neighbours in pure PyTorch, one concept a file."""
