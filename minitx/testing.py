"""The contract of a compatibility function, for the tests of whoever writes one.

    from minitx.testing import check_compatibility_function

    def test_distance() -> None:
        check_compatibility_function(Distance)

A class that passes fills the slot of every attention site, in training, in half precision and in cached decoding.
"""

import copy
import io
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from minitx.models.initialisation import forked_random_state
from minitx.nn.attention import MaskedSoftmax, attention

BATCH, QUERIES, KEYS = 2, 3, 5
TOLERANCE = 1e-5  # of the largest score: for equal numbers computed in differently shaped operations


def check_compatibility_function(
    factory: Callable[..., nn.Module],
    *,
    d_k: Sequence[int] = (8, 64, 512),
    num_heads: Sequence[int] = (1, 4),
    dtypes: Sequence[torch.dtype] = (torch.float32, torch.bfloat16, torch.float16),
) -> None:
    """Check that what `factory(d_k=…, num_heads=…)` builds is a compatibility function (§3.2).

    The rules, for each d_k and number of heads:

    * it is a module with parameters of its own, drawn from PyTorch's random state alone;
    * its state survives `copy.deepcopy`, and `state_dict` saved and loaded with `weights_only=True`;
    * query [b, h, n, d_k] and key [b, h, m, d_k] give scores [b, h, n, m] and stay as they are;
    * in evaluation mode it is deterministic;
    * a score depends on its own query and key alone: not on other keys, queries, heads or batch rows. Padding, causal
      masks and decoding one position at a time rest on this;
    * gradients agree with finite differences in float64;
    * in each of `dtypes`: scores keep the dtype and are finite for vectors of unit variance and for zero vectors;
      gradients reach query, key and every parameter and are finite; a fully masked row gives attention a zero output.

    Args:
        factory: a class or a partial, called with the keywords `d_k` and `num_heads`.
        d_k: lengths of one head's query and key to try.
        num_heads: numbers of heads to try.
        dtypes: the precisions it shall work in.

    Raises:
        AssertionError: with a sentence that names the broken rule and says by how much it is broken.
    """
    for length, heads in itertools.product(d_k, num_heads):
        case = _Case(factory, length, heads)
        for rule in (_own_parameters, _shape, _finite_scores, _inputs_kept, _deterministic, _copies, _state_dict):
            rule(case)
        wide = replace(case, dtype=torch.float64)
        for rule in (_other_keys, _other_queries, _other_heads, _other_batch_rows, _finite_differences):
            rule(wide)
        for dtype in dtypes:
            for rule in (_finite_scores, _finite_gradients, _fully_masked_row):
                rule(replace(case, dtype=dtype))


