"""The command `minitx scores`: footnote 4 of the paper as an experiment, without training, in seconds.

"To illustrate why the dot products get large, assume that the components of q and k are independent random variables
with mean 0 and variance 1. Then their dot product, q · k, has mean 0 and variance d_k."
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig
from rich.table import Table

from minitx.bench.reporting import Parser, json_lines, make_console, positive, positives, say
from minitx.config import compose
from minitx.data.batch import collate
from minitx.data.corpus import Corpus
from minitx.data.tokenizer import PAD_ID
from minitx.errors import UserError
from minitx.launch import make_importable
from minitx.scores.at_start import at_start
from minitx.scores.closed_forms import expected_variances
from minitx.scores.drawn import draw
from minitx.scores.figure import save_figure
from minitx.training.machine import prepare_process

PAPERS = ("scaled", "unscaled", "additive")
PAIRS = 32
DRAWN = "drawn"
# Dashboards and callbacks take no part, and Lightning takes seconds to import.
WITHOUT = ("logger=none", "callbacks=none")
EXAMPLES = """examples:
  minitx scores                                            scaled, unscaled and additive at d_k from 4 to 4,096
  minitx scores --variants scaled,cosine,my_pkg.Distance --d-k 16,256 --keys 128
  minitx scores --model                                    the toy model before its first step, too
  minitx scores --model model=tiny data=multi30k data.path=DIR --out figures

A row is a query and its keys. Variance is over all scores and within rows, which is all that a softmax sees; the
closed form, where there is one, stands in brackets. Entropy is divided by the logarithm of the number of keys; a row
is saturated if its largest weight is above 0.99; trace and bound are those of the Jacobian diag(p) - ppT of the
softmax. The gradient is what reaches a component of the query when the weights receive a standard normal gradient:
the root mean square over rows, then the row in the middle. With --model, the first 32 validation pairs are read by a
model that has not been trained, and all layers and heads of a kind of attention count together.
"""
COLUMNS = {
    "variance": "variance",
    "row_variance": "within rows",
    "entropy": "entropy",
    "saturated": "saturated",
    "jacobian_trace": "trace",
    "jacobian_bound": "bound",
    "query_gradient": "gradient",
    "query_gradient_median": "middle row",
}


def main(argv: Sequence[str]) -> int:
    """Measure as `argv` says; the exit status is 0.

    Raises:
        UserError: an option, a variant or an override is at fault.
    """
    arguments = _parser().parse_args(argv)
    if arguments.keys < 2:
        raise UserError("--keys 1: the weight of a single key is 1 whatever its score; give 2 or more.")
    make_importable(Path.cwd())
    if arguments.model is not None:
        _model_config(arguments, arguments.variants[0], arguments.d_k[0])  # for its errors, before the work
    prepare_process(arguments.threads)
    console = make_console(arguments.json)
    with json_lines(arguments.json) as write:
        records = []
        for record in [*_drawn(arguments), *_in_models(arguments)]:
            write(record)
            records.append(record)
    for source in dict.fromkeys(record["source"] for record in records):
        console.print(_table(source, [record for record in records if record["source"] == source]))
    for path in save_figure(records, arguments.out, _caption(arguments)):
        say(console, f"figure {path}")
    return 0


def _drawn(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A record for each variant and d_k, of queries and keys as §3.2.1 assumes them."""
    nodes = {name: compose([_choice(name), *WITHOUT]).attention for name in arguments.variants}
    factories = {name: instantiate(node) for name, node in nodes.items()}
    setting = {"keys": arguments.keys, "draws": arguments.draws, "seed": arguments.seed}
    by_d_k = {d_k: draw(factories, d_k, **setting) for d_k in arguments.d_k}
    for name, node in nodes.items():
        for d_k, found in by_d_k.items():
            expected = expected_variances(node._target_, d_k)
            yield {
                "source": DRAWN,
                "variant": name,
                "target": node._target_,
                "d_k": d_k,
                **setting,
                **found[name],
                "expected_variance": expected and expected.whole,
                "expected_row_variance": expected and expected.row,
            }


