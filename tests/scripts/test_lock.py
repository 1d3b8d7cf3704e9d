"""requirements.lock and constraints-cuda.txt: exact, free of addresses, complete."""

import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


def locked(file: str) -> dict[str, Requirement]:
    lines = (ROOT / file).read_text().splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


LOCK = locked("requirements.lock")
CUDA = locked("constraints-cuda.txt")


@pytest.mark.parametrize("requirement", [*LOCK.values(), *CUDA.values()], ids=lambda requirement: requirement.name)
def test_exact_version_without_local_suffix(requirement: Requirement) -> None:
    (specifier,) = requirement.specifier
    assert specifier.operator == "=="
    assert not set(specifier.version) & set("+*")
    assert requirement.url is None


def test_torch() -> None:
    assert str(LOCK["torch"]) == "torch==2.13.0"
    assert LOCK["torch"].specifier.contains("2.13.0+cpu")


def test_cpu_build_brings_no_cuda_packages() -> None:
    assert not [name for name in LOCK if name.startswith(("nvidia", "cuda", "triton"))]


def test_no_addresses() -> None:
    assert "://" not in (ROOT / "requirements.lock").read_text() + (ROOT / "constraints-cuda.txt").read_text()


def test_pyproject_admits_what_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    optional = project["project"]["optional-dependencies"].values()
    wanted = [*project["project"]["dependencies"], *(line for lines in optional for line in lines)]
    wanted += project["build-system"]["requires"]
    for requirement in map(Requirement, wanted):
        if requirement.name != "minitx":
            (pin,) = LOCK[canonicalize_name(requirement.name)].specifier
            assert requirement.specifier.contains(pin.version), requirement


def test_whatever_a_locked_package_needs_is_locked() -> None:
    """By what the installed packages say they need, on the Python and platform that the tests run on."""
    installed = {canonicalize_name(distribution.name): distribution for distribution in distributions()}
    for name in installed.keys() & LOCK.keys():
        needs = map(Requirement, installed[name].requires or [])
        needed = [need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})]
        missing = [need for need in needed if canonicalize_name(need) not in {*LOCK, *CUDA}]
        assert not missing, f"{name} needs {missing}"
    assert len(installed.keys() & LOCK.keys()) > 50
