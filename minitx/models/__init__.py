"""The encoder-decoder Transformer, put together from the parts in `minitx.nn`."""
