"""What a run is made of: composed by Hydra from `configs/` and overrides, completed, checked, named.

`compose` is the whole of it for callers; the other names say what a composed configuration is called, which run it
stands for, and how it is written down.
"""

from minitx.config.compose import compose
from minitx.config.identity import config_hash, identity, readable_name, to_plain

__all__ = ["compose", "config_hash", "identity", "readable_name", "to_plain"]
