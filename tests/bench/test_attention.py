"""`minitx bench attention`: its records, what it leaves out, and what it refuses."""

import json

import pytest
import torch

from minitx import cli
from minitx.bench import attention as attention_module
from minitx.bench import sweep as sweep_module
from minitx.bench.sweep import Sweep
from minitx.bench.workload import (
    ONE_QUERY,
    Inputs,
    Series,
    Setting,
    Workload,
    load_variants,
    option_names,
)
from minitx.errors import UserError
from minitx.resources import configs_directory

CPU = torch.device("cpu")
TINY = ["--lengths", "4,8", "--d-k", "4", "--batch", "2", "--heads", "2", "--repeats", "2", "--threads", "1"]


@pytest.fixture
def bench(tmp_path, capsys, monkeypatch):
    """`bench(…)`: the records of a tiny grid, and everything that was said to a person; drawn if asked for."""

    def run(*arguments: str, status: int = 0, draw: bool = False):
        if not draw:  # it takes seconds
            monkeypatch.setattr(attention_module, "save_figure", lambda *_: [])
        lines = tmp_path / "lines.jsonl"
        out = ["--out", str(tmp_path / "figures"), "--json", str(lines)]
        assert cli.main(["bench", "attention", *TINY, *out, *arguments]) == status
        shown = capsys.readouterr()
        records = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
        return records, shown.out + shown.err

    return run


def test_records_of_a_tiny_grid(bench, tmp_path) -> None:
    records, shown = bench("--variants", "additive_reference", draw=True)

    cases = [(r["d_k"], r["length"], r["variant"], r["form"]) for r in records]
    assert cases == [
        (4, n, variant, form)
        for n in (4, 8)
        for variant, form in [("scaled", "packed"), ("additive_reference", "packed"), ("scaled", ONE_QUERY)]
    ]
    for record in records:
        assert record["benchmark"] == "attention"
        assert (record["part"], record["batch"], record["heads"], record["dtype"]) == ("attention", 2, 2, "float32")
        assert (record["device"], record["threads"], record["torch"]) == ("cpu", 1, torch.__version__)
        assert record["device_name"]
        assert record["samples"] == 2
        assert record["skipped"] is None
        for name in ("forward_seconds", "backward_seconds", "seconds"):
            assert 0 < record[f"{name}_lower"] <= record[name] <= record[f"{name}_upper"]
        assert record["memory_bytes"] > 0
    assert [r["time_ratio"] for r in records if r["variant"] == "scaled" and r["form"] == "packed"] == [1.0, 1.0]
    textbook = next(r for r in records if r["variant"] == "additive_reference" and r["length"] == 8)
    scaled = next(r for r in records if r["variant"] == "scaled" and r["length"] == 8)
    assert textbook["memory_ratio"] == pytest.approx(textbook["memory_bytes"] / scaled["memory_bytes"])
    pairs = 2 * 2 * 8 * 8
    assert textbook["multiply_adds"] == pairs * (2 * 4 + 3 + 4)
    assert textbook["transcendentals"] == pairs * (4 + 1)
    for words in ("6 cases, about", "additive_reference: ", "× the time and", "for 1.", "multiply-adds"):
        assert words in shown
    for ending in ("svg", "png"):
        assert (tmp_path / "figures" / f"attention.{ending}").stat().st_size > 1000


def test_records_on_standard_output_stand_alone(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(attention_module, "save_figure", lambda *_: [])
    arguments = ["bench", "attention", *TINY, "--variants", "scaled", "--out", str(tmp_path), "--json", "-"]
    assert cli.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["length"] for line in lines] == [4, 4, 8, 8]


def test_a_case_that_does_not_fit_is_left_out_and_named(bench, monkeypatch) -> None:
    # The textbook form at length 32 holds 2 · 2 · 32 · 32 · 4 numbers twice, 128 KiB; everything else less than 96.
    monkeypatch.setattr(sweep_module, "available_bytes", lambda device: int(96 * 2**10 / sweep_module.SHARE))
    records, shown = bench("--variants", "additive_reference", "--lengths", "4,32")

    left_out = [(r["variant"], r["length"]) for r in records if r["skipped"]]
    assert left_out == [("additive_reference", 32)]
    assert "left out: additive_reference, length 32, d_k 4: it would need about" in shown
    [record] = [r for r in records if r["skipped"]]
    assert "seconds" not in record
    assert record["multiply_adds"] > 0


def test_running_out_of_memory_after_all_is_no_crash(monkeypatch) -> None:
    def exhausted(work, device):
        raise RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes.")

    sweep = Sweep(Setting("score", 1, 1, torch.float32, CPU), [Series(load_variants(["scaled"])[0])], 1)
    sweep.run_pilots(4, 4)
    monkeypatch.setattr(sweep_module, "peak_memory", exhausted)
    [result] = sweep.measure(4, 4)
    assert "out of memory after all" in result.skipped


