import importlib
import sys
from pathlib import Path

import pytest

OUTSIDE = Path(__file__).with_name("outside_variant.py")


@pytest.fixture
def outside_configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The options of an outside package that can be imported as `outside_scores`."""
    spec = importlib.util.spec_from_file_location("outside_variant", OUTSIDE)
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    configs = writer.write_outside_package(tmp_path / "outside")
    monkeypatch.syspath_prepend(tmp_path / "outside")
    yield configs
    for name in [name for name in sys.modules if name.split(".")[0] == "outside_scores"]:
        del sys.modules[name]
