"""The budgets that keep every file readable in one sitting."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 50
MAX_CONSTRUCTOR_ARGUMENTS = 8
# Dictionaries of words, a line or a few for each: longer than code may be.
TABLES = {"scripts/toy_grammar/verbs.py"}
DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc"}

SOURCES = sorted(path for folder in ("minitx", "scripts", "tests") for path in (ROOT / folder).rglob("*.py"))
PACKAGE = [path for path in SOURCES if path.is_relative_to(ROOT / "minitx")]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_lengths(path: Path) -> None:
    text = path.read_text()
    lines = text.count("\n")
    assert lines <= MAX_FILE_LINES or name(path) in TABLES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < MAX_FUNCTION_LINES, f"{node.name}, line {node.lineno}"


@pytest.mark.parametrize("path", PACKAGE, ids=name)
def test_constructors_take_few_arguments(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            assert len(arguments) - 1 <= MAX_CONSTRUCTOR_ARGUMENTS, f"line {node.lineno}"


def test_no_drawers() -> None:
    assert not [name(path) for path in SOURCES if {path.stem, path.parent.name} & DRAWERS]


def test_no_machine_paths_or_addresses_of_registries() -> None:
    """The project installs from wherever pip is told to, and runs wherever it lies."""
    hosts = ["pypi" + ".org", "python" + "hosted", "download." + "pytorch"]
    paths = ["/ro" + "ot/", "/wo" + "rk/", "/ho" + "me/"]
    for path in ROOT.rglob("*"):
        below = path.relative_to(ROOT)
        shipped = below.parts[0] in {"minitx", "scripts", "tests", "configs", "docs", ".ci"} or len(below.parts) == 1
        if shipped and path.suffix in {".py", ".sh", ".toml", ".lock", ".txt", ".md", ".yaml", ""} and path.is_file():
            text = path.read_text()
            assert not [word for word in hosts + paths if word in text], below
