"""What the tests of attention share: the variants."""

import pytest

from minitx.nn.compatibility import (
    Additive,
    AdditiveReference,
    Bilinear,
    Cosine,
    InverseDk,
    ScaledDotProduct,
    UnscaledDotProduct,
)

VARIANTS = [ScaledDotProduct, UnscaledDotProduct, InverseDk, Bilinear, Cosine, Additive, AdditiveReference]


@pytest.fixture(params=VARIANTS, ids=lambda variant: variant.__name__)
def variant(request):
    """Each compatibility function of minitx."""
    return request.param
