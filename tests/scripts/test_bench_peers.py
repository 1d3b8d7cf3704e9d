"""The logic of scripts/bench_peers.py, without any peer: windows, parsing, the table, weights by other names."""

import json
import sys
from pathlib import Path

import bench_peers
import numpy as np
import pytest
from peers import environments, preparation, report, systems, weights
from peers.job import BOS, EOS, PAD, UNK, Facts, Job
from peers.window import MIN_WARM_UP_STEPS, Window, WindowOver, in_batches, sentences_per_second, timed_passes

from minitx.data.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from minitx.models.build import build_transformer
from minitx.nn.compatibility import ScaledDotProduct


class Clock:
    """Time passes only where the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def run_window(window: Window, clock: Clock, step_seconds: float, tokens: int) -> int:
    """Steps until the window is over; how many there were, warm-up included."""
    for steps in range(1, 1000):
        clock.now += step_seconds
        try:
            window.step(tokens)
        except WindowOver:
            return steps
    raise AssertionError("the window never ended")


def test_window_counts_only_what_follows_the_warm_up() -> None:
    clock = Clock()
    window = Window(warm_up=10, seconds=20, clock=clock)
    # The first step's end starts the clock of the warm-up: it ends with step 6, and 10 steps of 2 s are measured.
    assert run_window(window, clock, 2.0, 300) == 16
    assert window.figures() == {"tokens": 3000, "steps": 10, "seconds": 20.0, "tokens_per_second": 150.0}


def test_window_of_slow_steps_still_warms_up() -> None:
    clock = Clock()
    window = Window(warm_up=0, seconds=1, clock=clock)
    assert run_window(window, clock, 7.0, 70) == MIN_WARM_UP_STEPS + 1
    assert window.figures()["tokens_per_second"] == 10.0


def test_window_that_did_not_end_has_no_figures() -> None:
    window = Window(warm_up=0, seconds=60, clock=Clock())
    window.step(1)
    with pytest.raises(RuntimeError, match="after 0 of 60 measured seconds"):
        window.figures()


@pytest.mark.parametrize(("seconds_each", "passes"), [(100.0, 1), (20.0, 2), (1.0, 3)])
def test_passes_end_with_the_time_or_after_three(seconds_each: float, passes: int) -> None:
    clock = Clock()

    def translate() -> list[list[int]]:
        clock.now += seconds_each
        return [[7]]

    found, durations = timed_passes(translate, 30.0, clock)
    assert found == [[7]]
    assert durations == [seconds_each] * passes


def test_sentences_per_second_is_of_the_median_pass() -> None:
    assert sentences_per_second(1000, [4.0, 2.0, 100.0]) == 250.0


def test_batches_are_of_like_length_and_results_in_order() -> None:
    sources = [[1] * length for length in (3, 9, 1, 7, 5)]
    seen: list[list[int]] = []

    def translate(batch: list[list[int]]) -> list[list[int]]:
        seen.append([len(source) for source in batch])
        return [[len(source)] for source in batch]

    assert in_batches(sources, 2, translate) == [[3], [9], [1], [7], [5]]
    assert seen == [[9, 7], [5, 3], [1]]


def test_job_travels_as_a_file(tmp_path: Path) -> None:
    job = Job("a", "train", str(tmp_path), str(tmp_path), 2, 1.0, 2.0, 10, {"x": [1]})
    job.write(tmp_path / "job.json")
    assert Job.read(tmp_path / "job.json") == job
    facts = Facts(10, 1, 8, 16, 2, 0.1, 32, 4096, 270, "run", "corpus")
    (tmp_path / "facts.json").write_text(json.dumps(vars(facts)))
    assert job.facts == facts


def test_ids_are_written_without_their_end_mark_and_read_again(tmp_path: Path) -> None:
    preparation.write_ids(tmp_path / "test.en", [np.array([5, 6, EOS]), np.array([7, EOS])])
    assert (tmp_path / "test.en").read_text() == "5 6\n7\n"
    assert Job("a", "decode", str(tmp_path), "", 1, 0, 1, 1).ids("test", "en") == [[5, 6], [7]]


def test_special_ids_are_minitx_own() -> None:
    assert (PAD, BOS, EOS, UNK) == (PAD_ID, BOS_ID, EOS_ID, UNK_ID)


def test_pairs_in_a_batch_of_tokens() -> None:
    assert preparation.sentences_in(4096, [10, 20, 15]) == 273


@pytest.mark.parametrize(
    ("key", "value"),
    [("norm", "post"), ("num_decoder_layers", 2), ("d_k", 64), ("cross_attention", {"_target_": "a.B"})],
)
def test_a_model_that_the_peers_have_not_is_refused(key: str, value: object) -> None:
    scaled = {site: {"_target_": preparation.SCALED} for site in preparation.SITES}
    fits = {"norm": "pre", "num_layers": 4, "num_decoder_layers": None, "d_model": 128, "num_heads": 4, **scaled}
    preparation.check_model(fits | {"d_k": 32, "d_v": None})
    with pytest.raises(preparation.Unsuitable, match=key):
        preparation.check_model(fits | {key: value})


def test_scaled_attention_is_where_the_check_expects_it() -> None:
    assert f"{ScaledDotProduct.__module__}.{ScaledDotProduct.__qualname__}" == preparation.SCALED


@pytest.fixture
def small_weights() -> weights.Weights:
    sites = dict.fromkeys(("encoder_self_attention", "decoder_self_attention", "cross_attention"), ScaledDotProduct)
    sizes = {"d_model": 8, "d_ff": 12, "num_heads": 2, "num_layers": 2, "max_length": 6}
    model = build_transformer(vocab_size=11, pad_id=0, seed=1, norm="pre", **sizes, **sites)
    return {name: weight.numpy() for name, weight in model.state_dict().items()}


@pytest.mark.parametrize("rename", [weights.fairseq_names, weights.joeynmt_names])
def test_every_weight_gets_one_other_name(rename, small_weights: weights.Weights) -> None:
    ours = [id(weight) for name, weight in small_weights.items() if name != "embedding.weight"]
    renamed = rename(small_weights)
    assert sorted(id(weight) for weight in renamed.values() if id(weight) in ours) == sorted(ours)
    # Four projections at the six attention sites have no biases in minitx.
    added = {name: weight for name, weight in renamed.items() if id(weight) not in ours}
    assert len(added) == 4 * 6
    assert all(name.endswith(".bias") and weight.shape == (8,) and not weight.any() for name, weight in added.items())


def test_layers_by_fairseq_names(small_weights: weights.Weights) -> None:
    renamed = weights.fairseq_names(small_weights)
    for theirs, ours in {
        "encoder.layers.1.self_attn.out_proj.weight": "encoder.1.self_attention.output_projection.weight",
        "encoder.layers.0.final_layer_norm.bias": "encoder.0.residuals.1.norm.bias",
        "decoder.layers.0.encoder_attn_layer_norm.weight": "decoder.0.residuals.1.norm.weight",
        "decoder.layers.0.final_layer_norm.weight": "decoder.0.residuals.2.norm.weight",
        "decoder.layers.1.fc2.bias": "decoder.1.feed_forward.outer.bias",
        "decoder.layer_norm.weight": "decoder_norm.weight",
    }.items():
        assert renamed[theirs] is small_weights[ours]


def test_layers_by_joeynmt_names(small_weights: weights.Weights) -> None:
    renamed = weights.joeynmt_names(small_weights)
    for theirs, ours in {
        "encoder.layers.0.src_src_att.q_layer.weight": "encoder.0.self_attention.query_projection.weight",
        "encoder.layers.0.layer_norm.weight": "encoder.0.residuals.0.norm.weight",
        "decoder.layers.1.src_trg_att.v_layer.weight": "decoder.1.cross_attention.value_projection.weight",
        "decoder.layers.1.dec_layer_norm.bias": "decoder.1.residuals.1.norm.bias",
        "decoder.layers.1.feed_forward.layer_norm.bias": "decoder.1.residuals.2.norm.bias",
        "decoder.layers.1.feed_forward.pwff_layer.0.weight": "decoder.1.feed_forward.inner.weight",
    }.items():
        assert renamed[theirs] is small_weights[ours]


def test_special_rows_are_reordered_and_the_rest_stays() -> None:
    embedding = np.arange(6.0)[:, None]
    assert weights.reordered(embedding, (BOS, PAD, EOS, UNK))[:, 0].tolist() == [1, 0, 2, 3, 4, 5]


def test_positions_start_after_the_padding_row() -> None:
    table = weights.position_table(np.array([[1.0], [2.0]]), padding_row=1)
    assert table[:, 0].tolist() == [0, 0, 1, 2]


def test_result_is_found_among_other_output() -> None:
    line = {"system": "a", "phase": "train", "tokens_per_second": 5.0}
    output = "\n".join(["epoch 1", '{"loss": 3}', "{broken", json.dumps(line), "goodbye"])
    assert report.parse_result(output, "a", "train") == line
    assert report.parse_result(output, "a", "decode") is None
    assert report.parse_result(output, "b", "train") is None


def test_rounds_are_merged_by_medians() -> None:
    rounds = [
        {"system": "a", "phase": "train", "tokens_per_second": rate, "peak_memory_bytes": memory}
        for rate, memory in ((100.0, 5), (300.0, 9), (200.0, 7))
    ]
    decode = {"system": "a", "phase": "decode", "greedy_sentences_per_second": 8.0, "peak_memory_bytes": 99}
    figures = report.merge([*rounds, decode, {"system": "a", "phase": "train", "failure": "one round only"}])["a"]
    assert figures["tokens_per_second"] == 200.0
    assert figures["peak_memory_bytes"] == 9
    assert figures["greedy_sentences_per_second"] == 8.0
    assert "failures" not in figures


def test_table_shows_ratios_and_reasons() -> None:
    rows = [
        {"system": "minitx", "phase": "train", "tokens_per_second": 12000.0, "peak_memory_bytes": 1.1e9},
        {"system": "fairseq", "phase": "train", "tokens_per_second": 6000.0, "peak_memory_bytes": 1.5e9},
        {"system": "fairseq", "phase": "decode", "greedy_sentences_per_second": 50.0, "greedy_bleu": 30.0},
        {"system": "marian", "phase": "train", "failure": "no a|b"},
    ]
    shown = [system for system in systems.SYSTEMS if system.name in ("minitx", "fairseq", "marian")]
    lines = report.table(shown, report.merge(rows)).splitlines()
    assert lines[1] == "| --- | --- | --- | --- | --- | --- | --- |"
    assert lines[2] == "| minitx | 12,000 (2.00 x) | 1.10 GB | – | – | – | – |"
    assert "| 6,000 (1.00 x) | 1.50 GB | 50.0 (1.00 x) | – | 30.00 /  | – |" in lines[3]
    assert "(train failed: no a/b)" in lines[4]


def test_reason_of_a_failure_is_its_last_error() -> None:
    assert environments.reason("a\nERROR: No matching distribution found for x\nwarning\n").startswith(
        "ERROR: No match"
    )
    assert environments.reason("Traceback\n  x\nsome.module.OddError: broken\n\n[notice] pip\n").endswith("broken")
    assert environments.reason("Killed\n") == "Killed"
    assert environments.reason("") == "no output"


def test_systems_are_chosen_by_name_in_the_table_s_order() -> None:
    names = [system.name for system in bench_peers.chosen("marian,minitx", ["trainer.precision=bf16-mixed"])]
    assert names == ["minitx", "marian", "minitx trainer.precision=bf16-mixed"]
    with pytest.raises(SystemExit, match="no system fairsek"):
        bench_peers.chosen("fairsek", [])


def test_every_system_has_a_runner_and_an_environment() -> None:
    for system in systems.SYSTEMS:
        assert (Path(bench_peers.SCRIPTS, "peers", f"{system.runner}.py")).is_file()
        assert system.environment is None or system.environment in systems.ENVIRONMENTS
    assert systems.REFERENCE in [system.name for system in systems.SYSTEMS]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runner that says what it was given, in place of a peer's."""
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers" / "__init__.py").touch()
    (tmp_path / "peers" / "run_stand_in.py").write_text(
        "import json, os, sys\n"
        "job = json.load(open(sys.argv[1]))\n"
        "if job['options'].get('fails'):\n"
        "    raise ValueError('it does not run here')\n"
        "print('chatter')\n"
        "print(json.dumps({'system': job['system'], 'phase': job['phase'],"
        " 'tokens_per_second': job['seconds'], 'threads': os.environ['OMP_NUM_THREADS'],"
        " 'allocator': os.environ.get('MALLOC_MMAP_MAX_')}))\n"
    )
    monkeypatch.setattr(bench_peers, "SCRIPTS", tmp_path)
    return tmp_path


