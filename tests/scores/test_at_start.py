"""A real model before its first step."""

import pytest
import torch

from minitx.data.batch import collate
from minitx.data.dataset import Example
from minitx.models.build import build_transformer
from minitx.nn.compatibility import ScaledDotProduct, UnscaledDotProduct
from minitx.nn.score_reading import read_scores
from minitx.nn.score_statistics import score_statistics
from minitx.scores.at_start import at_start

SITES = ("encoder_self_attention", "decoder_self_attention", "cross_attention")
BATCH = collate([Example(0, [5, 6, 7, 8, 9, 2], [4, 5, 2]), Example(1, [9, 2], [6, 7, 8, 9, 2])])


def model(variant, d_k=16):
    sizes = {"vocab_size": 20, "pad_id": 0, "d_model": 32, "d_ff": 16, "num_heads": 2, "num_layers": 2, "norm": "pre"}
    return build_transformer(seed=1, d_k=d_k, **sizes, **dict.fromkeys(SITES, variant))


def test_figures_are_those_of_all_layers_and_heads_of_a_site():
    read = model(ScaledDotProduct)
    found = at_start(read, BATCH, seed=1)
    assert tuple(found) == SITES
    by_site = {site: [] for site in SITES}
    read_scores(read, BATCH.source, BATCH.target_input,
                lambda these: by_site[these.site.name].append(
                    score_statistics(these.scores, these.weights, these.mask, these.real)))  # fmt: skip
    for site, layers in by_site.items():
        for name in ("entropy", "saturated", "jacobian_trace", "jacobian_bound"):
            mean = torch.cat([layer[name] for layer in layers]).mean()
            assert found[site][name] == pytest.approx(float(mean), rel=1e-5)
        variance = torch.cat([layer["std"] for layer in layers]).square().mean()
        assert found[site]["variance"] == pytest.approx(float(variance), rel=1e-5)
        assert found[site]["query_gradient"] > 0
    # Rows of at least two keys: 6 + 2 in the encoder, (3 - 1) + (5 - 1) in the decoder, 3 + 5 across.
    assert [found[site]["rows"] for site in SITES] == [4 * 8, 4 * 6, 4 * 8]
    assert not any(module._forward_hooks for module in read.modules())
    assert read.training
    assert all(parameter.grad is None for parameter in read.parameters())


def test_queries_and_keys_start_with_the_variance_that_footnote_4_assumes():
    found = {d_k: at_start(model(UnscaledDotProduct, d_k), BATCH, seed=1) for d_k in (16, 256)}
    for site in SITES:
        ratio = found[256][site]["variance"] / found[16][site]["variance"]
        assert 8 < ratio < 32  # 16 in the mean over models
