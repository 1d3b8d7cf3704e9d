"""The contract catches a variant that breaks it, by the rule that it breaks."""

import math
import re
from functools import cache, partial

import pytest
import torch
from torch import nn

from minitx.nn.compatibility import Additive, Bilinear, Cosine, InverseDk, ScaledDotProduct, UnscaledDotProduct
from minitx.testing import check_compatibility_function

VARIANTS = [ScaledDotProduct, UnscaledDotProduct, InverseDk, Bilinear, Cosine, Additive]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.__name__)
def test_the_variants_of_minitx_keep_the_contract(variant):
    check_compatibility_function(variant)


def test_a_partial_is_a_factory():
    class Tempered(Sound):
        def __init__(self, *, d_k, num_heads, temperature):
            super().__init__(d_k=d_k, num_heads=num_heads)
            self.temperature = temperature

        def forward(self, query, key):
            return super().forward(query, key) / self.temperature

    check_compatibility_function(partial(Tempered, temperature=2.0))


class Sound(nn.Module):
    """A variant that keeps every rule; the broken ones below each break one."""

    def __init__(self, *, d_k, num_heads):
        super().__init__()
        self.d_k, self.num_heads = d_k, num_heads
        self.matrix = nn.Parameter(torch.randn(num_heads, d_k, d_k) / d_k)

    def forward(self, query, key):
        return query @ self.matrix @ key.transpose(-2, -1)


SHARED = nn.Parameter(torch.ones(()))
NEVER_SEEDED = torch.Generator().manual_seed(0)


class OtherKeyword(nn.Module):
    def __init__(self, *, head_size, num_heads):
        super().__init__()


def no_module(*, d_k, num_heads):
    return lambda query, key: query @ key.transpose(-2, -1)


@cache
def the_same_module(*, d_k, num_heads):
    return ScaledDotProduct(d_k=d_k, num_heads=num_heads)


class SharedParameter(Sound):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.gain = SHARED


class DrawnElsewhere(Sound):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.matrix = nn.Parameter(torch.randn(self.matrix.shape, generator=NEVER_SEEDED))


class Transposed(Sound):
    def forward(self, query, key):
        return super().forward(query, key).transpose(-2, -1)


class SharedByHeads(Sound):
    def forward(self, query, key):
        return super().forward(query, key).mean(1)


class NeedsSeveralKeys(Sound):
    def forward(self, query, key):
        assert key.shape[2] > 1
        return super().forward(query, key)


class ChangesKey(Sound):
    def forward(self, query, key):
        return super().forward(query, key.div_(math.sqrt(self.d_k)))


class Noisy(Sound):
    def forward(self, query, key):
        return super().forward(query, key) + torch.randn((), dtype=query.dtype)


class DropoutInEvaluation(Sound):
    def forward(self, query, key):
        return nn.functional.dropout(super().forward(query, key), 0.5)


class NoCopy(Sound):
    def __deepcopy__(self, memo):
        raise RuntimeError("cannot be copied")


class CopyThatShares(Sound):
    def __deepcopy__(self, memo):
        return self


class UnregisteredState(Sound):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.offset = torch.randn(self.num_heads, 1, 1)

    def forward(self, query, key):
        return super().forward(query, key) + self.offset


class NoWeightsOnly(Sound):
    def get_extra_state(self):
        return partial(print)

    def set_extra_state(self, state):
        pass


class SoftmaxOverKeys(Sound):
    def forward(self, query, key):
        return super().forward(query, key).softmax(-1)


class CentredOnKeys(Sound):
    def forward(self, query, key):
        return super().forward(query, key - key.mean(2, keepdim=True))


class LooksAtLaterKeys(Sound):
    def forward(self, query, key):
        return super().forward(query, key + 0.1 * key.roll(-1, 2))


class BoundToQueryPosition(Sound):
    def forward(self, query, key):
        position = torch.arange(query.shape[2], dtype=query.dtype)[:, None]
        return super().forward(query, key) + position


class MixesHeads(Sound):
    def forward(self, query, key):
        scores = super().forward(query, key)
        return scores + 0.1 * scores.mean(1, keepdim=True)


class MixesBatch(Sound):
    def forward(self, query, key):
        return super().forward(query, key) - 0.1 * query.mean(0)[..., :1]


class WrongGradient(Sound):
    def forward(self, query, key):
        return super().forward(query, 0.5 * key + 0.5 * key.detach())


class WidensDtype(Sound):
    def forward(self, query, key):
        return super().forward(query, key).to(torch.promote_types(query.dtype, torch.float32))


class NotInHalf(Sound):
    def forward(self, query, key):
        if query.dtype == torch.float16:
            raise RuntimeError("not implemented for 'Half'")
        return super().forward(query, key)


class OverflowsInHalf(Sound):
    def forward(self, query, key):
        return super().forward(query, key) * 1e-2 + ((query**2).sum(-1, keepdim=True) * 1e5) * 1e-5


class NotANumber(Sound):
    def forward(self, query, key):
        return super().forward(query, key).sqrt()


class CosineWithoutFloor(Sound):
    def forward(self, query, key):
        return super().forward(query / query.norm(dim=-1, keepdim=True), key)


class DistanceWithoutFloor(Sound):
    def forward(self, query, key):
        squares = (query[:, :, :, None] - key[:, :, None]).pow(2).sum(-1)
        return super().forward(query, key) - squares.sqrt() / self.d_k


