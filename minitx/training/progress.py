"""What a person sees of a run: a live bar in a terminal, plain lines in a pipe or a file."""

import time
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Figures = Mapping[str, int | float]


@runtime_checkable
class Display(Protocol):
    """Shows a run that is going on."""

    def start(self, step: int) -> None:
        """Training begins after `step` updates."""

    def advance(self, step: int) -> None:
        """An update was made."""

    def show(self, step: int, figures: Figures) -> None:
        """A row of metrics is complete."""

    def close(self) -> None:
        """Training has ended."""


def choose_display(console: Console, max_steps: int | None) -> Display:
    """A bar where `console` is a terminal, lines elsewhere; `max_steps` may be an estimate, or None: not known."""
    return Bar(console, max_steps) if console.is_terminal else Lines(console, max_steps)


class Lines:
    """One line for each row of metrics: epoch, loss, tokens a second, time left."""

    def __init__(self, console: Console, max_steps: int | None) -> None:
        self.console = console
        self.max_steps = max_steps
        self._first = 0
        self._started = time.monotonic()

    def start(self, step: int) -> None:
        """Start the clock that the time left is reckoned from."""
        self._first, self._started = step, time.monotonic()

    def advance(self, step: int) -> None:
        """Lines come with metrics only."""

    def show(self, step: int, figures: Figures) -> None:
        """Print a line."""
        text = f"step {step}/{self.max_steps or '?'}  {describe(figures)}"
        if self.max_steps and step > self._first and "train_loss" in figures:
            left = (time.monotonic() - self._started) / (step - self._first) * (self.max_steps - step)
            text += f"  left {clock(left)}"
        self.console.print(text, highlight=False, soft_wrap=True, markup=False)

    def close(self) -> None:
        """Nothing stays open."""


class Bar:
    """A progress bar over the steps; validation figures stay above it as lines."""

    def __init__(self, console: Console, max_steps: int | None) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn(f"step {{task.completed}}/{max_steps or '?'}"),
            BarColumn(bar_width=None),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self.progress.add_task("", total=max_steps)

    def start(self, step: int) -> None:
        """Show the bar."""
        self.progress.start()
        self.progress.update(self._task, completed=step)

    def advance(self, step: int) -> None:
        """Move the bar."""
        self.progress.update(self._task, completed=step)

    def show(self, step: int, figures: Figures) -> None:
        """Put the training figures beside the bar, validation figures on a line of their own."""
        if "train_loss" in figures:
            self.progress.update(self._task, description=describe(figures))
        else:
            self.console.print(f"step {step}  {describe(figures)}", highlight=False, markup=False)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self.progress.stop()


def describe(figures: Figures) -> str:
    """The figures a person follows, in words."""
    forms = {
        "epoch": "epoch {:.1f}",
        "train_loss": "loss {:.3f}",
        "tokens_per_second": "{:,.0f} tokens/s",
        "validation_loss": "validation loss {:.3f}",
        "validation_perplexity": "perplexity {:.2f}",
        "validation_bleu": "validation BLEU {:.1f}",
    }
    return "  ".join(form.format(figures[name]) for name, form in forms.items() if name in figures)


def clock(seconds: float) -> str:
    """3725.2 -> "1:02:05"."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
