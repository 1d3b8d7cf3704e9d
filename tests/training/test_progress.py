"""What is shown of a run: lines where output goes to a file, a bar in a terminal."""

import io

import pytest
from rich.console import Console

from minitx.training import progress
from minitx.training.progress import Bar, Lines, choose_display, clock, describe


def console(terminal):
    return Console(file=io.StringIO(), force_terminal=terminal, width=100)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.0, "0:00"), (-3.0, "0:00"), (59.4, "0:59"), (60.0, "1:00"), (3725.2, "1:02:05")]
)
def test_clock(seconds, shown):
    assert clock(seconds) == shown


def test_figures_in_words():
    assert describe({"train_loss": 1.23456, "epoch": 2, "tokens_per_second": 12345.6}) == (
        "epoch 2.0  loss 1.235  12,346 tokens/s"
    )
    assert describe({"validation_bleu": 31.26, "tokens": 7}) == "validation BLEU 31.3"


def test_a_file_gets_a_line_a_row_with_the_time_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    shown = console(terminal=False)
    display = choose_display(shown, 100)
    assert isinstance(display, Lines)
    display.start(20)
    now[0] += 30.0  # ten steps in thirty seconds, seventy to go
    display.advance(30)
    display.show(30, {"train_loss": 2.0})
    display.show(30, {"validation_loss": 1.5})
    display.close()
    assert shown.file.getvalue().splitlines() == [
        "step 30/100  loss 2.000  left 3:30",
        "step 30/100  validation loss 1.500",
    ]


def test_a_terminal_gets_a_bar_and_validation_on_lines_of_its_own():
    shown = console(terminal=True)
    display = choose_display(shown, 100)
    assert isinstance(display, Bar)
    display.start(0)
    display.advance(40)
    display.show(40, {"train_loss": 2.0})
    display.show(40, {"validation_loss": 1.5})
    display.close()
    written = shown.file.getvalue()
    assert "step 40/100" in written
    assert "step 40  validation loss 1.500\n" in written.replace("\r", "").replace("\x1b[2K", "")
