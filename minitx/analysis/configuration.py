"""One run's configuration: the variant it names, and the keys that could set it apart from others."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from minitx.analysis.runs import Run, mapping

SITES = {"encoder_self_attention": "encoder", "decoder_self_attention": "decoder", "cross_attention": "cross"}
SHORT_NAMES = {
    "ScaledDotProduct": "scaled",
    "UnscaledDotProduct": "unscaled",
    "InverseDk": "inverse_d_k",
    "AdditiveReference": "additive_reference",
}
# Keys that do not change what a run computes, or are looked at elsewhere (the sites make the variant).
NO_AXIS = (
    *("name", "group", "tags", "options", "attention", "run_directory", "resume", "seed", "logger", "callbacks"),
    *("data.num_workers", "data.cache_directory", "data.path", "model.d_k", "model.d_v"),
    *(f"model.{site}" for site in SITES),
)


def variant_label(config: Mapping[str, Any]) -> str:
    """The options at the three sites: `additive`, or `scaled, cross additive` where a site is set apart."""
    model = config.get("model")
    nodes = model if isinstance(model, Mapping) else {}
    names = {site: _option(nodes.get(site) or config.get("attention")) for site in SITES}
    usual = most_common([*names.values()])
    return ", ".join([usual, *(f"{SITES[site]} {name}" for site, name in names.items() if name != usual)])


def _option(node: Any) -> str:
    """The short name of a site's class, with arguments where it has any."""
    if not isinstance(node, Mapping) or not node.get("_target_"):
        return "unknown"
    name = str(node["_target_"]).rpartition(".")[2]
    name = SHORT_NAMES.get(name, name.lower() if str(node["_target_"]).startswith("minitx.") else name)
    arguments = [f"{key}={say(value)}" for key, value in sorted(node.items()) if key not in ("_target_", "_partial_")]
    return f"{name}({', '.join(arguments)})" if arguments else name


def say(value: Any) -> str:
    """A configuration value as a reader expects it."""
    if value is None or value != value:  # a table turns None into NaN
        return "default"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", value):
        return value.rpartition(".")[2]
    return f"{value:g}" if isinstance(value, float) else str(value)


def distinguishing_keys(run: Run) -> dict[str, Any]:
    """The keys that could set a run apart, d_k as it was and not as it was left to be computed."""
    keys = {key: value for key, value in flatten(run.config).items() if not _is_below(key, NO_AXIS)}
    model = run.config.get("model")
    if isinstance(model, Mapping):
        keys["d_k"] = model.get("d_k") or _per_head(model)
        keys["d_v"] = model.get("d_v") or _per_head(model)
    keys["data"] = fingerprint(run)
    return keys


def fingerprint(run: Run) -> str:
    """The beginning of the hash of its text and vocabulary."""
    return str(run.facts.get("data_fingerprint"))[:8]


def corpus_names(runs: Sequence[Run]) -> dict[str, str]:
    """A name for each fingerprint: the option of `data` that the first of its runs took, and the fingerprint."""
    return {
        fingerprint(run): f"{mapping(run.config.get('options')).get('data', 'unknown')} {fingerprint(run)}"
        for run in reversed(runs)
    }


def _per_head(model: Mapping[str, Any]) -> int | None:
    try:
        return int(model["d_model"] // model["num_heads"])
    except (KeyError, TypeError, ZeroDivisionError):
        return None


def flatten(node: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{"a": {"b": 1}}` as `{"a.b": 1}`; lists count as one value."""
    flat: dict[str, Any] = {}
    for key, value in node.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = json.dumps(value) if isinstance(value, list) else value
    return flat


def most_common(values: Sequence[Any]) -> Any:
    """The value that occurs most often, of several the first by its text."""
    counts = Counter(map(as_text, values))
    text = min(counts, key=lambda value: (-counts[value], value))
    return next(value for value in values if as_text(value) == text)


def as_text(value: Any) -> str:
    """A value in a form that can be compared: 1 and 1.0 count as one."""
    is_whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if is_whole else value, default=str)


def short_name(key: str) -> str:
    """`schedule.warmup_steps` as `warmup_steps`; a slot's `_target_` as the slot."""
    return key.removesuffix("._target_").rpartition(".")[2]


def _is_below(key: str, above: Sequence[str]) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in above)
