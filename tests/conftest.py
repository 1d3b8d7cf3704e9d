"""What all tests share: one thread, no network, caches of their own, and the real Multi30k where there is a copy."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# All of this is set before torch and the libraries read it, and inherited by the processes that tests start.
# Threads of several test processes would only wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"
# Whatever a test forgets to switch off must fail at once rather than wait for a network.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_SILENT"] = "true"
# Figures are drawn without a screen.
os.environ["MPLBACKEND"] = "Agg"
# What the person who runs the tests has set for runs of their own.
for name in ("HYDRA_FULL_ERROR", "MINITX_CACHE", "WANDB_API_KEY", "WANDB_PROJECT", "WANDB_RUN_ID"):
    os.environ.pop(name, None)

# Caches go where they are removed at the end. The processes of pytest-xdist inherit the one that started them set up.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _caches = tempfile.TemporaryDirectory(prefix="minitx-tests-", ignore_cleanup_errors=True)
    for name in ("HF_HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR"):
        os.environ[name] = str(Path(_caches.name, name.lower()))


@pytest.fixture(autouse=True)
def _subnormals_as_before():
    """Commands flush subnormal numbers to zero, for their whole process; the next test counts on them."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


@pytest.fixture(scope="session")
def multi30k() -> Path:
    """The directory of the real Multi30k text: MINITX_MULTI30K, or shared/data/multi30k beside the checkout."""
    directory = Path(os.environ.get("MINITX_MULTI30K", ROOT.parent / "shared/data/multi30k"))
    if not (directory / "train.de.gz").is_file() and not (directory / "train.de").is_file():
        pytest.skip("no copy of Multi30k here: name its directory in MINITX_MULTI30K")
    return directory


@pytest.fixture
def wandb_records():
    """`wandb_records(directory)`: what the one offline run of Weights & Biases below `directory`/wandb holds."""

    def read(directory: Path) -> list:
        import wandb
        from wandb.proto.wandb_internal_pb2 import Record

        wandb.teardown()  # waits for its service, which may still be writing a run that has ended
        [file] = (directory / "wandb").glob("offline-run-*/*.wandb")
        return [Record.FromString(data) for data in _log_entries(file.read_bytes())]

    return read


def _log_entries(data: bytes):
    """The entries of a LevelDB log: after a header of 7 bytes, blocks of 32 KiB in which each piece of an entry has a
    checksum (4 bytes), its length (2) and its kind (1): whole, first, middle or last."""
    assert data.startswith(b":W&B")
    entry, place = b"", 7
    while place + 7 <= len(data):
        if (left := 2**15 - place % 2**15) < 7:  # no piece begins in a block's last bytes
            place += left
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        entry += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            yield entry
            entry = b""


PAIRS = [
    ("A dog runs across the street.", "Ein Hund läuft über die Straße."),
    ("Two men are reading a book.", "Zwei Männer lesen ein Buch."),
    ("The woman sings.", "Die Frau singt."),
    ("A small child plays in the green garden.", "Ein kleines Kind spielt im grünen Garten."),
    ("Three dogs sleep under a tree.", "Drei Hunde schlafen unter einem Baum."),
]


@pytest.fixture
def make_run(tmp_path: Path):
    """`make_run(compatibility, **changes of the model)`: a run directory as training leaves it, its weights random.

    Its data are five pairs a split, in files of its own; its tokenizer is made from them.
    """

    def make(compatibility: str = "ScaledDotProduct", name: str = "run", **changes) -> Path:
        return _write_run(tmp_path, name, f"minitx.nn.compatibility.{compatibility}", changes)

    return make


def _write_run(directory: Path, name: str, compatibility: str, changes: dict) -> Path:
    import json

    import torch
    from hydra.utils import instantiate

    from minitx.data.tokenizer import train_tokenizer

    data = directory / "data"
    data.mkdir(exist_ok=True)
    for split in ("train", "val", "test", "test_other"):
        for side, language in enumerate(("en", "de")):
            lines = [pair[side] for pair in (PAIRS[:3] if split == "test_other" else PAIRS)]
            (data / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    factory = {"_target_": compatibility, "_partial_": True}
    sites = ("encoder_self_attention", "decoder_self_attention", "cross_attention")
    sizes = {"num_layers": 2, "d_model": 16, "d_ff": 24, "num_heads": 2, "dropout": 0.1, "max_length": 30}
    model = {"_target_": "minitx.models.build.build_transformer", **sizes, **dict.fromkeys(sites, factory), **changes}
    corpus = {"_target_": "minitx.data.corpora.text_files", "path": str(data), "vocab_size": 330}
    config = {
        "seed": 1,
        "model": model,
        "data": corpus | {"source_language": "en", "target_language": "de", "max_length": model["max_length"]},
        "training": {"beam_size": 2, "length_penalty": 0.6},
    }
    run = directory / name
    for part in ("checkpoints", "translations"):
        (run / part).mkdir(parents=True)
    tokenizer = train_tokenizer([text for pair in PAIRS for text in pair], 330)
    tokenizer.save(run / "tokenizer.json")
    (run / "run.json").write_text(json.dumps({"status": "finished", "config": config}), encoding="utf-8")
    weights = instantiate(model, vocab_size=tokenizer.vocab_size, pad_id=0, seed=1).state_dict()
    state = {f"model.{key}": weight for key, weight in weights.items()}
    torch.save({"state_dict": state, "step": 7, "averaged": []}, run / "checkpoints" / "final.ckpt")
    return run
