"""Make requirements.lock from pyproject.toml, or check that it resolves on every supported Python.

    python scripts/lock.py            # needs uv (`pip install uv`): newest versions that fit every Python and platform
    python scripts/lock.py --check    # a dry run of pip with each of python3.11, python3.12, python3.13 on the PATH

Two files come of it. requirements.lock is what gets installed. constraints-cuda.txt fixes what torch's CUDA build for
Linux brings along: as constraints, so that a CPU build, which does not ask for those packages, does not download them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
CUDA_CONSTRAINTS = ROOT / "constraints-cuda.txt"
PYTHONS = ("3.11", "3.12", "3.13")
CUDA_PACKAGE = re.compile(r"(nvidia|cuda)-|triton==")

LOCK_HEADER = """\
# Exact versions for Python 3.11 to 3.13 on Linux, macOS and Windows, made by scripts/lock.py from pyproject.toml.
# What torch's CUDA build brings along is in constraints-cuda.txt. A build of torch with a local suffix (2.13.0+cpu)
# satisfies the line torch==2.13.0.
"""
CUDA_HEADER = """\
# Exact versions of what torch's CUDA build for Linux asks for, made by scripts/lock.py: constraints, not requirements,
# so that a CPU build of torch does not bring them.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="resolve the lock with each Python, install nothing")
    if parser.parse_args().check:
        return max([check(version) for version in PYTHONS])
    make()
    return 0


def make() -> None:
    """Resolve once for all Pythons and platforms; prefer one version for all to the newest for each."""
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--all-extras", "--upgrade"]
    command += ["--python-version", PYTHONS[0], "--fork-strategy", "fewest", "--no-header", "--no-annotate"]
    resolved = subprocess.run([*command, "pyproject.toml"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    # Python in a browser is nowhere that minitx runs.
    lines = [line for line in resolved.splitlines() if "sys_platform == 'emscripten'" not in line]
    if suffixed := [line for line in lines if "+" in line.partition(";")[0] or "://" in line]:
        raise SystemExit(f"A locked version must be one that any index has: {suffixed}")
    LOCK.write_text(LOCK_HEADER + "".join(f"{line}\n" for line in lines if not CUDA_PACKAGE.match(line)))
    CUDA_CONSTRAINTS.write_text(CUDA_HEADER + "".join(f"{line}\n" for line in lines if CUDA_PACKAGE.match(line)))


def check(version: str) -> int:
    """Resolve with one Python in a dry run; 0 where every package is one of the two files' and in their version."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory, "report.json")
        venv = subprocess.run([f"python{version}", "-m", "venv", f"{directory}/venv"], capture_output=True, text=True)
        if venv.returncode:
            print(f"Python {version}: cannot be used: {(venv.stderr or venv.stdout).strip().splitlines()[-1]}")
            return 1
        python = Path(directory, "venv", "Scripts" if sys.platform == "win32" else "bin", "python")
        command = [python, "-m", "pip", "install", "--quiet", "--dry-run", "--report", report]
        resolution = subprocess.run(
            [*command, "--requirement", LOCK, "--constraint", CUDA_CONSTRAINTS], capture_output=True, text=True
        )
        if resolution.returncode:
            reasons = [line for line in resolution.stderr.splitlines() if not line.startswith("WARNING")]
            print("\n".join([f"Python {version}: does not resolve", *reasons]))
            return 1
        packages = json.loads(report.read_text())["install"]
    resolved = [package["metadata"] for package in packages]
    # What comes as source needs a build, so its name is worth a look: it must be plain Python.
    sources = [p["metadata"]["name"] for p in packages if not p["download_info"]["url"].endswith(".whl")]
    locked = locked_versions()
    unlocked = [
        f"{package['name']} {package['version']}"
        for package in resolved
        if locked.get(normalise(package["name"])) != package["version"].partition("+")[0]
    ]
    print(f"Python {version}: {len(resolved)} packages resolved, as source: {', '.join(sources) or 'none'}")
    for package in unlocked:
        print(f"  not locked: {package}")
    return 1 if unlocked else 0


def locked_versions() -> dict[str, str]:
    """Version by normalised name, of both files."""
    lines = (LOCK.read_text() + CUDA_CONSTRAINTS.read_text()).splitlines()
    pins = [line.partition(";")[0].strip() for line in lines if line and not line.startswith("#")]
    return {normalise(name): version for name, _, version in (pin.partition("==") for pin in pins)}


def normalise(name: str) -> str:
    """The name by which a package index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main())
