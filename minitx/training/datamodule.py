"""The corpus as Lightning wants it: loaders of token-budget batches."""

import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader

from minitx.data.batch import Batch, collate
from minitx.data.dataset import ParallelDataset
from minitx.data.sampler import TokenBatchSampler


class TranslationData(pl.LightningDataModule):
    """Training and validation batches of a corpus.

    The order of the training set is a function of (seed, epoch) alone: neither building the model nor validating
    moves it.

    Args:
        train: pairs to train on.
        validation: pairs to validate on.
        batch_tokens: padded tokens of either side of a batch, at most.
        seed: of the order.
        num_workers: processes that fetch batches; 0: the training process itself.
        pool_size: pairs sorted by length together; None: the sampler's own choice.
    """

    def __init__(
        self,
        train: ParallelDataset,
        validation: ParallelDataset,
        batch_tokens: int,
        seed: int,
        num_workers: int = 0,
        pool_size: int | None = None,
    ) -> None:
        super().__init__()
        self.train = train
        self.validation = validation
        self.batch_tokens = batch_tokens
        self.seed = seed
        self.num_workers = num_workers
        self.pool = {} if pool_size is None else {"pool_size": pool_size}
        self.train_sampler: TokenBatchSampler | None = None

    def train_dataloader(self) -> DataLoader[Batch]:
        """Shuffled batches; `start_epoch` chooses the epoch's order."""
        self.train_sampler = self._sampler(self.train, shuffle=True)
        return self._loader(self.train, self.train_sampler)

    def val_dataloader(self) -> DataLoader[Batch]:
        """Every validation pair once, sorted by length."""
        return self._loader(self.validation, self._sampler(self.validation, shuffle=False))

    def start_epoch(self, epoch: int) -> None:
        """Choose the order of the training pairs. Called before the epoch's first batch is fetched."""
        if self.train_sampler is not None:
            self.train_sampler.set_epoch(epoch)

    def _sampler(self, dataset: ParallelDataset, shuffle: bool) -> TokenBatchSampler:
        rank, world_size = (0, 1) if self.trainer is None else (self.trainer.global_rank, self.trainer.world_size)
        return TokenBatchSampler(
            dataset.source_lengths,
            dataset.target_lengths,
            self.batch_tokens,
            self.seed,
            shuffle,
            rank=rank,
            world_size=world_size,
            **self.pool,
        )

    def _loader(self, dataset: ParallelDataset, sampler: TokenBatchSampler) -> DataLoader[Batch]:
        on_gpu = self.trainer is not None and self.trainer.strategy.root_device.type == "cuda"
        return DataLoader(
            dataset,
            batch_sampler=sampler,
            collate_fn=collate,
            num_workers=self.num_workers,
            pin_memory=on_gpu,
            persistent_workers=False,
            # Each pass draws a seed for its workers: from here, not from the generator that dropout draws from.
            generator=torch.Generator().manual_seed(self.seed),
        )
