"""Who may import whom, and what `minitx --help` leaves alone."""

import ast
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {
    "beartype",
    "datasets",
    "hydra",
    "lightning",
    "matplotlib",
    "numpy",
    "omegaconf",
    "pandas",
    "rich",
    "scipy",
    "tensorboard",
    "tokenizers",
    "torch",
    "wandb",
}


def test_import_contracts() -> None:
    lint_imports = Path(sysconfig.get_path("scripts"), "lint-imports")
    result = subprocess.run([lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def imported_by(statement: str) -> set[str]:
    """The top-level packages in memory after a statement, in a fresh process that pytest's hooks do not reach."""
    code = f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\nprint(*sys.modules, file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in result.stderr.split()}


@pytest.mark.parametrize("arguments", ["['--help']", "[]", "['--version']"])
def test_help_imports_nothing_heavy(arguments: str) -> None:
    imported = imported_by(f"import minitx.cli; minitx.cli.main({arguments})")
    assert "minitx" in imported
    assert not imported & HEAVY


@pytest.mark.parametrize("package", ["minitx", "minitx.data", "minitx.models", "minitx.nn", "minitx.training"])
def test_packages_are_empty_of_imports(package: str) -> None:
    tree = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def test_shapes_are_checked_under_pytest() -> None:
    import torch

    from minitx.nn.mask import padding_mask

    with pytest.raises(Exception, match="Type-check"):
        padding_mask(torch.zeros(2, 3, 4, dtype=torch.int64), 0)
