"""The variance argument of §3.2.1 as an experiment without training."""
