"""The slot: which compatibility function each attention site gets, once Hydra has composed everything else."""

from collections.abc import Collection
from typing import Any

from omegaconf import DictConfig, OmegaConf

from minitx.errors import UserError

SITES = ("encoder_self_attention", "decoder_self_attention", "cross_attention")


def fill_sites(config: DictConfig, files: DictConfig, changed: Collection[str]) -> None:
    """Give every site under `model` a whole factory: its own where it is set apart, else a copy of `attention`.

    A site is set apart by a `_target_`, from an option (`attention@model.cross_attention=additive`) or as a value. A
    site without one takes `attention`, and keys that it was given all the same count for that site alone.

    Args:
        config: the composed configuration; changed in place.
        files: the chosen options as their files have them.
        changed: dotted keys that overrides name.
    """
    drop_replaced_keys(config, "attention", files, changed)
    for site in SITES:
        key = f"model.{site}"
        own = OmegaConf.select(config, key)
        own = OmegaConf.create({}) if own is None else own
        if not isinstance(own, DictConfig):
            raise UserError(f"{key}={own}: set this site apart with attention@{key}=OPTION or {key}._target_=….")
        if own.get("_target_") is None:
            rest = {name: value for name, value in own.items_ex(resolve=False) if name != "_target_"}
            config.model[site] = OmegaConf.merge(config.attention, rest)
        else:
            drop_replaced_keys(config, key, files, changed)
        config.model[site]._partial_ = True


def drop_replaced_keys(config: DictConfig, key: str, files: DictConfig, changed: Collection[str]) -> None:
    """Remove what is left of an option whose `_target_` a value has replaced; keys given beside the new one stay."""
    node, option = OmegaConf.select(config, key), OmegaConf.select(files, key)
    if option is None or node._target_ == option._target_:
        return
    for name in option:
        left_over = not str(name).startswith("_") and name in node and f"{key}.{name}" not in changed
        if left_over and _raw(node, str(name)) == _raw(option, str(name)):
            del node[name]


def _raw(node: DictConfig, name: str) -> Any:
    """A value as it is written, interpolations unresolved."""
    return OmegaConf.to_container(node)[name]  # type: ignore[call-overload, index]
