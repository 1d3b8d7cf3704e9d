"""What the README shows works as it stands there."""

import re
import shlex
from pathlib import Path

import pytest

from minitx.config import compose
from minitx.testing import check_compatibility_function

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
TRAININGS = [line for _, block in BLOCKS for line in block.splitlines() if line.startswith("minitx train")]


def test_its_variant_keeps_the_contract_it_names():
    [code] = [block for language, block in BLOCKS if language == "python"]
    defined = {}
    exec(compile(code, "README.md", "exec"), defined)
    check_compatibility_function(defined["Distance"])


@pytest.mark.parametrize("line", TRAININGS)
def test_its_trainings_are_configurations(line, tmp_path):
    command = shlex.split(line.replace("DIR", str(tmp_path)), comments=True)
    overrides = [argument for argument in command[2:] if not argument.startswith("-")]
    for override in overrides:
        key, _, values = override.partition("=")
        for value in values.split(","):  # each value of a sweep once, beside the first of the other keys
            compose([f"{key}={value}", *(other.split(",")[0] for other in overrides if other != override)])


def test_it_has_trainings_to_try():
    assert len(TRAININGS) > 15