def _in_models(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A record for each kind of attention site, variant and d_k, of a model before its first step."""
    if arguments.model is None:
        return
    batch, vocab_size = None, 0
    for name in arguments.variants:
        for d_k in arguments.d_k:
            config = _model_config(arguments, name, d_k)
            if batch is None:
                corpus: Corpus = instantiate(config.data).prepare()
                vocab_size, validation = corpus.tokenizer.vocab_size, corpus.validation
                batch = collate([validation[i] for i in range(min(PAIRS, len(validation)))])
            model = instantiate(config.model, vocab_size=vocab_size, pad_id=PAD_ID, seed=config.seed)
            for site, found in at_start(model, batch, arguments.seed).items():
                target = config.model[site]._target_ if site in config.model else None
                yield {"source": site, "variant": name, "target": target, "d_k": d_k, "seed": arguments.seed, **found}


def _model_config(arguments: argparse.Namespace, variant: str, d_k: int) -> DictConfig:
    options = {"attention": "--variants", "attention._target_": "--variants", "model.d_k": "--d-k", "seed": "--seed"}
    for override in arguments.model:
        key = override.partition("=")[0].lstrip("+")
        if key in options:
            raise UserError(f"--model {override}: give {options[key]} instead.")
    return compose([*arguments.model, _choice(variant), f"model.d_k={d_k}", f"seed={arguments.seed}", *WITHOUT])


def _choice(variant: str) -> str:
    return f"attention._target_={variant}" if "." in variant else f"attention={variant}"


def _table(source: str, records: Sequence[dict[str, Any]]) -> Table:
    what = (
        f"{records[0]['draws']} queries with {records[0]['keys']} keys each, independent standard normal components"
        if source == DRAWN
        else f"{source} before the first step"
    )
    table = Table("variant", "d_k", title=what, title_justify="left")
    for name in COLUMNS.values():
        table.add_column(name, justify="right", no_wrap=True)
    before = None
    for record in records:
        if before not in (None, record["variant"]):
            table.add_section()
        shown = "" if record["variant"] == before else record["variant"]
        table.add_row(shown, str(record["d_k"]), *(_cell(record, key) for key in COLUMNS))
        before = record["variant"]
    return table


def _cell(record: dict[str, Any], key: str) -> str:
    expected = record.get(f"expected_{key}")
    return f"{record[key]:.3g}" + (f" ({expected:.3g})" if expected is not None else "")


def _caption(arguments: argparse.Namespace) -> str:
    drawn = f"{arguments.draws} queries with {arguments.keys} keys each, components independent, mean 0, variance 1"
    lines = (
        "variance: lines are the closed form; gradient: root mean square over rows, dashes for the row in the middle"
    )
    if arguments.model is None:
        return f"{drawn}\n{lines}"
    overrides = f" ({' '.join(arguments.model)})" if arguments.model else ""
    return f"drawn: {drawn}; below it a model{overrides} before its first step\n{lines}"


def _names(text: str) -> list[str]:
    names = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not names:
        raise argparse.ArgumentTypeError("name at least one variant")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="minitx scores",
        description="How large scores are, how far they saturate the softmax, and what gradient is left, over d_k.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    names = ",".join(PAPERS)
    parser.add_argument("--variants", type=_names, default=[*PAPERS], metavar="NAME,…",
                        help=f"options of attention, or module.Class ({names})")  # fmt: skip
    parser.add_argument("--d-k", type=positives, default=[4**n for n in range(1, 7)], metavar="N,…",
                        help="length of queries and keys (4,16,64,256,1024,4096)")  # fmt: skip
    parser.add_argument("--keys", type=positive, default=32, metavar="N", help="keys of each query (32)")
    parser.add_argument("--draws", type=positive, default=1000, metavar="N", help="queries of each d_k (1000)")
    parser.add_argument("--seed", type=positive, default=1, metavar="N", help="of all that is drawn (1)")
    parser.add_argument("--model", nargs="*", metavar="OVERRIDE", help="a model too, with overrides as of minitx train")
    parser.add_argument("--threads", type=positive, metavar="N", help="threads on the processor (torch's own number)")
    parser.add_argument("--out", type=Path, default=Path("scores"), metavar="DIR", help="for the figure (scores)")
    parser.add_argument("--json", metavar="FILE", help="a JSON line for each case; -: to standard output")
    return parser
