"""One training step and one validation step, as Lightning calls them."""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor, nn

from minitx.data.batch import Batch
from minitx.nn.loss import LossSums
from minitx.nn.mask import padding_mask
from minitx.nn.score_reading import LargestScore, find_largest_score
from minitx.training.schedule import Schedule

OptimizerFactory = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
UNIT = 4096.0
"""What sums are divided by before the backward pass: near a batch's token count, so that half precision does not
overflow, and a power of two, so that undoing it is exact."""

Loss = Callable[[Tensor, Tensor, Tensor, float, torch.dtype | None], LossSums]


@dataclass(frozen=True)
class StepFigures:
    """What one finished update of the weights was like; `train_loss` is per target token of the whole step."""

    step: int
    train_loss: float
    learning_rate: float
    gradient_norm: float
    source_tokens: int
    target_tokens: int


class NonFiniteLoss(Exception):
    """The training loss became NaN or infinite.

    Attributes:
        step: the update that was not made.
        batch_ids: rows of the training set that its batches held.
        largest_score: the largest absolute score of the batch whose loss it was, read anew with the weights that gave
            that loss, those after the update before, and without dropout; see `find_largest_score`.
    """

    def __init__(self, step: int, batch_ids: list[int], largest_score: LargestScore | None = None) -> None:
        where = f" (largest score {largest_score})" if largest_score else ""
        super().__init__(f"The loss at step {step} is not a finite number{where}.")
        self.step = step
        self.batch_ids = batch_ids
        self.largest_score = largest_score

    def as_plain_data(self) -> dict[str, Any]:
        """What `run.json` keeps. JSON has no number for a score that is not finite: it is a text there."""
        score = asdict(self.largest_score) if self.largest_score else None
        if score and not math.isfinite(score["value"]):
            score["value"] = str(score["value"])
        return {"step": self.step, "batch_ids": self.batch_ids, "largest_score": score}