class Detached(Sound):
    def forward(self, query, key):
        return super().forward(query, key).detach()


class DetachedKey(Sound):
    def forward(self, query, key):
        return super().forward(query, key.detach())


class UnusedParameter(Sound):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.never = nn.Parameter(torch.zeros(3))


class NormalisesItsGradient(Sound):
    """Divides by a gradient of zero, which only a fully masked row passes back."""

    def forward(self, query, key):
        scores = super().forward(query, key)
        if scores.dtype == torch.float16 and scores.requires_grad:
            scores.register_hook(lambda gradient: gradient / gradient.abs().sum(-1, keepdim=True))
        return scores


class MinusInfinity(Sound):
    """Masks by itself."""

    def forward(self, query, key):
        scores = super().forward(query, key)
        return scores.masked_fill(scores < -0.5, -torch.inf)


BROKEN = [
    (OtherKeyword, r"the factory takes the keywords d_k and num_heads: .*argument 'd_k'"),
    (no_module, r"the factory builds a torch.nn.Module: it built <function"),
    (the_same_module, r"each site has a module of its own: two builds gave the same one"),
    (SharedParameter, r"each site has parameters of its own: two builds share 1"),
    (DrawnElsewhere, r"same random state of PyTorch: matrix differs by up to \d"),
    (Transposed, r"shape of scores is \[b, h, n, m\] = \[2, 1, 3, 5\]: it is \[2, 1, 5, 3\]"),
    (SharedByHeads, r"shape of scores is \[b, h, n, m\] = \[2, 1, 3, 5\]: it is \[2, 3, 5\]"),
    (NeedsSeveralKeys, r"it scores query \[2, 1, 1, 8\] and key \[2, 1, 1, 8\]: AssertionError"),
    (ChangesKey, r"query and key stay as they are: the key was changed by up to \d"),
    (Noisy, r"evaluation is deterministic: a second call moved a score by \d"),
    (DropoutInEvaluation, r"evaluation is deterministic"),
    (NoCopy, r"copy.deepcopy gives an independent module.*RuntimeError: cannot be copied"),
    (CopyThatShares, r"copy.deepcopy gives an independent module.*shares 1 parameters"),
    (UnregisteredState, r"state_dict.* carries the whole state: a score differs by \d"),
    (NoWeightsOnly, r"state_dict, saved and loaded with weights_only=True.*UnpicklingError"),
    (SoftmaxOverKeys, r"its own query and key alone.*: two keys were added, and a score moved by \d"),
    (CentredOnKeys, r"its own query and key alone.*: two keys were added"),
    (LooksAtLaterKeys, r"its own query and key alone"),
    (BoundToQueryPosition, r"one query at a time scores as all at once.*: query 1 came alone, .* moved by 1"),
    (MixesHeads, r"num_heads=4\) .*heads are independent: other heads' vectors were changed, .*moved by \d"),
    (MixesBatch, r"batch rows are independent: row 0 came alone, and a score moved by \d"),
    (WrongGradient, r"gradients agree with finite differences: .*numerical"),
    (WidensDtype, r"in bfloat16 .*scores keep the dtype of the query: they are torch.float32"),
    (NotInHalf, r"in float16 .*it scores query .*: RuntimeError: not implemented for 'Half'"),
    (OverflowsInHalf, r"in float16 .*scores are finite for vectors of unit variance: 30 of 30 numbers"),
    (NotANumber, r"in float32 .*scores are finite for vectors of unit variance: \d+ of 30 numbers"),
    (MinusInfinity, r"in float32 .*scores are finite for vectors of unit variance: \d+ of 30 numbers"),
    (CosineWithoutFloor, r"scores are finite for zero vectors: 10 of 30 numbers in the scores are not"),
    (DistanceWithoutFloor, r"gradients are finite, with zero vectors: \d+ of \d+ numbers in the gradient of query"),
    (DetachedKey, r"gradients agree with finite differences"),
    (NormalisesItsGradient, r"gradients are finite, with attention with a fully masked row: \d+ of \d+ numbers"),
    (UnusedParameter, r"gradients reach query, key and every parameter, .*: none reaches never"),
]


@pytest.mark.parametrize(("broken", "sentence"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_variant_is_caught_by_the_rule_it_breaks(broken, sentence):
    with pytest.raises(AssertionError, match=sentence) as caught:
        check_compatibility_function(broken, d_k=(8,))
    assert re.match(
        rf"{broken.__name__}\(d_k=8, num_heads=[14]\) in \w+ breaks the rule that .+: .+\.$", str(caught.value)
    )


def test_detached_scores_are_caught():
    with pytest.raises(AssertionError, match="gradients"):
        check_compatibility_function(Detached, d_k=(8,))


def test_the_sound_variant_of_these_tests_is_sound():
    check_compatibility_function(Sound, d_k=(1, 8, 64), num_heads=(1, 2, 8))


def test_only_the_given_precisions_are_asked_for():
    check_compatibility_function(NotInHalf, d_k=(8,), dtypes=(torch.float32, torch.bfloat16))


def test_the_contract_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    check_compatibility_function(Additive, d_k=(8,), num_heads=(2,))
    assert torch.equal(torch.get_rng_state(), before)
