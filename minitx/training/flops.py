"""What training costs in operations, measured on the first batch."""

from itertools import islice

import torch
from torch.utils.flop_counter import FlopCounterMode

from minitx.training.datamodule import TranslationData
from minitx.training.module import TranslationModule


def flops_per_token(module: TranslationModule, data: TranslationData) -> float:
    """Floating-point operations of forward and backward, per source or target token that is not padding.

    Counts matrix products, which are nearly all of them, on the first batch of the first epoch; products with padding
    count, tanh and exponentials do not. Random state and gradients are left as they were.
    """
    loader = data.train_dataloader()
    batch = next(islice(iter(loader), 1))
    with torch.random.fork_rng(devices=[]), FlopCounterMode(display=False) as counter:
        module.sums(batch).smoothed.backward()
    module.zero_grad(set_to_none=True)
    return counter.get_total_flops() / (batch.num_source_tokens + batch.num_target_tokens)
