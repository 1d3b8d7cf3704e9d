"""Footnote 4 by experiment: what is drawn has the variance that it should, and follows from the seed alone."""

from functools import partial

import pytest
import torch

from minitx.nn.compatibility import (
    Additive,
    Bilinear,
    Cosine,
    InverseDk,
    ScaledDotProduct,
    UnscaledDotProduct,
)
from minitx.scores import drawn
from minitx.scores.closed_forms import expected_variances
from minitx.scores.drawn import draw

VARIANTS = [ScaledDotProduct, UnscaledDotProduct, InverseDk, Bilinear, Cosine, Additive]
FACTORIES = {variant.__name__: partial(variant) for variant in VARIANTS}


@pytest.mark.parametrize("d_k", [4, 64])
def test_variances_are_the_closed_forms_within_sampling_error(d_k):
    found = draw(FACTORIES, d_k, keys=16, draws=2000, seed=1)
    for name, figures in found.items():
        expected = expected_variances(f"minitx.nn.compatibility.{name}", d_k)
        assert figures["variance"] == pytest.approx(expected.whole, rel=0.08), name
        assert figures["row_variance"] == pytest.approx(expected.row, rel=0.08), name
        assert figures["rows"] == 2000


def test_a_large_d_k_saturates_the_unscaled_softmax_alone():
    found = draw({name: FACTORIES[name] for name in ("ScaledDotProduct", "UnscaledDotProduct")}, 1024, 16, 200, seed=1)
    scaled, unscaled = found["ScaledDotProduct"], found["UnscaledDotProduct"]
    assert scaled["saturated"] == 0.0
    assert unscaled["saturated"] > 0.5
    assert scaled["entropy"] > 0.8
    assert unscaled["entropy"] < 0.2
    assert unscaled["jacobian_trace"] < scaled["jacobian_trace"] / 4


def test_variants_see_the_same_draws_whatever_the_company_and_the_chunks(monkeypatch):
    together = draw(FACTORIES, 8, keys=4, draws=50, seed=3)
    alone = draw({"ScaledDotProduct": FACTORIES["ScaledDotProduct"]}, 8, keys=4, draws=50, seed=3)
    assert alone["ScaledDotProduct"] == together["ScaledDotProduct"]
    # At first M is the identity: the bilinear score is the scaled one.
    for name, value in together["Bilinear"].items():
        assert value == pytest.approx(together["ScaledDotProduct"][name], rel=1e-4), name
    assert draw(FACTORIES, 8, keys=4, draws=50, seed=4) != together
    monkeypatch.setattr(drawn, "NUMBERS", 7 * 4 * 8)  # seven draws at once, and one head at most of 8 · 8 numbers
    chunked = draw({"UnscaledDotProduct": FACTORIES["UnscaledDotProduct"]}, 8, keys=4, draws=50, seed=3)
    assert chunked["UnscaledDotProduct"]["rows"] == 50


def test_the_random_state_outside_is_left_alone():
    torch.manual_seed(0)
    state = torch.get_rng_state()
    draw(FACTORIES, 4, keys=4, draws=10, seed=1)
    assert torch.equal(torch.get_rng_state(), state)