class TranslationModule(pl.LightningModule):
    """Trains `model` on the label-smoothed loss of §5.4, a sum divided by the target tokens of the whole step.

    Lightning's automatic optimisation would average micro-batches and processes whatever they hold. Here their sums of
    gradients are added and divided once by all their tokens, so that accumulation and devices change only rounding.

    Args:
        model: the `minitx.models.transformer.Transformer`; any module of its interface will do.
        optimizer: makes the optimizer from the parameters.
        schedule: the learning rate of each update.
        loss: `plain_loss` or `projected_loss`.
        label_smoothing: ε of §5.4.
        clip_norm: largest norm of a step's gradient; None: not clipped.
        accumulate_batches: batches that make one update.
        products: what the factors of the output projection's products are rounded to while training, a half-precision
            type; None: as they are. (Those of the layers are the model's own affair, see `lower_products`.)

    Attributes:
        gradient_observers: called with the number of each update when its gradients are complete, divided by the
            step's tokens and not yet clipped. They may read gradients, not change them.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: OptimizerFactory,
        schedule: Schedule,
        loss: Loss,
        label_smoothing: float = 0.1,
        clip_norm: float | None = None,
        accumulate_batches: int = 1,
        products: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.model = model
        self.make_optimizer = optimizer
        self.schedule = schedule
        self.loss = loss
        self.label_smoothing = label_smoothing
        self.clip_norm = clip_norm
        self.accumulate_batches = accumulate_batches
        self.products = products
        self.finished_step: StepFigures | None = None
        self.gradient_observers: list[Callable[[int], None]] = []
        self._open_step: list[tuple[Tensor, Batch]] = []
        self._validation: list[Tensor] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The optimizer; `schedule` sets its learning rate before every update."""
        return self.make_optimizer(self.model.parameters())

    def sums(self, batch: Batch) -> LossSums:
        """The loss of a batch, summed over its real target tokens."""
        source_mask = padding_mask(batch.source, self.model.pad_id)
        hidden = self.model.decode(batch.target_input, self.model.encode(batch.source), source_mask)
        real = batch.target_output != self.model.pad_id
        rows, target = hidden[real], batch.target_output[real]
        products = self.products if self.training else None
        return self.loss(rows, self.model.embedding.weight, target, self.label_smoothing, products)

    def training_step(self, batch: Batch, batch_index: int) -> None:
        """Add a batch's gradient to the open step, and finish the step when it is full or training ends.

        A step goes on across the end of an epoch, so that it is `accumulate_batches` batches everywhere and steps can
        be counted in batches.
        """
        self.finished_step = None
        smoothed = self.sums(batch).smoothed
        self.manual_backward(smoothed / UNIT)
        self._open_step.append((smoothed.detach(), batch))
        ends = self.trainer.is_last_batch and self.trainer.current_epoch + 1 == self.trainer.max_epochs
        if len(self._open_step) == self.accumulate_batches or ends:
            self.finished_step = self._update()
            self._open_step.clear()

    def _update(self) -> StepFigures:
        """Divide by the step's tokens, clip, and move the weights."""
        step = self.trainer.global_step + 1
        counts = [(batch.num_source_tokens, batch.num_target_tokens) for _, batch in self._open_step]
        loss_sum = torch.stack([loss for loss, _ in self._open_step]).sum()
        totals = torch.tensor([sum(s for s, _ in counts), sum(t for _, t in counts)], dtype=torch.float64)
        source_tokens, target_tokens, loss_total = self._over_processes(totals, loss_sum)
        if not math.isfinite(loss_total):
            raise self._non_finite_loss(step)
        optimizer = self.optimizers()
        # DistributedDataParallel averages gradients over processes; the loss is a sum over them.
        scale = UNIT * self.trainer.world_size / max(1.0, target_tokens)
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        torch._foreach_mul_(gradients, scale)
        for observe in self.gradient_observers:
            observe(step)
        norm = nn.utils.get_total_norm(gradients)
        if self.clip_norm is not None:
            nn.utils.clip_grads_with_norm_(self.model.parameters(), self.clip_norm, norm)
        learning_rate = self.schedule(step)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate
        optimizer.step()
        optimizer.zero_grad()
        return StepFigures(
            step,
            loss_total / max(1.0, target_tokens),
            learning_rate,
            float(norm),
            int(source_tokens),
            int(target_tokens),
        )

    def _non_finite_loss(self, step: int) -> NonFiniteLoss:
        ids = [int(i) for _, batch in self._open_step for i in batch.ids]
        # The batch at fault may be another process's, or the sum too large: then any batch serves.
        at_fault = [batch for loss, batch in self._open_step if not loss.isfinite()] or [self._open_step[-1][1]]
        return NonFiniteLoss(step, ids, find_largest_score(self.model, at_fault[0].source, at_fault[0].target_input))

    def _over_processes(self, totals: Tensor, loss_sum: Tensor) -> list[float]:
        figures = torch.cat([totals, loss_sum.double().cpu().reshape(1)])
        if self.trainer.world_size > 1:
            figures = self.trainer.strategy.reduce(figures.to(self.device), reduce_op="sum").cpu()
        return [float(figure) for figure in figures]

    def on_validation_epoch_start(self) -> None:
        """Start counting anew."""
        self._validation = []

    def validation_step(self, batch: Batch, batch_index: int) -> None:
        """Sum the cross-entropy of a batch."""
        cross_entropy = self.sums(batch).cross_entropy.double()
        self._validation.append(torch.stack([cross_entropy, cross_entropy.new_tensor(batch.num_target_tokens)]))

    def on_validation_epoch_end(self) -> None:
        """Log `validation_loss`, the cross-entropy per target token without label smoothing, in nats."""
        loss, tokens = torch.stack(self._validation).sum(dim=0).unbind()
        if self.trainer.world_size > 1:
            loss, tokens = self.trainer.strategy.reduce(torch.stack([loss, tokens]), reduce_op="sum").unbind()
        self.log("validation_loss", float(loss / tokens), logger=False)
