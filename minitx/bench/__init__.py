"""Measurements side by side: attention's variants, training steps, decoding."""
