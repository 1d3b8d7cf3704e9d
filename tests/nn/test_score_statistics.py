"""Score statistics against closed forms, and against loops over batch, head and query."""

import math

import numpy as np
import pytest
import torch

from minitx.nn.attention import MaskedSoftmax
from minitx.nn.compatibility import Additive, Cosine, InverseDk, ScaledDotProduct, UnscaledDotProduct
from minitx.nn.mask import causal_mask
from minitx.nn.score_statistics import STATISTICS, counted_rows, largest_scores, score_statistics


def statistics(scores, mask=None, real=None):
    return score_statistics(scores, MaskedSoftmax()(scores, mask), mask, real)


def test_even_weights_have_entropy_1_and_the_largest_trace():
    found = statistics(torch.full((2, 3, 4, 5), 7.0))
    wanted = {
        "std": 0.0,
        "row_std": 0.0,
        "max": 7.0,
        "entropy": 1.0,
        "saturated": 0.0,
        "jacobian_trace": 1 - 1 / 5,
        "jacobian_bound": 2 / 5 * (1 - 1 / 5),
    }
    assert tuple(found) == STATISTICS
    for name, value in wanted.items():
        torch.testing.assert_close(found[name], torch.full((3,), value), msg=name)


def test_weights_on_one_key_have_no_entropy_and_no_gradient():
    scores = torch.zeros(2, 3, 4, 5)
    scores[..., 2] = 1000.0
    found = statistics(scores)
    for name, value in {"entropy": 0.0, "saturated": 1.0, "jacobian_trace": 0.0, "jacobian_bound": 0.0}.items():
        assert found[name].tolist() == [value] * 3, name
    # One of five is 1000, the others 0: the mean is 200, the variance (800² + 4 · 200²) / 5 or, unbiased, / 4.
    torch.testing.assert_close(found["std"], torch.full((3,), 400.0))
    torch.testing.assert_close(found["row_std"], torch.full((3,), math.sqrt(200_000)))


def test_a_row_counts_as_saturated_above_0_99():
    def row(largest):
        return torch.tensor([largest, 1 - largest]).log()

    scores = torch.stack([row(p) for p in (0.5, 0.98, 0.991, 0.999)])[None, None]
    assert statistics(scores)["saturated"].item() == 0.5


def test_a_constant_added_to_a_row_is_in_std_and_not_in_row_std():
    torch.manual_seed(0)
    scores = torch.randn(4, 2, 6, 9, dtype=torch.float64)
    moved = scores + 50 * torch.randn(4, 2, 6, 1, dtype=torch.float64)
    before, after = statistics(scores), statistics(moved)
    assert (after["std"] > 10).all()
    for name in ("row_std", "entropy", "saturated", "jacobian_trace", "jacobian_bound"):
        torch.testing.assert_close(after[name], before[name], msg=name)


CLOSED_FORMS = {
    UnscaledDotProduct: lambda d_k: d_k,
    ScaledDotProduct: lambda d_k: 1.0,
    InverseDk: lambda d_k: 1 / d_k,
    Cosine: lambda d_k: 1.0,
}


@pytest.mark.parametrize("d_k", [4, 64, 512])
@pytest.mark.parametrize("variant", CLOSED_FORMS)
def test_footnote_4_the_variance_of_scores_of_independent_queries_and_keys(variant, d_k):
    torch.manual_seed(1)
    query, key = torch.randn(400, 1, 4, d_k), torch.randn(400, 1, 16, d_k)
    found = statistics(variant(d_k=d_k, num_heads=1)(query, key))
    wanted = math.sqrt(CLOSED_FORMS[variant](d_k))
    assert found["std"].item() == pytest.approx(wanted, rel=0.05)
    assert found["row_std"].item() == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize("d_k", [4, 64, 512])
