"""minitx: what attention's compatibility function does to the training of a Transformer."""
