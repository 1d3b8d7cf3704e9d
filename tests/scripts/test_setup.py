"""scripts/setup.sh, train.sh and test.sh on machines of all sorts.

Most tests run the real scripts against a stand-in for Python that answers what setup.sh asks of it and notes each call,
on a PATH that holds nothing but it and the tools that every Unix has.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ["awk", "bash", "cat", "dirname", "find", "grep", "head", "mkdir", "mv", "rm", "sed", "sleep", "tee", "uname"]
UNREACHABLE = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": ""}

# The stand-in. What it does wrong is set through the environment: VERSION_OF_<name>, NO_VENV, PIP_OUTPUT, PIP_SECONDS.
STAND_IN = r"""#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$CALLS"
version="VERSION_OF_$(basename "$0" | tr . _)"
case "$*" in
    "-c import sys"*) [ "${!version-3.11}" ] && echo "${!version-3.11}" ;;
    "-c import venv"*) [ -z "${NO_VENV:-}" ] ;;
    "-m venv "*) mkdir -p "$3/bin" && touch "$3/pyvenv.cfg" && cp "$0" "$3/bin/python" ;;
    "-m pip "*)
        sleep "${PIP_SECONDS:-0}"
        if [ -n "${PIP_OUTPUT:-}" ]; then
            echo "$PIP_OUTPUT"
            exit 1
        fi
        printf '#!/usr/bin/env bash\nprintf "[%%s]" "$PWD" "$@"\n' >"$(dirname "$0")/minitx"
        chmod +x "$(dirname "$0")/minitx" ;;
    "-m ruff check"*) exit "${RUFF_STATUS:-0}" ;;
    "-m pytest"*) exit "${PYTEST_STATUS:-0}" ;;
