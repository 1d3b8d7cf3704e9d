"""Token batches: a partition of the pairs, within the budget, a pure function of (seed, epoch)."""

import random
import time
from itertools import chain, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from minitx.data.sampler import TokenBatchSampler
from minitx.errors import UserError

lengths = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=120)


def sampler(pairs: list[tuple[int, int]], batch_tokens: int = 80, **settings: int) -> TokenBatchSampler:
    source, target = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    return TokenBatchSampler(source, target, batch_tokens, **settings)


def drawn(number: int, seed: int = 0) -> list[tuple[int, int]]:
    """Lengths as of real text: log-normal, the sides correlated."""
    generator = np.random.default_rng(seed)
    common = generator.normal(2.6, 0.4, number)
    sides = np.exp(common[:, None] + generator.normal(0, 0.15, (number, 2))).astype(int) + 2
    return [tuple(pair) for pair in sides.tolist()]


@given(lengths, st.booleans(), st.integers(1, 50), st.integers(0, 3))
def test_every_pair_once_within_the_budget(
    pairs: list[tuple[int, int]], shuffle: bool, pool_size: int, epoch: int
) -> None:
    batches = sampler(pairs, shuffle=shuffle, pool_size=pool_size)
    batches.set_epoch(epoch)
    drawn = list(batches)
    assert sorted(index for batch in drawn for index in batch) == list(range(len(pairs)))
    assert len(batches) == len(drawn)
    for batch in drawn:
        assert len(batch) * max(max(pairs[index]) for index in batch) <= 80


@given(lengths, st.booleans(), st.integers(1, 5))
def test_g2_ranks_are_disjoint_equally_long_and_together_the_epoch(
    pairs: list[tuple[int, int]], shuffle: bool, world_size: int
) -> None:
    ranks = [sampler(pairs, shuffle=shuffle, rank=rank, world_size=world_size) for rank in range(world_size)]
    shards = [list(rank) for rank in ranks]
    assert {len(shard) for shard in shards} == {len(rank) for rank in ranks} == {len(shards[0])}
    assert sorted(index for shard in shards for batch in shard for index in batch) == list(range(len(pairs)))
    for batch in (batch for shard in shards for batch in shard):
        assert len(batch) * max((max(pairs[index]) for index in batch), default=0) <= 80


@given(lengths, st.integers(2, 4))
def test_a_step_of_several_ranks_is_as_many_batches_of_one(pairs: list[tuple[int, int]], world_size: int) -> None:
    alone = list(sampler(pairs))
    shards = [list(sampler(pairs, rank=rank, world_size=world_size)) for rank in range(world_size)]
    for step, together in enumerate(zip(*shards, strict=True)):
        successive = alone[step * world_size : (step + 1) * world_size]
        assert sorted(chain(*together)) == sorted(chain(*successive))


def test_g1_seven_batches_on_two_ranks() -> None:
    pairs = [(10, 10)] * 56
    assert len(sampler(pairs)) == 7
    shards = [list(sampler(pairs, rank=rank, world_size=2)) for rank in range(2)]
    assert [len(shard) for shard in shards] == [4, 4]
    assert [len(shard[-1]) for shard in shards] == [4, 4]


def test_g1_a_rank_with_nothing_left_gets_an_empty_batch() -> None:
    shards = [list(sampler([(10, 10)], rank=rank, world_size=3)) for rank in range(3)]
    assert shards == [[[0]], [[]], [[]]]


def test_order_is_a_pure_function_of_seed_and_epoch() -> None:
    pairs = drawn(500)

    def order(seed: int, epoch: int) -> list[list[int]]:
        batches = sampler(pairs, seed=seed, pool_size=100)
        batches.set_epoch(epoch)
        return list(batches)

    torch.manual_seed(7)
    first = order(1, 0)
    torch.manual_seed(8)
    np.random.seed(8)
    random.seed(8)
    again = sampler(pairs, seed=1, pool_size=100)
    for epoch in (2, 1, 0):
        again.set_epoch(epoch)
        list(again)
    assert list(again) == order(1, 0) == first
    assert order(1, 1) != first
    assert order(2, 0) != first
    assert order(2, 0) != order(1, 1)


def test_global_generators_are_left_alone() -> None:
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # `random` is moved by the tests' checks of types
    list(sampler(drawn(100)))
    assert torch.equal(before[0], torch.get_rng_state())
    assert (before[1] == np.random.get_state()[1]).all()


def test_a_resumed_epoch_goes_on_where_it_was() -> None:
    batches = sampler(drawn(300))
    batches.set_epoch(3)
    whole = list(batches)
    batches.set_epoch(3, first_batch=5)
    assert list(batches) == whole[5:]
    assert len(batches) == len(whole)
    batches.set_epoch(4)
    assert len(list(batches)) == len(batches)


def test_evaluation_is_sorted_and_the_same_each_time() -> None:
    pairs = drawn(300)
    batches = sampler(pairs, shuffle=False, seed=1)
    first = list(batches)
    batches.set_epoch(5)
    assert list(batches) == first == list(sampler(pairs, shuffle=False, seed=2))
    targets = [pairs[index][1] for batch in first for index in batch]
    assert targets == sorted(targets)


def test_epochs_mix_the_company_of_a_pair() -> None:
    batches = sampler(drawn(4000), 400, pool_size=1000)
    company = []
    for epoch in range(3):
        batches.set_epoch(epoch)
        company.append(next(set(batch) for batch in batches if 0 in batch))
    assert all(len(one & other) < len(one) / 2 for one, other in pairwise(company))


@pytest.mark.parametrize("shuffle", [True, False])
def test_little_padding(shuffle: bool) -> None:
    pairs = np.array(drawn(20_000))
    batches = list(sampler(pairs.tolist(), 4096, shuffle=shuffle))
    padded = sum(len(batch) * pairs[batch].max(axis=0) for batch in batches)
    assert pairs.sum() / padded.sum() > 0.85
    at_random = np.random.default_rng(0).permutation(len(pairs))
    width = np.array_split(at_random, len(batches))
    assert pairs.sum() / sum(len(batch) * pairs[batch].max(axis=0) for batch in width).sum() < 0.5


@pytest.mark.parametrize("batch_tokens", [0, -5])
def test_h2_batch_tokens_must_be_positive(batch_tokens: int) -> None:
    with pytest.raises(UserError, match=rf"data\.batch_tokens={batch_tokens} must be a positive number"):
        sampler([(1, 1)], batch_tokens)


def test_a_sentence_longer_than_a_batch_is_refused() -> None:
    assert len(sampler([(80, 3)], 80)) == 1
    with pytest.raises(UserError, match=r"data\.batch_tokens=80 .* of 81 tokens"):
        sampler([(3, 3), (4, 81)], 80)
    with pytest.raises(UserError, match=r"data\.pool_size=0"):
        sampler([(3, 3)], pool_size=0)
    with pytest.raises(ValueError, match="rank 2"):
        sampler([(3, 3)], rank=2, world_size=2)


def test_no_pairs_no_batches() -> None:
    assert list(sampler([])) == []
    assert list(sampler([], rank=1, world_size=2)) == []


def test_fast_enough_for_millions_of_pairs() -> None:
    batches = sampler(drawn(200_000), 4096)
    start = time.perf_counter()
    assert len(batches) > 500
    assert time.perf_counter() - start < 2
