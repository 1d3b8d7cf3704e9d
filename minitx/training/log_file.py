"""What libraries and minitx have to say about a run goes into its `train.log`, not over the terminal."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TALKATIVE = ("lightning", "lightning.pytorch", "lightning.fabric", "pytorch_lightning")
"""Loggers with handlers of their own, which would write to the terminal."""


@contextmanager
def log_file(path: Path) -> Iterator[None]:
    """Messages and warnings from inside are appended to `path`; how logging was set up before comes back after."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    level = root.level
    handlers = {name: logging.getLogger(name).handlers[:] for name in TALKATIVE}
    for name in TALKATIVE:
        logging.getLogger(name).handlers[:] = []
        logging.getLogger(name).propagate = True
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.setLevel(level)
        root.removeHandler(handler)
        for name, before in handlers.items():
            logging.getLogger(name).handlers[:] = before
        handler.close()
