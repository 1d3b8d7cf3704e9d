"""The command `minitx bench train`: what a training step of a configuration takes, and where its time goes."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from hydra.utils import instantiate
from omegaconf import DictConfig
from rich.table import Table

from minitx.bench.machine import copy_rate, facts, headline, idle_check, product_rate
from minitx.bench.operator_shares import OperatorShares
from minitx.bench.reporting import Parser, count, json_lines, make_console, mebibytes, natural, positive, say
from minitx.bench.step_timer import PHASES, EnoughMeasured, Step, StepTimer
from minitx.bench.timing import spread
from minitx.config import compose, readable_name
from minitx.data.corpus import Corpus
from minitx.errors import UserError
from minitx.launch import make_importable
from minitx.models.transformer import parameter_counts
from minitx.train import build_data, build_model, build_module
from minitx.training.flops import flops_per_token
from minitx.training.log_file import log_file
from minitx.training.machine import peak_memory_bytes, prepare_process
from minitx.training.module import NonFiniteLoss
from minitx.training.trainer import make_trainer

EXAMPLES = """examples:
  minitx bench train                                  the bundled toy corpus, as `minitx train` would begin
  minitx bench train model=tiny data=multi30k data.path=DIR attention=additive
  minitx bench train --profile 10                      and which operations the time goes to
  minitx bench train --steps 100 --json train.jsonl trainer=gpu

