"""The closed forms of the variance, against integrals and samples."""

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import norm

from minitx.scores.closed_forms import Variances, expected_variances

OWN = "minitx.nn.compatibility."


@pytest.mark.parametrize("d_k", [4, 512])
def test_dot_products(d_k):
    wanted = {"UnscaledDotProduct": d_k, "ScaledDotProduct": 1, "InverseDk": 1 / d_k, "Bilinear": 1, "Cosine": 1}
    for name, variance in wanted.items():
        assert expected_variances(OWN + name, d_k) == Variances(variance, variance)


@pytest.mark.parametrize("name", ["Additive", "AdditiveReference"])
def test_the_additive_score_does_not_grow_with_d_k(name):
    found = expected_variances(OWN + name, 4)
    assert found == expected_variances(OWN + name, 4096)
    whole, _ = quad(lambda z: np.tanh(np.sqrt(2) * z) ** 2 * norm.pdf(z), -8, 8)
    assert found.whole == pytest.approx(whole, rel=1e-6)
    within, _ = dblquad(lambda k, q: np.tanh(q + k) ** 2 * norm.pdf(q) * norm.pdf(k), -8, 8, -8, 8)
    common, _ = quad(lambda q: quad(lambda k: np.tanh(q + k) * norm.pdf(k), -8, 8)[0] ** 2 * norm.pdf(q), -8, 8)
    assert found.row == pytest.approx(within - common, rel=1e-6)


def test_nobody_else_s_variant_has_one():
    assert expected_variances("my_pkg.ScaledDotProduct", 4) is None
    assert expected_variances(OWN + "CompatibilityFunction", 4) is None
