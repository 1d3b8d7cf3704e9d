import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from minitx.resources import configs_directory

OUTSIDE = Path(__file__).parent / "outside_variant"


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Makes somebody else's package `outside_scores` importable; the override that adds its options."""
    monkeypatch.syspath_prepend(OUTSIDE)
    yield f"hydra.searchpath=[file://{OUTSIDE / 'outside_scores' / 'configs'}]"
    for name in [name for name in sys.modules if name.partition(".")[0] == "outside_scores"]:
        del sys.modules[name]


@pytest.fixture
def configs() -> Path:
    """The configuration tree."""
    return configs_directory()
