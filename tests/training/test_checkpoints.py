"""Checkpoints are whole, plain, and averaged exactly."""

import pytest
import torch

from minitx.errors import UserError
from minitx.training.checkpoints import mean_weights, newest_checkpoints, save_whole


def test_the_mean_is_the_mean(tmp_path):
    for step, value in enumerate([1.0, 2.0, 6.0], 1):
        state = {"model.weight": torch.full((2,), value)}
        save_whole({"state_dict": state}, tmp_path / f"step={step:08d}.ckpt")
    paths = newest_checkpoints(tmp_path, 2)
    assert [path.name for path in paths] == ["step=00000002.ckpt", "step=00000003.ckpt"]
    mean = mean_weights(paths)
    assert mean["weight"].tolist() == [4.0, 4.0]
    assert mean["weight"].dtype == torch.float32


def test_a_failed_save_leaves_the_earlier_file_and_nothing_half_written(tmp_path, monkeypatch):
    path = tmp_path / "last.ckpt"
    save_whole({"step": 1}, path)

    def full_disk(content, file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full_disk)
    with pytest.raises(UserError, match="No space left on device"):
        save_whole({"step": 2}, path)
    assert torch.load(path, weights_only=True) == {"step": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["last.ckpt"]