def test_interrupted_it_keeps_what_is_measured(bench, monkeypatch) -> None:
    measure = Sweep.measure

    def interrupted(self, length: int, d_k: int):
        if length == 8:
            raise KeyboardInterrupt
        return measure(self, length, d_k)

    monkeypatch.setattr(Sweep, "measure", interrupted)
    records, shown = bench("--variants", "scaled", status=130)
    assert [r["length"] for r in records] == [4, 4]
    assert "forward ms" in shown
    assert "interrupted" in shown


def test_every_option_of_the_configuration_is_measured() -> None:
    files = {file.stem for file in (configs_directory() / "attention").glob("*.yaml")}
    assert set(option_names()) == files
    assert option_names()[0] == "scaled"


@pytest.mark.parametrize("part", ["attention", "score"])
def test_one_query_at_a_time_is_the_same_function(part: str) -> None:
    setting = Setting(part, 2, 3, torch.float64, CPU)
    inputs = Inputs(setting, 5, 4)
    for variant in load_variants(["additive", "cosine"]):
        torch.manual_seed(1)
        packed = Workload(Series(variant), setting, inputs)
        torch.manual_seed(1)
        single = Workload(Series(variant, ONE_QUERY), setting, inputs)
        packed.forward()
        single.forward()
        torch.testing.assert_close(packed._output, single._output)
        assert packed._output.shape == (2, 3, 5, 4 if part == "attention" else 5)


def test_equation_1() -> None:
    setting = Setting("attention", 2, 3, torch.float64, CPU)
    inputs = Inputs(setting, 5, 4)
    workload = Workload(Series(load_variants(["scaled"])[0]), setting, inputs)
    workload.forward()
    expected = torch.nn.functional.scaled_dot_product_attention(inputs.query, inputs.key, inputs.value)
    torch.testing.assert_close(workload._output, expected)


def test_inputs_are_the_same_for_everyone_and_of_unit_variance() -> None:
    setting = Setting("attention", 4, 4, torch.float32, CPU)
    one, other = (Inputs(setting, 64, 32) for _ in range(2))
    assert torch.equal(one.query, other.query)
    assert not torch.equal(one.query, one.key)
    assert one.key.var().item() == pytest.approx(1.0, abs=0.05)


def test_half_precision(bench) -> None:
    records, _ = bench("--variants", "cosine,additive,bilinear", "--lengths", "4", "--dtype", "bfloat16")
    assert {r["dtype"] for r in records} == {"bfloat16"}
    assert all(r["seconds"] > 0 for r in records)


def test_a_class_of_one_s_own(bench, tmp_path, monkeypatch) -> None:
    (tmp_path / "my_scores.py").write_text(
        "import torch\n\n\nclass Distance(torch.nn.Module):\n"
        "    def __init__(self, *, d_k: int, num_heads: int) -> None:\n        super().__init__()\n\n"
        "    def forward(self, query, key):\n        return -torch.cdist(query, key)\n\n\n"
        "class Broken(Distance):\n    def forward(self, query, key):\n        raise IndexError('no such thing')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    records, _ = bench("--variants", "my_scores.Distance", "--lengths", "4")
    assert [r["variant"] for r in records] == ["scaled", "Distance", "scaled"]
    assert "multiply_adds" not in records[1]
    _, shown = bench("--variants", "my_scores.Broken", status=2)
    assert "my_scores.Broken cannot be measured in torch.float32: IndexError: no such thing." in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lengths", "16,x"], "argument --lengths: x is no whole number of at least 1"),
        (["--d-k", "0"], "argument --d-k: 0 is no whole number of at least 1"),
        (["--repeats", "-1"], "-1 is no whole number"),
        (["--dtype", "int8"], "invalid choice: 'int8'"),
        (["--part", "half"], "invalid choice: 'half'"),
        (["--varaints", "scaled"], "unrecognized arguments: --varaints"),
        (["--variants", "scald"], "scald"),
        (["--variants", "no_such_package.Score"], "there is no module no_such_package"),
        (["--device", "toaster"], "There is no device toaster here"),
        (["--json", "no/such/directory/lines.jsonl"], "cannot be written"),
        (["--out", "/dev/null/figures"], "no such directory can be made"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["bench", "attention", *TINY, *arguments]) == 2
    shown = capsys.readouterr().err
    assert words in shown
    assert "Traceback" not in shown
    assert shown.removeprefix("warning").count("minitx: ") == 1


def test_load_variants_puts_the_reference_in_front() -> None:
    assert [variant.name for variant in load_variants(["additive", "cosine"])] == ["scaled", "additive", "cosine"]
    assert [variant.name for variant in load_variants(["additive", "scaled"])] == ["additive", "scaled"]
    with pytest.raises(UserError):
        load_variants(["nonsense"])