def measured(directory: Path, **changes) -> dict:
    arguments = bench_peers.parser().parse_args([str(directory), "--seconds", "3", "--threads", "2"])
    system = systems.System("peer", "Peer", None, "run_stand_in", **changes)
    return bench_peers.measure(directory, system, "train", Path(sys.executable), arguments)


def test_a_system_is_measured_in_a_process_of_its_own(stand_in: Path, tmp_path: Path) -> None:
    line = measured(tmp_path / "out", variables=systems.KEEPS_PAGES)
    assert line == {"system": "peer", "phase": "train", "tokens_per_second": 3.0, "threads": "2", "allocator": "0"}
    assert "chatter" in (tmp_path / "out/logs/peer.train.log").read_text()


def test_a_system_that_fails_gives_its_reason(stand_in: Path, tmp_path: Path) -> None:
    line = measured(tmp_path / "out", options={"fails": True})
    assert line == {"system": "peer", "phase": "train", "failure": "ValueError: it does not run here"}


def test_agreement_is_the_share_of_equal_lines(tmp_path: Path) -> None:
    (tmp_path / "ours").write_text("1 2\n3\n4\n5\n")
    (tmp_path / "theirs").write_text("1 2\n3\n4 4\n5\n")
    assert preparation.agreement(tmp_path / "ours", tmp_path / "theirs") == 0.75


def test_an_installation_that_fails_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def python_of(directory: Path, name: str) -> Path:
        if name == "fairseq":
            raise environments.InstallationFailed("ERROR: no such thing")
        return directory / name

    monkeypatch.setattr(bench_peers, "python_of", python_of)
    pythons, lines = bench_peers.install(tmp_path, bench_peers.chosen("minitx,fairseq,marian", []))
    assert pythons == {"minitx": Path(sys.executable), "fairseq": None, "marian": tmp_path / "transformers"}
    assert {(line["system"], line["phase"]) for line in lines} == {("fairseq", "train"), ("fairseq", "decode")}
    assert report.merge(lines)["fairseq"]["failures"]["train"] == "not installed: ERROR: no such thing"
