"""Closed forms against counting by hand, against torch's own counter, and against what autograd really keeps."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from minitx.bench.operations import Operations, Sizes, attention_operations, score_operations
from minitx.bench.workload import load_variants, option_names
from minitx.nn.attention import MaskedSoftmax

BATCH, HEADS, QUERIES, KEYS, D_K = 2, 3, 5, 7, 4
SIZES = Sizes(BATCH, HEADS, QUERIES, KEYS, D_K, D_K)
# One head of one sentence: 2 queries, 3 keys, d_k = d_v = 4.
ONE_HEAD = Sizes(1, 1, 2, 3, 4, 4)


@pytest.fixture(scope="module")
def variants():
    return {variant.name: variant for variant in load_variants(option_names())}


@pytest.mark.parametrize(
    ("name", "multiply_adds", "transcendentals", "numbers_kept"),
    [
        ("UnscaledDotProduct", 6 * 4, 0, 0),
        ("ScaledDotProduct", 2 * 4 + 6 * 4, 0, 8),
        ("InverseDk", 2 * 4 + 6 * 4, 0, 8),
        ("Bilinear", 2 * 4 + 2 * 16 + 6 * 4, 0, 8 + 8 + 16),
        # 20 squares and 20 quotients, 6 products of 4, 6 times g; 5 lengths, each before and after its floor.
        ("Cosine", 20 + 20 + 24 + 6, 5, 20 + 5 + 5 + 6),
        ("Additive", 24 + 24, 24, 0),
        ("AdditiveReference", 24 + 24, 24, 24 + 8),
    ],
)
def test_counted_by_hand(name: str, multiply_adds: int, transcendentals: int, numbers_kept: int) -> None:
    assert score_operations(name, ONE_HEAD) == Operations(multiply_adds, transcendentals, numbers_kept)


def test_equation_1_adds_softmax_and_the_product_with_the_values() -> None:
    # 6 pairs: subtract, sum, divide; 6 exponentials; 6 weights kept, each times a value of 4 numbers.
    assert attention_operations("UnscaledDotProduct", ONE_HEAD) == Operations(24 + 18 + 24, 6, 6)


def test_another_variant_has_no_closed_form() -> None:
    assert score_operations("Distance", ONE_HEAD) is None
    assert attention_operations("Distance", ONE_HEAD) is None


def test_every_option_has_closed_forms(variants) -> None:
    assert [name for name in variants if score_operations(_class(variants[name]), SIZES) is None] == []


def test_numbers_kept_are_what_autograd_saves(variants) -> None:
    for name, variant in variants.items():
        score, query, key = _prepared(variant)
        counted = score_operations(_class(variant), SIZES)
        assert _saved(lambda f=score, q=query, k=key: f(q, k), score, query, key) == counted.numbers_kept, name


def test_numbers_kept_by_equation_1_are_what_autograd_saves(variants) -> None:
    score, query, key = _prepared(variants["unscaled"])
    value = torch.randn(BATCH, HEADS, KEYS, D_K, requires_grad=True)
    kept = _saved(lambda: MaskedSoftmax()(score(query, key), None) @ value, score, query, key, value)
    assert kept == attention_operations("UnscaledDotProduct", SIZES).numbers_kept


def test_products_are_what_torch_counts(variants) -> None:
    pairs = BATCH * HEADS * QUERIES * KEYS
    for name, outside_products in {
        "unscaled": 0,
        "scaled": BATCH * HEADS * QUERIES * D_K,
        "bilinear": BATCH * HEADS * QUERIES * D_K,
        "cosine": 2 * BATCH * HEADS * (QUERIES + KEYS) * D_K + pairs,
        "additive_reference": pairs * D_K,
    }.items():
        score, query, key = _prepared(variants[name])
        with FlopCounterMode(display=False) as counter:
            score(query, key)
        counted = score_operations(_class(variants[name]), SIZES)
        assert counter.get_total_flops() == 2 * (counted.multiply_adds - outside_products), name


def _class(variant) -> str:
    return variant.target.rpartition(".")[2]


def _prepared(variant):
    query, key = (torch.randn(BATCH, HEADS, n, D_K, requires_grad=True) for n in (QUERIES, KEYS))
    return variant.factory(d_k=D_K, num_heads=HEADS), query, key


def _saved(compute, module, *inputs) -> int:
    """Numbers in all that autograd saves, without inputs, parameters and output."""
    storages = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        output = compute()
    for tensor in (*inputs, output, *module.parameters()):
        storages.pop(tensor.untyped_storage().data_ptr(), None)
    return sum(storages.values())
