"""What `minitx train --help` prints, read from the configuration files themselves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from minitx.resources import configs_directory

USAGE = """\
Usage: minitx train [-m] [GROUP=OPTION …] [KEY=VALUE …]

Examples:
  minitx train                                            the bundled toy corpus
  minitx train data=multi30k model=tiny                   other data, another size
  minitx train attention=additive seed=2                  another compatibility function
  minitx train attention@model.cross_attention=additive   one attention site apart
  minitx train attention._target_=my_package.MyScore      one of your own
  minitx train -m attention=scaled,unscaled seed=1,2,3    a sweep: one run for each combination
  minitx train --cfg job model=tiny                       print the configuration instead of training

Sweeps. Given again, a sweep makes only the runs that are missing: finished and diverged ones stay, failed and
interrupted ones start anew. A job that fails stops no other; a table at the end says what came of each.
  minitx train -m experiment=section_3_2 --dry-run        its jobs, what each costs, which are done; trains nothing
  minitx train -m model.d_k=32,128,512                    d_k at fixed heads (experiment=d_k_sweep)
  minitx train -m model.num_heads=16,4,1                  d_k at fixed h·d_k (experiment=d_k_fixed_width)
  minitx train -m attention=scaled,additive training.max_steps=null training.max_tokens=2e6
                                                          matched by tokens; or max_flops, or max_seconds of training
  minitx train -m hydra/launcher=joblib hydra.launcher.n_jobs=4 seed=1,2,3,4
                                                          four at a time (pip install 'minitx[joblib]'): on a CPU each
                                                          has a quarter of the cores unless trainer.threads or
                                                          OMP_NUM_THREADS is set; on one GPU they share it
  minitx train -m hydra/launcher=submitit_slurm seed=1,2  jobs of a SLURM cluster (pip install 'minitx[submitit]')

  -m, --multirun      one run for each combination of values listed with commas
  -n, --dry-run       list what would be trained, and stop
  --cfg job           print the configuration of the run and stop
  --config-dir DIR    a directory with options of your own: DIR/attention/mine.yaml is attention=mine
  --debug             show the traceback of an error
"""


def train_help() -> str:
    """Usage, then every group with its options and every key with its default."""
    root = configs_directory()
    train = _read(root / "train.yaml")
    defaults = {
        group: option for entry in train["defaults"] if isinstance(entry, dict) for group, option in entry.items()
    }
    groups = [group for group in defaults if (root / group).is_dir()]
    lines = [USAGE, "Options (* is the default):", ""]
    for group in groups:
        lines.append(f"{group}=")
        for file in sorted((root / group).glob("*.yaml")):
            mark = "*" if file.stem == defaults[group] else " "
            lines.append(f"  {mark} {file.stem:<23} {_first_comment(file)}")
    lines += ["", "Keys and their defaults; with another option, its own:", ""]
    lines += [f"  {key}={value}" for key, value in _leaves(train) if not key.startswith(("defaults", "hydra", "model"))]
    for group in groups:
        if group not in {"attention", "logger", "callbacks"} and defaults[group]:
            leaves = _leaves(_read(root / group / f"{defaults[group]}.yaml"))
            lines += [f"  {group}.{key}={value}" for key, value in leaves if "_" not in (key[0], key[-1])]
    return "\n".join(lines) + "\n"


def _read(file: Path) -> dict[str, Any]:
    return yaml.safe_load(file.read_text(encoding="utf-8")) or {}


def _first_comment(file: Path) -> str:
    """The first comment line of an option's file, which says what it is."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and not line.startswith("# @"):
            return line.removeprefix("# ")
    return ""


def _leaves(node: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in node.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", "null" if value is None else str(value)
