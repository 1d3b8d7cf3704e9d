"""Environments of the peers: made once, with a PyTorch that they share."""

from pathlib import Path

import pytest
from peers import environments, systems


def test_environments_borrow_torch_and_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def call(command: list[str], log: Path) -> None:
        calls.append(command)
        if "venv" in command:
            environments.site_packages(Path(command[-1])).mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(environments, "_call", call)
    python = environments.python_of(tmp_path, "joeynmt")
    assert python == tmp_path / "envs/joeynmt/bin/python"
    installed = [command[6:] for command in calls if "install" in command]
    assert installed[0] == list(systems.TORCH)
    assert installed[-1] == ["--no-deps", "--no-build-isolation", "joeynmt==2.3.0"]
    borrowed = environments.site_packages(python.parents[1]) / "torch.pth"
    assert borrowed.read_text().strip() == str(environments.site_packages(tmp_path / "envs/torch"))
    before = len(calls)
    assert environments.python_of(tmp_path, "joeynmt") == python
    assert len(calls) == before
    monkeypatch.setitem(systems.ENVIRONMENTS, "joeynmt", systems.Environment("joeynmt==9", (), True, "joeynmt"))
    environments.python_of(tmp_path, "joeynmt")
    assert [command[-1] for command in calls[before:] if "install" in command] == ["joeynmt==9"]
