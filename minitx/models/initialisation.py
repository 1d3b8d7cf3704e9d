"""Parameters drawn name by name, so that variants at one seed start alike wherever they share a parameter.

Each parameter has a generator of its own, seeded by a stable hash of (seed, parameter name). A variant that adds or
leaves out a parameter moves no other, and seeds pair up across variants, machines and wrapped models.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from minitx.nn.attention import MultiHeadAttention
from minitx.nn.embedding import Embedding

SCHEMES = ("variance", "small_query", "xavier")


def stable_seed(seed: int, name: str) -> int:
    """A seed of 63 bits made of (seed, name), the same in every process and version of Python."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


@contextmanager
def forked_random_state(seed: int, name: str) -> Iterator[None]:
    """Draws inside depend on (seed, name) alone, and draws outside go on as if there had been none."""
    with torch.random.fork_rng(devices=[]):
        # Not torch.manual_seed, which would seed every accelerator too, and these are not forked.
        torch.default_generator.manual_seed(stable_seed(seed, name))
        yield


@torch.no_grad()
def initialise_parameters(model: nn.Module, seed: int, scheme: str = "variance") -> None:
    """Draw the weights that every variant shares; compatibility functions keep what their constructors drew.

    Args:
        model: plain or wrapped; wrappers' prefixes (`module.`, `_orig_mod.`) do not count as part of a name, and a
            parameter with two names (tied weights) goes by the first.
        seed: the run's seed.
        scheme: how W^Q and W^K are drawn. "variance": N(0, 1/d_model), so that input of unit variance gives queries
            and keys of unit variance, as §3.2.1 assumes, at every d_k. "small_query": the same numbers, those of W^Q
            divided by √d_k, so that unscaled scores begin as scaled ones and only their training differs. "xavier":
            uniform over all heads at once, which shrinks them where h·d_k exceeds d_model.

    Every other matrix is Xavier-uniform (Glorot and Bengio 2010), embeddings N(0, 1/d_model), biases 0, gains 1.
    """
    for name, parameter, module in _shared_parameters(model):
        generator = torch.Generator().manual_seed(stable_seed(seed, name))
        _draw(parameter, name, module, generator, scheme)
    if scheme == "small_query":
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                module.query_projection.weight.div_(module.d_k**0.5)


def _shared_parameters(model: nn.Module) -> Iterator[tuple[str, Tensor, nn.Module]]:
    """Name, parameter and the module that holds it: each once, those of compatibility functions left out."""
    sites = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    seen = {id(own) for site in sites for own in site.compatibility.parameters()}
    for module_name, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if id(parameter) not in seen:
                seen.add(id(parameter))
                yield _plain_name(f"{module_name}.{name}"), parameter, module


def _plain_name(name: str) -> str:
    return ".".join(part for part in name.split(".") if part not in {"module", "_orig_mod", ""})


def _draw(parameter: Tensor, name: str, module: nn.Module, generator: torch.Generator, scheme: str) -> None:
    is_query_or_key = name.endswith(("query_projection.weight", "key_projection.weight"))
    if isinstance(module, Embedding):
        _fill(parameter, generator, std=parameter.shape[1] ** -0.5)
    elif isinstance(module, nn.Linear | nn.LayerNorm) and name.endswith(".bias"):
        parameter.zero_()
    elif isinstance(module, nn.LayerNorm):
        parameter.fill_(1.0)
    elif isinstance(module, nn.Linear) and is_query_or_key and scheme != "xavier":
        _fill(parameter, generator, std=module.in_features**-0.5)
    elif isinstance(module, nn.Linear):
        bound = (6.0 / (module.in_features + module.out_features)) ** 0.5
        parameter.copy_(torch.empty(parameter.shape).uniform_(-bound, bound, generator=generator))


def _fill(parameter: Tensor, generator: torch.Generator, std: float) -> None:
    parameter.copy_(torch.empty(parameter.shape).normal_(0.0, std, generator=generator))
