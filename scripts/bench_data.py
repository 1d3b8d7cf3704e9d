"""Time and memory of preparing a large corpus, measured on invented text and extrapolated to WMT 2014's 4.5 million.

    python scripts/bench_data.py [--pairs 1000000]

Words are invented with the frequencies of a natural language (Zipf), sentences with the lengths of news (26 words on
average). Each phase runs in a process of its own, at a quarter of the pairs and at all of them; peak memory and time
are extrapolated along the line through both.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from invented_text import write_text

TARGET = 4_500_000
VOCAB_SIZE = 37_000


def main() -> None:
    arguments = parser().parse_args()
    if arguments.phase:
        print(json.dumps(PHASES[arguments.phase](Path(arguments.directory), arguments.pairs)))
        return
    with tempfile.TemporaryDirectory(prefix="minitx-bench-", dir=arguments.scratch) as scratch:
        sizes = arguments.pairs // 4, arguments.pairs
        measured = [{phase: run(phase, Path(scratch, str(size)), size) for phase in PHASES} for size in sizes]
    for phase in list(PHASES)[1:]:
        print(f"\n{phase}")
        for name, more in measured[1][phase].items():
            less = measured[0][phase][name]
            line = f"  {name}: {less:,.4g} at {sizes[0]:,} pairs, {more:,.4g} at {sizes[1]:,}"
            if not name.startswith("per "):
                expected = more + (more - less) * (TARGET - sizes[1]) / (sizes[1] - sizes[0])
                line += f", so {expected:,.4g} at {TARGET:,}"
            print(line)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--scratch", help="where text and cache are written; default: the system's temporary directory")
    parser.add_argument("--phase", choices=list(PHASES), help=argparse.SUPPRESS)
    parser.add_argument("--directory", help=argparse.SUPPRESS)
    return parser


def run(phase: str, directory: Path, pairs: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--phase", phase, "--directory", str(directory), "--pairs", str(pairs)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float] = json.loads(result.stdout)
    return measured


def write(directory: Path, pairs: int) -> dict[str, float]:
    write_text(directory, {"train": pairs, "val": 1000, "test": 1000})
    return {}


def first_start(directory: Path, pairs: int) -> dict[str, float]:
    _, seconds = prepared(directory)
    size = sum(path.stat().st_size for path in (directory / "cache").rglob("*") if path.is_file())
    return {"seconds": seconds, "peak memory, GB": peak_memory(), "cache on disk, GB": size / 1e9}


def second_start(directory: Path, pairs: int) -> dict[str, float]:
    _, seconds = prepared(directory)
    return {"seconds": seconds, "peak memory, GB": peak_memory()}


def epoch(directory: Path, pairs: int) -> dict[str, float]:
    from torch.utils.data import DataLoader

    from minitx.data.batch import collate
    from minitx.data.sampler import TokenBatchSampler

    train = prepared(directory)[0].train
    start = time.perf_counter()
    sampler = TokenBatchSampler(train.source_lengths, train.target_lengths, 25_000)
    batches = len(sampler)
    planned = time.perf_counter() - start
    start, tokens, padded, rows = time.perf_counter(), 0, 0, 0
    for number, batch in enumerate(DataLoader(train, batch_sampler=sampler, collate_fn=collate), start=1):
        tokens += batch.num_source_tokens + batch.num_target_tokens
        padded += batch.source.numel() + batch.target_output.numel()
        rows += len(batch)
        if number == 200:
            break
    milliseconds = 1000 * (time.perf_counter() - start) / number
    return {
        "seconds to plan the batches": planned,
        "batches": batches,
        "peak memory, GB": peak_memory(),
        "per batch, ms": milliseconds,
        "per batch, pairs": rows / number,
        "per padded token, tokens": tokens / padded,
    }


def prepared(directory: Path):
    from minitx.data.corpora import text_files

    start = time.perf_counter()
    corpus = text_files(directory, "en", "de", vocab_size=VOCAB_SIZE, cache_directory=directory / "cache").prepare()
    return corpus, time.perf_counter() - start


def peak_memory() -> float:
    """Of this process, in GB; pages of mapped files that were touched count too."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


PHASES = {"write text": write, "first start": first_start, "second start": second_start, "epoch": epoch}

if __name__ == "__main__":
    main()