The steps are those of `minitx train` with the same overrides: same weights, batches and loop, without validation,
dashboards and checkpoints. No run directory is made. Tokens are source and target tokens without padding; `filled`
is their share of the padded rectangles. Operations are those of matrix products, two for each multiply-add, with
padding; the machine's rate is that of an fp32 product of 2048 x 2048 matrices, and its bandwidth that of copying
256 MiB, read and written bytes together, both measured afterwards in the same run.
"""


def main(argv: Sequence[str]) -> int:
    """Measure as `argv` says; the exit status is 0.

    Raises:
        UserError: an option, an override or the data are at fault.
        KeyboardInterrupt: after Ctrl-C; what was measured has been shown.
    """
    arguments, others = _parser().parse_known_intermixed_args(argv)
    if others:
        raise UserError(f"minitx bench train has no option {others[0]}; `minitx bench train --help` lists them.")
    make_importable(Path.cwd())
    config = compose(arguments.overrides)
    measured = arguments.warmup + arguments.steps
    _only_steps(config, measured + arguments.profile)
    console = make_console(arguments.json)
    with json_lines(arguments.json) as write:
        state, warning = idle_check(torch.device("cpu"))
        if warning:
            say(console, warning)
        prepare_process(config.trainer.threads)
        timer, operators = StepTimer(), OperatorShares(measured)
        facts_of_run = _train(config, [timer, operators], console)
        steps = timer.steps()[arguments.warmup : measured]
        if steps:
            record = {"benchmark": "train", **facts_of_run, **state, "overrides": arguments.overrides}
            record |= {"warmup": arguments.warmup, **figures(steps, record["flops_per_token"], record["product_rate"])}
            record["share_by_operation"] = operators.result
            write(record)
            say(console, headline(record))
            say(
                console,
                f"{record['name']}, {record['parameters']:,} parameters: {record['steps']} steps after "
                f"{record['warmup']} of warm-up; median (quartiles)",
            )
            console.print(_table(record))
    if timer.interrupted:
        raise KeyboardInterrupt
    return 0


def _only_steps(config: DictConfig, steps: int) -> None:
    """So many updates, and nothing between them."""
    config.training.max_steps, config.training.max_epochs = steps, None
    config.training.validate_every = steps + 1


def _train(config: DictConfig, callbacks: list[pl.Callback], console: Any) -> dict[str, Any]:
    """Run the steps; returns what does not come from them."""
    corpus: Corpus = instantiate(config.data).prepare()
    module = build_module(config, build_model(config, corpus))
    data = build_data(config, corpus)
    with tempfile.TemporaryDirectory() as directory, log_file(Path(directory, "messages")):
        trainer = make_trainer(config.training, config.trainer, [], callbacks)
        if trainer.world_size > 1:
            raise UserError("minitx bench train measures one process: give trainer.devices=1.")
        operations = flops_per_token(module, data)
        say(console, f"{readable_name(config)}: {config.training.max_steps} steps, warm-up included")
        try:
            trainer.fit(module, datamodule=data)
        except EnoughMeasured:
            pass
        except NonFiniteLoss as error:
            raise UserError(f"{error} Lower schedule.peak_learning_rate, or measure fewer steps.") from error
        device = trainer.strategy.root_device
        return {
            **facts(device, str(config.trainer.precision)),
            "name": readable_name(config),
            "parameters": parameter_counts(module.model)["total"],
            "peak_memory_bytes": peak_memory_bytes(device),
            "flops_per_token": operations,
            "product_rate": product_rate(device),
            "copy_rate": copy_rate(device),
        }


def figures(steps: Sequence[Step], flops_of_token: float, rate: float) -> dict[str, Any]:
    """What a sequence of steps amounts to.

    Args:
        steps: at least one.
        flops_of_token: operations of a step for each token.
        rate: operations a second of the machine's matrix products.
    """
    seconds = [step.total_seconds for step in steps]
    tokens = sum(step.tokens for step in steps)
    per_second = tokens / sum(seconds)
    by_step = spread([step.tokens / step.total_seconds for step in steps])
    shares = {phase: sum(step.seconds[phase] for step in steps) / sum(seconds) for phase in PHASES}
    return {
        "steps": len(steps),
        **spread(seconds).named("step_seconds"),
        "tokens_per_second": per_second,
        "tokens_per_second_lower": by_step.lower,
        "tokens_per_second_upper": by_step.upper,
        "pairs_per_step": sum(step.pairs for step in steps) / len(steps),
        "tokens_per_step": tokens / len(steps),
        "target_tokens_per_step": sum(step.target_tokens for step in steps) / len(steps),
        "filled": tokens / sum(step.cells for step in steps),
        "share_of_time": shares,
        "flops_per_second": flops_of_token * per_second,
        "share_of_product_rate": flops_of_token * per_second / rate,
    }


def _table(record: dict[str, Any]) -> Table:
    table = Table(show_header=False)
    milli = [1000 * record[f"step_seconds{end}"] for end in ("", "_lower", "_upper")]
    speed = [record[f"tokens_per_second{end}"] for end in ("", "_lower", "_upper")]
    shares = [f"{phase} {share:.0%}" for phase, share in record["share_of_time"].items()]
    memory = [f"{place} {mebibytes(size)} MiB" for place, size in record["peak_memory_bytes"].items()]
    rows = {
        "a step": "{:,.1f} ms ({:,.1f}–{:,.1f})".format(*milli),
        "tokens a second": "{:,.0f} ({:,.0f}–{:,.0f} in single steps)".format(*speed),
        "tokens a step": f"{record['tokens_per_step']:,.0f}, {record['target_tokens_per_step']:,.0f} of them target, "
        f"in {record['pairs_per_step']:,.0f} pairs",
        "filled": f"{record['filled']:.1%}, {1 - record['filled']:.1%} padding",
        "time goes to": ", ".join(shares),
        "operations": f"{count(record['flops_per_token'])}FLOP a token, {count(record['flops_per_second'])}FLOP/s: "
        f"{record['share_of_product_rate']:.0%} of the {count(record['product_rate'])}FLOP/s of an fp32 matrix product",
        "memory": f"at most {', '.join(memory)}; copied at {count(record['copy_rate'])}B/s",
    }
    if record["share_by_operation"]:
        parts = [f"{kind} {share:.0%}" for kind, share in record["share_by_operation"].items() if share >= 0.005]
        rows["under the profiler"] = ", ".join(parts)
    for name, words in rows.items():
        table.add_row(name, words)
    return table


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="minitx bench train",
        description="Time, tokens and memory of the training steps of a configuration.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help="as for minitx train: model=tiny, seed=2, …")
    parser.add_argument("--steps", type=positive, default=30, metavar="N", help="updates that are measured (30)")
    parser.add_argument("--warmup", type=positive, default=5, metavar="N", help="updates before them (5)")
    parser.add_argument(
        "--profile", type=natural, default=0, metavar="N", help="further updates under PyTorch's profiler (0)"
    )
    parser.add_argument("--json", metavar="FILE", help="the figures as a JSON line; -: to standard output")
    return parser
