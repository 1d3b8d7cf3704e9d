"""The wheel, installed where nothing of the checkout is in reach."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pip(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    result = pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", directory, ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    (file,) = directory.glob("minitx-*.whl")
    return file


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel in it, and minitx's dependencies lent by the one that runs the tests.

    A .pth file lends packages but does not follow the .pth files among them, so a checkout that is installed there as
    editable stays out of reach. scripts/check_wheel.sh installs the dependencies themselves, which takes minutes.
    """
    directory = tmp_path_factory.mktemp("clean") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    python = directory / "bin/python"
    installed = pip("--python", str(python), "install", "--quiet", "--no-deps", wheel)
    assert installed.returncode == 0, installed.stderr
    site_packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    Path(site_packages, "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return directory / "bin"


def run(environment: Path, directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [environment / command[0], *command[1:]], cwd=directory, env=variables, capture_output=True, text=True
    )


def test_wheel_holds_every_module_config_and_sentence(wheel: Path) -> None:
    shipped = set(zipfile.ZipFile(wheel).namelist())
    wanted = [
        path.relative_to(ROOT)
        for path in (ROOT / "minitx").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    wanted += ["minitx/bundled" / path.relative_to(ROOT) for path in (ROOT / "configs").rglob("*.yaml")]
    corpus = [path for path in (ROOT / "data/toy_en_de").rglob("*") if path.is_file()]
    wanted += ["minitx/bundled/toy_en_de" / path.relative_to(ROOT / "data/toy_en_de") for path in corpus]
    assert corpus
    assert {str(path) for path in wanted} == {
        name for name in shipped if name.startswith("minitx/") and not name.endswith("/")
    }


def test_lock_satisfies_the_wheel(wheel: Path) -> None:
    """pip, held to the lock, finds nothing to install but the wheel itself."""
    constraints = ["--constraint", ROOT / "requirements.lock", "--constraint", ROOT / "constraints-cuda.txt"]
    resolved = pip("install", "--dry-run", "--no-index", *constraints, f"minitx[dev] @ {wheel.as_uri()}")
    assert resolved.returncode == 0, resolved.stderr
    assert "conflict" not in resolved.stderr


def test_files_that_ship_are_those_of_the_wheel(environment: Path, tmp_path: Path) -> None:
    code = "from minitx.resources import *; print(configs_directory(), toy_corpus_directory(), sep='\\n')"
    configs, corpus = map(Path, run(environment, tmp_path, "python", "-c", code).stdout.split("\n")[:2])
    for directory in (configs, corpus):
        assert directory.is_relative_to(environment.parent)
        assert any(directory.iterdir())


def test_entry_point(environment: Path, tmp_path: Path) -> None:
    result = run(environment, tmp_path, "minitx", "--help")
    assert result.returncode == 0, result.stderr
    assert "minitx train" in result.stdout


@pytest.mark.slow
def test_h7_trains_on_the_bundled_corpus_from_an_empty_directory(environment: Path, tmp_path: Path) -> None:
    result = run(environment, tmp_path, "minitx", "train", "trainer=smoke")
    assert result.returncode == 0, result.stderr
    (run_directory,) = (tmp_path / "runs").iterdir()
    assert (run_directory / "checkpoints/final.ckpt").is_file()
    assert (run_directory / "metrics.csv").read_text().count("\n") > 1