def test_the_variance_of_the_additive_score_is_that_of_tanh(d_k):
    """Σ v_d tanh(q_d + k_d) with v fixed: |v|² E tanh²(z), z ~ N(0, 2), of which a row sees what k contributes."""
    torch.manual_seed(2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    tanh = np.tanh(nodes[:, None] + nodes[None, :])  # q, k
    total = weights @ tanh**2 @ weights
    of_query = weights @ (tanh @ weights) ** 2
    additive = Additive(d_k=d_k, num_heads=1)
    found = statistics(additive(torch.randn(400, 1, 4, d_k), torch.randn(400, 1, 16, d_k)).detach())
    length = additive.v.detach().norm().item()
    assert found["std"].item() == pytest.approx(length * math.sqrt(total), rel=0.05)
    assert found["row_std"].item() == pytest.approx(length * math.sqrt(total - of_query), rel=0.05)


def by_loops(scores, weights, mask, real):
    """The definitions, a row at a time, for one head."""
    batch, _, queries, keys = scores.shape
    together, rows = [], []
    for b in range(batch):
        for i in range(queries):
            allowed = [j for j in range(keys) if mask[b, 0, i, j]]
            if not real[b, i] or len(allowed) < 2:
                continue
            s = np.array([float(scores[b, 0, i, j]) for j in allowed])
            p = np.array([float(weights[b, 0, i, j]) for j in allowed])
            jacobian = np.diag(p) - np.outer(p, p)
            together += [*s]
            rows.append(
                {
                    "row_std": s.var(ddof=1),
                    "entropy": -sum(w * math.log(w) for w in p if w > 0) / math.log(len(p)),
                    "saturated": float(p.max() > 0.99),
                    "jacobian_trace": np.trace(jacobian),
                    "jacobian_bound": np.abs(jacobian).sum(axis=1).max(),
                    "eigenvalue": np.linalg.eigvalsh(jacobian)[-1],
                }
            )
            eigenvalue, bound = rows[-1]["eigenvalue"], rows[-1]["jacobian_bound"]
            assert bound / 2 <= eigenvalue * (1 + 1e-9) + 1e-14
            assert eigenvalue <= bound * (1 + 1e-9) + 1e-14
    found = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    return found | {
        "row_std": math.sqrt(found["row_std"]),
        "std": float(np.std(together)),
        "max": float(np.abs(together).max()),
    }


@pytest.mark.parametrize("spread", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("causal", [False, True])
def test_padding_and_rows_of_a_single_key_are_left_out(spread, causal):
    torch.manual_seed(3)
    lengths = torch.tensor([7, 2, 1, 5])
    scores = spread * torch.randn(4, 2, 7, 7, dtype=torch.float64)
    real = torch.arange(7)[None, :] < lengths[:, None]
    mask = causal_mask(7) if causal else real[:, None, None, :]
    weights = MaskedSoftmax()(scores, mask)
    found = score_statistics(scores, weights, mask, real)
    whole = mask.expand(4, 1, 7, 7)
    for head in range(2):
        wanted = by_loops(scores[:, head : head + 1], weights[:, head : head + 1], whole, real)
        for name in STATISTICS:
            assert found[name][head].item() == pytest.approx(wanted[name], rel=1e-9, abs=1e-12), name
    # What padding holds is of no consequence.
    spoilt = scores.masked_fill(~(whole & real[:, None, :, None]), 1e9)
    again = score_statistics(spoilt, MaskedSoftmax()(spoilt, mask), mask, real)
    for name in STATISTICS:
        torch.testing.assert_close(again[name], found[name], msg=name)
    largest = [scores[:, head : head + 1].abs()[whole & real[:, None, :, None]].max() for head in range(2)]
    assert largest_scores(spoilt, mask, real).tolist() == [float(value) for value in largest]


def test_rows_that_count():
    mask = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])[None, None]
    scores = torch.zeros(2, 1, 3, 3)
    assert counted_rows(scores, mask).tolist() == [[[True, False, False]]] * 2
    real = torch.tensor([[True] * 3, [False] * 3])
    assert counted_rows(scores, mask, real).tolist() == [[[True, False, False]], [[False] * 3]]
    assert counted_rows(scores, None).all()


def test_where_no_row_counts_there_is_no_number():
    found = statistics(torch.randn(2, 3, 4, 1))
    assert all(figure.isnan().all() for figure in found.values())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_taken_in_single_precision(dtype):
    torch.manual_seed(4)
    scores = 200 * torch.randn(2, 2, 5, 6)  # squares beyond fp16
    narrow = scores.to(dtype)
    found, wanted = statistics(narrow), statistics(narrow.float())
    for name in ("std", "row_std", "max"):
        assert found[name].dtype == torch.float32
        torch.testing.assert_close(found[name], wanted[name])


def test_a_score_that_is_no_number_is_the_largest_of_its_head():
    scores = torch.zeros(1, 3, 2, 2)
    scores[0, 0, 0, 0], scores[0, 1, 1, 1] = torch.nan, -torch.inf
    nan, infinite, zero = largest_scores(scores, None).tolist()
    assert (math.isnan(nan), infinite, zero) == (True, math.inf, 0.0)