esac
"""


class Machine:
    """A fresh machine with a checkout of minitx on it, in a directory with a blank in its name."""

    def __init__(self, directory: Path) -> None:
        self.checkout = directory / "check out"
        self.binaries = directory / "bin"
        self.calls_file = directory / "calls"
        self.binaries.mkdir()
        self.calls_file.touch()
        for file in ("scripts/setup.sh", "scripts/train.sh", "scripts/test.sh", ".ci/run"):
            (self.checkout / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.checkout / file)
        for file in ("requirements.lock", "constraints-cuda.txt", "pyproject.toml"):
            shutil.copy(ROOT / file, self.checkout / file)
        for tool in [*TOOLS, "basename", "tr", "cp", "touch", "chmod"]:
            (self.binaries / tool).symlink_to(shutil.which(tool))

    def install_python(self, name: str = "python3") -> None:
        (self.binaries / name).write_text(STAND_IN)
        (self.binaries / name).chmod(0o755)

    def environment(self, **changes: str) -> dict[str, str]:
        return {"PATH": str(self.binaries), "CALLS": str(self.calls_file), "HOME": str(self.checkout.parent), **changes}

    def run(self, script: str, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", self.checkout / script, *arguments],
            env=self.environment(**changes),
            cwd=self.checkout.parent,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def calls(self, text: str) -> list[str]:
        return [call for call in self.calls_file.read_text().splitlines() if text in call]


@pytest.fixture
def bare_machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def machine(bare_machine: Machine) -> Machine:
    bare_machine.install_python()
    return bare_machine


def assert_one_sentence(result: subprocess.CompletedProcess[str], *parts: str) -> None:
    """The last line of stderr is a whole sentence with these parts, and nothing but progress comes before it."""
    *progress, sentence = result.stderr.splitlines()
    assert result.returncode == 1
    assert all(part in sentence for part in parts), sentence
    assert sentence.endswith((".", ").")), sentence
    assert len(progress) <= 1, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_train_sets_up_and_passes_its_arguments_on(machine: Machine) -> None:
    result = machine.run("scripts/train.sh", "attention=additive", "data.path=my data")
    assert result.returncode == 0, result.stderr
    # From the directory it was called from: relative paths mean what they say.
    assert result.stdout == f"[{machine.checkout.parent}][train][attention=additive][data.path=my data]"
    requirements, editable = machine.calls("-m pip")[1:]
    assert f"--requirement {machine.checkout}/requirements.lock" in requirements
    assert f"--constraint {machine.checkout}/constraints-cuda.txt" in requirements
    assert f"--no-deps --editable {machine.checkout}" in editable


def test_second_call_sets_nothing_up(machine: Machine) -> None:
    machine.run("scripts/train.sh")
    before = machine.calls("")
    result = machine.run("scripts/train.sh", "seed=2")
    assert result.stderr == ""
    assert "[seed=2]" in result.stdout
    assert machine.calls("") == before


def test_python3_comes_first_where_it_fits(machine: Machine) -> None:
    machine.install_python("python3.12")
    machine.run("scripts/train.sh")
    assert machine.calls("-m venv")[0].startswith("python3 ")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_versioned_python_where_python3_does_not_fit(machine: Machine, version: str) -> None:
    machine.install_python(f"python{version}")
    fitting = {f"VERSION_OF_python{version.replace('.', '_')}": version, "VERSION_OF_python": version}
    result = machine.run("scripts/train.sh", VERSION_OF_python3="3.14", **fitting)
    assert result.returncode == 0, result.stderr
    assert machine.calls("-m venv")[0].startswith(f"python{version} ")


@pytest.mark.parametrize("version", ["2.7", "3.10", "3.14"])
def test_other_pythons_are_refused(machine: Machine, version: str) -> None:
    result = machine.run("scripts/train.sh", VERSION_OF_python3=version)
    assert_one_sentence(result, "3.11, 3.12 or 3.13", f"python3 is Python {version}")


def test_no_python_at_all(bare_machine: Machine) -> None:
    assert_one_sentence(bare_machine.run("scripts/train.sh"), "Python 3.11, 3.12 or 3.13", "none is on the PATH")


def test_named_python_is_refused_or_taken(machine: Machine) -> None:
    machine.install_python("mine")
    refused = machine.run("scripts/train.sh", PYTHON="mine", VERSION_OF_mine="3.9")
    assert_one_sentence(refused, "PYTHON=mine", "3.9")
    assert_one_sentence(machine.run("scripts/train.sh", PYTHON="nowhere"), "PYTHON=nowhere", "does not run")
    assert machine.run("scripts/train.sh", PYTHON="mine").returncode == 0
    assert machine.calls("-m venv")[0].startswith("mine ")
    assert machine.run("scripts/train.sh").stderr == ""


def test_naming_another_version_later_sets_up_again(machine: Machine) -> None:
    machine.run("scripts/train.sh")
    machine.install_python("newer")
    assert machine.run("scripts/train.sh", PYTHON="newer", VERSION_OF_newer="3.13").returncode == 0
    assert machine.calls("newer -m venv")


def test_no_venv_module_is_said_and_mended(machine: Machine) -> None:
    result = machine.run("scripts/train.sh", NO_VENV="1")
    assert_one_sentence(result, "venv or ensurepip module", "apt install python3.11-venv")
    assert machine.run("scripts/train.sh").returncode == 0


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("NewConnectionError(...)\nERROR: No matching distribution found for torch==2.13.0", "cannot be reached"),
        ("ERROR: No matching distribution found for torch==2.13.0", "no torch==2.13.0 for Python 3.11"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: something else", "at the end of"),
    ],
)
def test_pip_failures_are_said_and_redone(machine: Machine, output: str, said: str) -> None:
    result = machine.run("scripts/train.sh", PIP_OUTPUT=output)
    log = machine.checkout / ".venv/setup.log"
    assert_one_sentence(result, said, str(log))
    assert output in log.read_text()
    assert machine.run("scripts/train.sh").returncode == 0
    assert len(machine.calls("-m venv")) == 2
    assert not list((machine.checkout / ".venv").glob("setup-[!d]*"))


def test_killed_set_up_is_redone(machine: Machine) -> None:
    first = subprocess.Popen(
        ["bash", machine.checkout / "scripts/train.sh"],
        env=machine.environment(PIP_SECONDS="60"),
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not machine.calls("-m pip"):
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    result = machine.run("scripts/train.sh")
    assert result.returncode == 0, result.stderr
    assert len(machine.calls("-m venv")) == 2


def test_two_calls_at_once_set_up_once(machine: Machine) -> None:
    processes = [
        subprocess.Popen(
            ["bash", machine.checkout / "scripts/train.sh"],
            env=machine.environment(PIP_SECONDS="0.3"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[0].count(b"[train]") for process in processes] == [1, 1]
    assert len(machine.calls("-m venv")) == 1
    assert len(machine.calls("-m pip")) == 3


def test_new_lock_updates_the_environment(machine: Machine) -> None:
    machine.run("scripts/train.sh")
    with (machine.checkout / "requirements.lock").open("a") as lock:
        lock.write("six==1.17.0\n")
    result = machine.run("scripts/train.sh")
    assert "up to date" in result.stderr
    assert len(machine.calls("-m pip")) == 6
    assert len(machine.calls("-m venv")) == 1


def test_moved_checkout_is_set_up_again(machine: Machine) -> None:
    machine.run("scripts/train.sh")
    machine.checkout = machine.checkout.rename(machine.checkout.with_name("moved"))
    assert machine.run("scripts/train.sh").returncode == 0
    assert len(machine.calls("-m venv")) == 2


def test_environment_of_the_users_is_never_removed(machine: Machine) -> None:
    (machine.checkout / ".venv").mkdir()
    (machine.checkout / ".venv/pyvenv.cfg").touch()
    (machine.checkout / ".venv/mine").touch()
    assert_one_sentence(machine.run("scripts/train.sh"), "did not make", "remove it")
    assert (machine.checkout / ".venv/mine").exists()


def test_torch_index_is_asked_for_torch(machine: Machine) -> None:
    machine.run("scripts/train.sh", TORCH_INDEX_URL="https://example.org/cpu")
    assert "--extra-index-url https://example.org/cpu" in machine.calls("--requirement")[0]


@pytest.mark.parametrize("script", ["scripts/test.sh", ".ci/run"])
def test_test_script_checks_style_types_and_tests(machine: Machine, script: str) -> None:
    assert machine.run(script).returncode == 0
    for tool in ("-m ruff check", "-m ruff format --check", "-m mypy", "-m pytest"):
        assert machine.calls(tool)


def test_test_script_passes_arguments_and_failures_on(machine: Machine) -> None:
    assert machine.run("scripts/test.sh", "tests/nn", "-k", "mask", PYTEST_STATUS="5").returncode != 0
    assert machine.calls("-m pytest")[0].endswith("tests/nn -k mask")
    assert machine.run("scripts/test.sh", RUFF_STATUS="1").returncode != 0
    assert len(machine.calls("-m pytest")) == 2  # the tests ran all the same


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "said"),
    [({"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}, "has no setuptools=="), (UNREACHABLE, "cannot be reached")],
)
def test_real_pip_without_an_index(bare_machine: Machine, changes: dict[str, str], said: str) -> None:
    python = {"PYTHON": sys.executable, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1"}
    result = bare_machine.run("scripts/train.sh", **python, **changes)
    assert_one_sentence(result, said, "setup.log")