@dataclass(frozen=True)
class _Case:
    """One way to build the function under test, and vectors to try it on."""

    factory: Callable[..., nn.Module]
    d_k: int
    num_heads: int
    dtype: torch.dtype = torch.float32

    def build(self, random_state: int = 0) -> nn.Module:
        with forked_random_state(random_state, "site"):
            try:
                function = self.factory(d_k=self.d_k, num_heads=self.num_heads)
            except TypeError as error:
                self.require(False, "the factory takes the keywords d_k and num_heads", _in_short(error), error)
        self.require(isinstance(function, nn.Module), "the factory builds a torch.nn.Module", f"it built {function!r}")
        return function.to(self.dtype).eval()

    def vectors(self, length: int, seed: int) -> Tensor:
        """[batch, heads, length, d_k] numbers of mean 0 and variance 1."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(BATCH, self.num_heads, length, self.d_k, generator=generator).to(self.dtype)

    def scores(self, function: nn.Module, query: Tensor, key: Tensor) -> Tensor:
        try:
            scores: Tensor = function(query, key)
        except Exception as error:
            shapes = f"query {list(query.shape)} and key {list(key.shape)}"
            self.require(False, f"it scores {shapes}", _in_short(error), error)
        self.require(isinstance(scores, Tensor), "scores are a tensor", f"they are {type(scores).__name__}")
        shape, expected = list(scores.shape), [*query.shape[:3], key.shape[2]]
        self.require(shape == expected, f"the shape of scores is [b, h, n, m] = {expected}", f"it is {shape}")
        return scores

    def require(self, holds: bool, rule: str, found: str, cause: Exception | None = None) -> None:
        if not holds:
            name = getattr(getattr(self.factory, "func", self.factory), "__name__", repr(self.factory))
            built = f"{name}(d_k={self.d_k}, num_heads={self.num_heads}) in {str(self.dtype).removeprefix('torch.')}"
            raise AssertionError(f"{built} breaks the rule that {rule}: {found}.") from cause

    def require_same(self, found: Tensor, expected: Tensor, rule: str, change: str) -> None:
        difference = (found - expected).abs().max().item()
        allowed = TOLERANCE * (1.0 + expected.abs().max().item())
        self.require(difference <= allowed, rule, f"{change}, and a score moved by {difference:.3g}")

    def require_finite(self, numbers: Tensor, rule: str, what: str) -> None:
        bad = int((~numbers.isfinite()).sum())
        self.require(bad == 0, rule, f"{bad} of {numbers.numel()} numbers in {what} are not")


def _in_short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0].rstrip('.')}"


def _own_parameters(case: _Case) -> None:
    first, second = case.build(), case.build()
    shared = {id(p) for p in first.parameters()} & {id(p) for p in second.parameters()}
    case.require(first is not second, "each site has a module of its own", "two builds gave the same one")
    case.require(not shared, "each site has parameters of its own", f"two builds share {len(shared)}")
    for (name, one), other in zip(first.named_parameters(), second.parameters(), strict=True):
        moved = (one - other).abs().max().item()
        rule = "parameters are the same when built again under the same random state of PyTorch"
        case.require(moved == 0.0, rule, f"{name} differs by up to {moved:.3g}")


def _shape(case: _Case) -> None:
    function = case.build()
    for queries, keys in ((QUERIES, KEYS), (KEYS, QUERIES), (1, KEYS), (1, 1)):
        case.scores(function, case.vectors(queries, 1), case.vectors(keys, 2))


def _inputs_kept(case: _Case) -> None:
    query, key = case.vectors(QUERIES, 1), case.vectors(KEYS, 2)
    case.scores(case.build(), query, key)
    for name, after, before in (("query", query, case.vectors(QUERIES, 1)), ("key", key, case.vectors(KEYS, 2))):
        moved = (after - before).abs().max().item()
        case.require(moved == 0.0, "query and key stay as they are", f"the {name} was changed by up to {moved:.3g}")


def _deterministic(case: _Case) -> None:
    function, query, key = case.build(), case.vectors(QUERIES, 1), case.vectors(KEYS, 2)
    moved = (case.scores(function, query, key) - case.scores(function, query, key)).abs().max().item()
    case.require(moved == 0.0, "evaluation is deterministic", f"a second call moved a score by {moved:.3g}")


def _copies(case: _Case) -> None:
    rule = "copy.deepcopy gives an independent module with the same scores"
    function = case.build()
    try:
        twin = copy.deepcopy(function)
    except Exception as error:
        case.require(False, rule, _in_short(error), error)
    shared = {id(p) for p in function.parameters()} & {id(p) for p in twin.parameters()}
    case.require(not shared, rule, f"the copy shares {len(shared)} parameters")
    _same_scores(case, function, twin, rule)


def _state_dict(case: _Case) -> None:
    rule = "state_dict, saved and loaded with weights_only=True, carries the whole state"
    function, other = case.build(random_state=0), case.build(random_state=1)
    file = io.BytesIO()
    try:
        torch.save(function.state_dict(), file)
        file.seek(0)
        other.load_state_dict(torch.load(file, weights_only=True))
    except Exception as error:
        case.require(False, rule, _in_short(error), error)
    _same_scores(case, function, other, rule)


def _same_scores(case: _Case, one: nn.Module, other: nn.Module, rule: str) -> None:
    query, key = case.vectors(QUERIES, 1), case.vectors(KEYS, 2)
    moved = (case.scores(one, query, key) - case.scores(other, query, key)).abs().max().item()
    case.require(moved == 0.0, rule, f"a score differs by {moved:.3g}")


def _other_keys(case: _Case) -> None:
    rule = "a score depends on its own query and key alone (padding and causal masks rest on it)"
    function, query, key = case.build(), case.vectors(QUERIES, 1), case.vectors(KEYS, 2)
    scores = case.scores(function, query, key)
    longer = torch.cat([key, case.vectors(2, 3)], dim=2)
    case.require_same(case.scores(function, query, longer)[..., :KEYS], scores, rule, "two keys were added")
    for kept in range(KEYS):
        changed = 3.0 * case.vectors(KEYS, 4)
        changed[:, :, kept] = key[:, :, kept]
        found = case.scores(function, query, changed)[..., kept]
        case.require_same(found, scores[..., kept], rule, "other keys were changed")


def _other_queries(case: _Case) -> None:
    rule = "one query at a time scores as all at once (cached decoding rests on it)"
    function, query, key = case.build(), case.vectors(QUERIES, 1), case.vectors(KEYS, 2)
    scores = case.scores(function, query, key)
    for i in range(QUERIES):
        found = case.scores(function, query[:, :, i : i + 1], key)
        case.require_same(found, scores[:, :, i : i + 1], rule, f"query {i} came alone")


def _other_heads(case: _Case) -> None:
    function, query, key = case.build(), case.vectors(QUERIES, 1), case.vectors(KEYS, 2)
    scores = case.scores(function, query, key)
    for head in range(case.num_heads):
        other_query, other_key = 3.0 * case.vectors(QUERIES, 5), 3.0 * case.vectors(KEYS, 6)
        other_query[:, head], other_key[:, head] = query[:, head], key[:, head]
        found = case.scores(function, other_query, other_key)[:, head]
        case.require_same(found, scores[:, head], "heads are independent", "other heads' vectors were changed")


def _other_batch_rows(case: _Case) -> None:
    function, query, key = case.build(), case.vectors(QUERIES, 1), case.vectors(KEYS, 2)
    scores = case.scores(function, query, key)
    for row in range(BATCH):
        found = case.scores(function, query[row : row + 1], key[row : row + 1])
        case.require_same(found, scores[row : row + 1], "batch rows are independent", f"row {row} came alone")


def _finite_differences(case: _Case) -> None:
    function = case.build()
    names = [name for name, parameter in function.named_parameters() if parameter.requires_grad]
    parameters = [dict(function.named_parameters())[name] for name in names]

    def scores(query: Tensor, key: Tensor, *values: Tensor) -> Tensor:
        found: Tensor = torch.func.functional_call(function, dict(zip(names, values, strict=True)), (query, key))
        return found

    query, key = case.vectors(QUERIES, 1).requires_grad_(), case.vectors(KEYS, 2).requires_grad_()
    try:
        torch.autograd.gradcheck(scores, (query, key, *parameters), fast_mode=True)
    except Exception as error:
        found = " ".join(str(error).split("\nThe above quantities")[0].split())
        case.require(False, "gradients agree with finite differences", found, error)


def _finite_scores(case: _Case) -> None:
    function = case.build()
    for what, query, key in _unit_and_zero_vectors(case):
        scores = case.scores(function, query, key)
        case.require(scores.dtype == case.dtype, "scores keep the dtype of the query", f"they are {scores.dtype}")
        case.require_finite(scores, f"scores are finite for {what}", "the scores")


def _unit_and_zero_vectors(case: _Case) -> list[tuple[str, Tensor, Tensor]]:
    query, key = case.vectors(QUERIES, 1), case.vectors(KEYS, 2)
    zero_query, zero_key = query.clone(), key.clone()
    zero_query[:, :, 0], zero_key[:, :, 0] = 0.0, 0.0  # one query and one key: they also meet each other
    return [("vectors of unit variance", query, key), ("zero vectors", zero_query, zero_key)]


def _finite_gradients(case: _Case) -> None:
    function = case.build().train()
    for what, query, key in _unit_and_zero_vectors(case):
        query, key = query.requires_grad_(), key.requires_grad_()
        scores = case.scores(function, query, key)
        weight = torch.randn(scores.shape, generator=torch.Generator().manual_seed(7)).to(case.dtype)
        _require_gradients(case, function, scores, weight, query, key, what)


def _fully_masked_row(case: _Case) -> None:
    function = case.build().train()
    query, key = case.vectors(QUERIES, 1).requires_grad_(), case.vectors(KEYS, 2).requires_grad_()
    mask = torch.ones(BATCH, 1, QUERIES, KEYS, dtype=torch.bool)
    mask[0, :, 1] = False
    output = attention(query, key, case.vectors(KEYS, 3), mask, function, MaskedSoftmax(), nn.Identity())
    largest = output[0, :, 1].abs().max().item()
    case.require(largest == 0.0, "a fully masked row gives zero output", f"the largest is {largest:.3g}")
    case.require_finite(output, "attention with a fully masked row has finite output", "the output")
    _require_gradients(case, function, output, torch.ones_like(output), query, key, "attention with a fully masked row")


def _require_gradients(
    case: _Case, function: nn.Module, output: Tensor, weight: Tensor, query: Tensor, key: Tensor, what: str
) -> None:
    """Gradients of the weighted sum of `output` reach query, key and every parameter, and are finite."""
    sources = {"query": query, "key": key} | {n: p for n, p in function.named_parameters() if p.requires_grad}
    rule = f"gradients reach query, key and every parameter, with {what}"
    case.require(output.requires_grad, rule, "the scores were detached")
    gradients = torch.autograd.grad(output, list(sources.values()), weight, allow_unused=True)
    for name, gradient in zip(sources, gradients, strict=True):
        if gradient is None:
            case.require(False, rule, f"none reaches {name}")
        else:
            case.require_finite(gradient, f"gradients are finite, with {what}", f"the gradient of {name}")
