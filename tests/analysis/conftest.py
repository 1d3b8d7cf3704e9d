"""Run directories written by hand, so that every answer is known."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

CLASSES = {"scaled": "ScaledDotProduct", "unscaled": "UnscaledDotProduct", "additive": "Additive"}
SITES = ("encoder_self_attention", "decoder_self_attention", "cross_attention")
TOKENS_A_STEP, SECONDS_A_STEP, FLOPS_A_TOKEN = 100, 0.5, 1000.0
MEBIBYTE = 2**20
REFERENCES = [
    f"the {animal} runs over the {place} today" for animal in ("dog", "cat", "ox") for place in "abcdefghijkl"
]


def change(config: dict, changes: Mapping[str, object]) -> dict:
    for key, value in changes.items():
        *above, last = key.split(".")
        node = config
        for part in above:
            node = node.setdefault(part, {})
        node[last] = value
    return config


def configuration(attention: str, seed: int, changes: Mapping[str, object]) -> dict:
    site = {"_target_": f"minitx.nn.compatibility.{CLASSES.get(attention, attention)}", "_partial_": True}
    model = {"d_model": 32, "num_heads": 2, "d_k": None, "d_v": None, **{name: dict(site) for name in SITES}}
    config = {
        "seed": seed,
        "name": f"run-{seed}",
        "run_directory": "runs",
        "model": model,
        "data": {"path": "somewhere", "batch_tokens": 1024},
        "training": {"max_steps": 400, "max_epochs": None},
        "schedule": {"peak_learning_rate": None, "warmup_steps": 100},
        "trainer": {"precision": "32-true", "threads": None},
        "options": {"attention": attention},
    }
    return change(config, changes)


def metrics_csv(losses: Sequence[tuple[int, float]], columns: Mapping[str, Sequence[float]]) -> str:
    lines = [",".join(["step", "tokens", "seconds", "train_loss", "validation_loss", *columns])]
    for number, (step, loss) in enumerate(losses):
        own = [str(values[number]) for values in columns.values()]
        lines.append(",".join([str(step), str(step * TOKENS_A_STEP), str(step * SECONDS_A_STEP), "", str(loss), *own]))
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """`write_run(name, attention, seed=…, losses=…)`: a run directory below `tmp_path/runs`.

    `changes` are dotted keys of the configuration, `facts` keys of run.json, `columns` further columns of metrics.csv,
    a value a validation; `hypotheses` are kept as the translations of `test`, whose references are REFERENCES.
    """

    def write(
        name: str,
        attention: str = "scaled",
        *,
        seed: int = 1,
        losses: Sequence[tuple[int, float]] = ((100, 4.0), (200, 3.0), (300, 2.0), (400, 1.0)),
        status: str = "finished",
        changes: Mapping[str, object] | None = None,
        facts: Mapping[str, object] | None = None,
        columns: Mapping[str, Sequence[float]] | None = None,
        hypotheses: Sequence[str] | None = None,
        bleu: float | None = None,
    ) -> Path:
        run = tmp_path / "runs" / name
        (run / "translations").mkdir(parents=True)
        recorded = {
            "status": status,
            "config": configuration(attention, seed, changes or {}),
            "seed": seed,
            "precision": "32-true",
            "parameters": {"total": 1234},
            "flops_per_token": FLOPS_A_TOKEN,
            "data_fingerprint": "a" * 64,
            "versions": {"minitx": "0.1.0", "torch": "2.13.0"},
            "git_commit": "c" * 40,
            "device_name": "CPU",
            "threads": 2,
        }
        (run / "run.json").write_text(json.dumps(recorded | dict(facts or {})))
        (run / "metrics.csv").write_text(metrics_csv(losses, columns or {}))
        if status in ("finished", "diverged"):
            summary = {"steps": 400, "tokens_per_second": 200.0, "peak_memory_bytes": {"host": 64 * MEBIBYTE}}
            tests = {"test": {"bleu": bleu, "chrf": bleu, "loss": 1.0, "bleu_signature": "v:1"}} if bleu else {}
            (run / "summary.json").write_text(json.dumps(summary | {"test": tests}))
        if hypotheses is not None:
            for side, lines in (("hyp", hypotheses), ("ref", REFERENCES)):
                (run / "translations" / f"test.{side}.txt").write_text("".join(f"{line}\n" for line in lines))
        return run

    return write


@pytest.fixture
def references() -> list[str]:
    """The references of the test set."""
    return list(REFERENCES)


@pytest.fixture
def write_sweep(write_run: Callable[..., Path]) -> Callable[..., Path]:
    """Scaled and unscaled attention at d_k 16, where they are about equal, and 256, where unscaled is worse by 1.

    Returns the directory that holds the runs.
    """

    def write(seeds: Sequence[int] = (1, 2, 3), **options: object) -> Path:
        for d_k in (16, 256):
            for seed in seeds:
                for attention in ("scaled", "unscaled"):
                    noise = 0.01 * ((3 * seed + (attention == "scaled")) % 4)
                    loss = 1 + noise + (attention == "unscaled" and d_k == 256)
                    losses = [(100, 4 + noise), (200, 3 + noise), (300, loss + 0.5), (400, loss)]
                    spoilt = REFERENCES if loss < 1.5 else [line.replace("today", "oh") for line in REFERENCES]
                    saturated = [0.1, 0.2, 0.3, 0.9 if loss > 1.5 else 0.05]
                    columns = {
                        f"scores/{site}/{layer}/mean/{statistic}": values
                        for site in SITES
                        for layer in (0, 1)
                        for statistic, values in (("saturated", saturated), ("std", [1.0, 2.0, 3.0, 4.0]))
                    }
                    run = write_run(
                        f"{attention}-{d_k}-{seed}",
                        attention,
                        seed=seed,
                        losses=losses,
                        changes={"model.d_k": d_k},
                        hypotheses=spoilt,
                        bleu=90.0 if loss < 1.5 else 60.0,
                        columns=columns,
                        **options,
                    )
        return run.parent

    return write
