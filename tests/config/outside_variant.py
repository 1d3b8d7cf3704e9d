"""Somebody else's package, written to a directory: a compatibility function and an option that names it."""

from pathlib import Path

SCORES = '''
import torch
from torch import nn


class Distance(nn.Module):
    """Minus the squared distance of query and key."""

    def __init__(self, *, d_k: int, num_heads: int, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, query, key):
        return -torch.cdist(query, key).square() / self.temperature


class Demanding(nn.Module):
    def __init__(self, *, d_k: int, num_heads: int, scale: float) -> None:
        super().__init__()


class Deaf(nn.Module):
    def __init__(self, *, num_heads: int) -> None:
        super().__init__()


class Anything(nn.Module):
    def __init__(self, *, d_k: int, num_heads: int, **settings) -> None:
        super().__init__()
'''

OPTION = """
_target_: outside_scores.scores.Distance
_partial_: true
temperature: 2.0
"""

EXPERIMENT = """
# @package _global_
defaults:
  - override /attention@model.cross_attention: distance
"""


def write_outside_package(directory: Path) -> Path:
    """Write `outside_scores` below `directory` and return the directory of its options."""
    package = directory / "outside_scores"
    configs = package / "configs"
    for place in (configs / "attention", configs / "experiment"):
        place.mkdir(parents=True)
    for place in (package, configs):
        (place / "__init__.py").write_text("")
    (package / "scores.py").write_text(SCORES)
    (configs / "attention" / "distance.yaml").write_text(OPTION)
    (configs / "experiment" / "far.yaml").write_text(EXPERIMENT)
    return configs
