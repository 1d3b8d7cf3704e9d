"""What the tests of models share: the variants, and a model small enough to be cheap."""

from functools import partial

import pytest
import torch

from minitx.models.build import build_transformer
from minitx.nn.compatibility import Additive, Bilinear, Cosine, InverseDk, ScaledDotProduct, UnscaledDotProduct

VARIANTS = [ScaledDotProduct, UnscaledDotProduct, InverseDk, Bilinear, Cosine, Additive]


@pytest.fixture(params=VARIANTS, ids=lambda variant: variant.__name__)
def variant(request):
    """Each compatibility function of minitx."""
    return request.param


@pytest.fixture
def build():
    """`build(variant, **changes)`: a small model without dropout, with one variant at all three sites."""

    def build(variant=ScaledDotProduct, **changes):
        sites = dict.fromkeys(["encoder_self_attention", "decoder_self_attention", "cross_attention"], variant)
        sizes = {"vocab_size": 13, "d_model": 16, "d_ff": 24, "num_heads": 2, "num_layers": 2, "max_length": 12}
        return partial(build_transformer, pad_id=0, seed=1, dropout=0.0, **sites | sizes)(**changes)

    return build


@pytest.fixture
def copy_layer():
    """`copy_layer(theirs, mine)`: PyTorch's encoder or decoder layer gets the weights of ours."""
    return _copy_layer


def _copy_layer(theirs, mine):
    _copy_attention(theirs.self_attn, mine.self_attention)
    if hasattr(mine, "cross_attention"):
        _copy_attention(theirs.multihead_attn, mine.cross_attention)
    theirs.linear1.load_state_dict(mine.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(mine.feed_forward.outer.state_dict())
    for number, residual in enumerate(mine.residuals, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


def _copy_attention(theirs, mine):
    three = [mine.query_projection.weight, mine.key_projection.weight, mine.value_projection.weight]
    theirs.in_proj_weight.data = torch.cat(three).detach()
    theirs.out_proj.weight.data = mine.output_projection.weight.detach()
    theirs.in_proj_bias.data.zero_()
    theirs.out_proj.bias.data.zero_()
