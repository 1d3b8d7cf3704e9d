"""The command line: dispatch, help, exit status, and one line for a mistake."""

import contextlib
import importlib
import subprocess
import sys
import types
from collections.abc import Callable

import pytest

from minitx import cli
from minitx.errors import UserError
from minitx.resources import configs_directory

HEAVY = ("torch", "lightning", "hydra", "omegaconf", "datasets", "tokenizers", "numpy", "wandb", "pandas")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[list[str]], int | None]], None]:
    """Makes `minitx stand-in` run a function."""

    def install(run: Callable[[list[str]], int | None]) -> None:
        module = types.ModuleType("stand_in")
        module.main = run
        monkeypatch.setitem(sys.modules, "stand_in", module)
        monkeypatch.setitem(cli.COMMANDS, "stand-in", cli.Command("stand_in", "", ""))

    return install


def failing(error: BaseException) -> Callable[[list[str]], None]:
    def run(argv: list[str]) -> None:
        raise error

    return run


def test_every_command_exists_and_its_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for name, entry in cli.COMMANDS.items():
        assert callable(importlib.import_module(entry.module).main)
        with contextlib.suppress(SystemExit):
            assert cli.main([*name.split(), "--help"]) == 0
        shown = capsys.readouterr().out
        assert "xample" in shown, name
        assert f"minitx {name}" in shown, name


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from minitx import cli; cli.main(['--help']); cli.main(['--version']);"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )

    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert all(f"  {name} " in shown for name in cli.COMMANDS)
    assert shown.splitlines()[-1] == "[]"


def test_arguments_and_status_pass_through(command: Callable) -> None:
    seen = []
    command(lambda argv: seen.append(argv) or 7)

    assert cli.main(["stand-in", "a=b", "--flag"]) == 7
    assert seen == [["a=b", "--flag"]]


def test_a_command_that_returns_nothing_is_done(command: Callable) -> None:
    command(lambda argv: None)

    assert cli.main(["stand-in"]) == 0


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        (["trian"], "no command trian; did you mean `minitx train`?"),
        (["evalute", "runs/x"], "did you mean `minitx evaluate`?"),
        (["data"], "did you mean `minitx data check`?"),
        (["data", "chekc"], "no command data chekc; did you mean `minitx data check`?"),
        (["zzzz"], "choose one of train, evaluate"),
    ],
)
def test_an_unknown_command(typed: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(typed) == 2
    shown = capsys.readouterr()
    assert part in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_a_user_s_mistake_is_one_line_and_status_2(command: Callable, capsys: pytest.CaptureFixture[str]) -> None:
    command(failing(UserError("a.en, line 3:\nit is empty.")))

    assert cli.main(["stand-in"]) == 2
    assert capsys.readouterr().err == "minitx: a.en, line 3: it is empty.\n"


def test_a_fault_says_so_and_how_to_see_its_traceback(command: Callable, capsys: pytest.CaptureFixture[str]) -> None:
    error = ZeroDivisionError("division by zero")
    error.add_note("It is in runs/x/traceback.txt.")
    command(failing(error))

    assert cli.main(["stand-in"]) == 1
    shown = capsys.readouterr().err
    assert "a fault of minitx, not yours: ZeroDivisionError: division by zero" in shown
    assert "runs/x/traceback.txt" in shown
    assert "--debug" in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("error", [UserError("x"), ZeroDivisionError("x")])
@pytest.mark.parametrize("how", ["option", "variable"])
def test_debug_lets_the_traceback_through(
    command: Callable, error: Exception, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(failing(error))
    if how == "variable":
        monkeypatch.setenv("HYDRA_FULL_ERROR", "1")

    with pytest.raises(type(error)):
        cli.main(["stand-in", "--debug"] if how == "option" else ["stand-in"])


def test_interrupts_are_statuses(command: Callable, capsys: pytest.CaptureFixture[str]) -> None:
    command(failing(KeyboardInterrupt()))
    assert cli.main(["stand-in"]) == 130
    stopped = RuntimeError("Interrupted by SIGTERM; last.ckpt was saved.")
    stopped.signal_number = 15
    command(failing(stopped))
    assert cli.main(["stand-in"]) == 143
    assert capsys.readouterr().err.splitlines()[-1] == "minitx: Interrupted by SIGTERM; last.ckpt was saved."


def test_a_reader_that_has_gone_is_no_error() -> None:
    program = (
        "import sys, types\nfrom minitx import cli\nmodule = types.ModuleType('many_lines')\n"
        "module.main = lambda argv: print('x\\n' * 1_000_000)\nsys.modules['many_lines'] = module\n"
        "cli.COMMANDS['many'] = cli.Command('many_lines', '', '')\nsys.exit(cli.main(['many']))"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()

    assert process.stderr.read() == b""
    assert process.wait() == 141


def test_train_help_lists_what_the_configuration_files_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "--help"]) == 0

    shown = capsys.readouterr().out
    for file in configs_directory().glob("*/*.yaml"):
        assert f"{file.parent.name}=" in shown
        assert f" {file.stem} " in shown
    for key in ("model.d_k=null", "training.max_steps=", "data.batch_tokens=", "schedule.warmup_steps=", "seed=1"):
        assert f"  {key}" in shown
    assert "* scaled" in shown
    assert "minitx train attention@model.cross_attention=additive" in shown
