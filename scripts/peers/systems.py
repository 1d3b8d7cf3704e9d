"""The systems that are compared, and what pip installs for each.

Exact versions of the toolkits and of torch; of everything else whatever fits. Toolkits are installed without their
declared dependencies, which pin old or pull other builds of torch: what they import is listed by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TORCH = ("torch==2.13.0", "numpy", "setuptools<81")
"""The environment that the others borrow torch from. The version is minitx's own, so that all use the same kernels."""


@dataclass(frozen=True)
class Environment:
    """What is installed for a peer.

    Attributes:
        toolkit: installed last, without dependencies.
        needs: what the toolkit imports.
        torch: whether it borrows torch from the base environment.
        check: an import that must succeed.
    """

    toolkit: str
    needs: tuple[str, ...]
    torch: bool
    check: str


@dataclass(frozen=True)
class System:
    """A row of the table.

    Attributes:
        name: for `--systems` and the JSON lines.
        label: in the table.
        environment: key of `ENVIRONMENTS`; None: the environment that bench_peers.py itself runs in.
        runner: module of `peers`.
        phases: what it is measured at.
        options: handed to the runner.
        variables: environment variables of its process.
    """

    name: str
    label: str
    environment: str | None
    runner: str
    phases: tuple[str, ...] = ("train", "decode")
    options: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


ENVIRONMENTS = {
    "fairseq": Environment(
        "fairseq-fixed==0.12.3.1",
        (
            "cython",
            "cffi",
            "hydra-core>=1.3,<1.4",
            "omegaconf>=2.3,<2.4",
            "regex",
            "sacrebleu",
            "tqdm",
            "bitarray",
            "packaging",
            "scikit-learn",
            "wheel",
        ),
        True,
        "fairseq.trainer, fairseq.data.data_utils_fast",
    ),
    "joeynmt": Environment(
        "joeynmt==2.3.0",
        (
            "matplotlib",
            "tensorboard",
            "sacrebleu",
            "sacremoses",
            "sentencepiece",
            "subword-nmt",
            "pyyaml",
            "packaging",
            "importlib_metadata",
            "datasets",
            "tqdm",
        ),
        True,
        "joeynmt.training, joeynmt.search",
    ),
    "transformers": Environment(
        "transformers==5.18.0",
        (
            "huggingface-hub>=1.31,<3",
            "tokenizers>=0.23.1,<0.24",
            "safetensors>=0.8",
            "regex",
            "pyyaml",
            "packaging",
            "typer",
            "tqdm",
            "accelerate>=1.1",
        ),
        True,
        "transformers",
    ),
    "ctranslate2": Environment("ctranslate2==4.8.5", ("numpy", "pyyaml", "setuptools<81"), False, "ctranslate2.specs"),
}

KEEPS_PAGES = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1),
    "MALLOC_TOP_PAD_": str(64 * 2**20),
}
"""glibc keeps freed memory, as minitx makes it do for itself."""

REFERENCE = "fairseq"
"""The system that ratios refer to."""

SYSTEMS = (
    System("minitx", "minitx", None, "run_minitx"),
    System(REFERENCE, "fairseq 0.12.3.1, as shipped", "fairseq", "run_fairseq"),
    System(
        "fairseq-keeps-pages",
        "fairseq, allocator keeps its pages",
        "fairseq",
        "run_fairseq",
        ("train",),
        variables=KEEPS_PAGES,
    ),
    System("joeynmt", "Joey NMT 2.3.0, sentence batches", "joeynmt", "run_joeynmt"),
    System(
        "joeynmt-tokens",
        "Joey NMT, token batches",
        "joeynmt",
        "run_joeynmt",
        ("train",),
        options={"batch_type": "token"},
    ),
    System("marian", "transformers 5.18.0 Marian, Seq2SeqTrainer", "transformers", "run_transformers"),
    System(
        "marian-grouped",
        "transformers Marian, grouped by length",
        "transformers",
        "run_transformers",
        ("train",),
        options={"grouped": True},
    ),
    System("ctranslate2", "CTranslate2 4.8.5 fp32, 1 x N threads", "ctranslate2", "run_ctranslate2", ("decode",)),
    System(
        "ctranslate2-workers",
        "CTranslate2 4.8.5 fp32, N x 1 threads",
        "ctranslate2",
        "run_ctranslate2",
        ("decode",),
        options={"one_thread_workers": True},
    ),
)


def minitx_with(overrides: str) -> System:
    """minitx with further overrides of `minitx train`, separated by blanks; trained only."""
    options = {"overrides": overrides.split()}
    return System(f"minitx {overrides}", f"minitx {overrides}", None, "run_minitx", ("train",), options=options)
