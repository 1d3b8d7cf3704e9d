"""The composition root."""

import pytest

from minitx.config import compose
from minitx.errors import UserError
from minitx.train import train


def test_resume_is_refused_rather_than_ignored(tmp_path):
    config = compose([f"run_directory={tmp_path / 'runs'}", "resume=auto"])
    with pytest.raises(UserError, match=r"resume=auto.*cannot be resumed yet"):
        train(config)
    assert not (tmp_path / "runs").exists()
