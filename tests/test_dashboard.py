import socket
import urllib.request
from pathlib import Path

import pytest

from minitx import cli
from minitx.dashboard import serve
from minitx.errors import UserError


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A directory of one run that has curves."""
    curves = tmp_path / "runs" / "one" / "tensorboard"
    curves.mkdir(parents=True)
    (curves / "events.out.tfevents.1.host.1.0").write_bytes(b"")
    return tmp_path / "runs"


def test_serves_the_runs(runs: Path) -> None:
    address = serve(runs)

    with urllib.request.urlopen(address, timeout=20) as page:
        assert b"<html" in page.read()


def test_a_port_that_is_taken(runs: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port}.*--port"):
            serve(runs, port)


def test_no_directory_and_no_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=r"no directory .*--runs"):
        serve(tmp_path / "runs")
    (tmp_path / "runs").mkdir()
    with pytest.raises(UserError, match="no run with curves"):
        serve(tmp_path / "runs")
    assert cli.main(["dashboard", "--runs", str(tmp_path / "nowhere")]) == 2
    assert "minitx: There is no directory" in capsys.readouterr().err
