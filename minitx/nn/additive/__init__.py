"""Additive attention's score vᵀ tanh(q + k) without its n · m · d_k numbers (§3.2.1)."""
