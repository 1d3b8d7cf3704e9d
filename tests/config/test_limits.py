"""Limits whose other side crashed a library or meant something else than was typed."""

import pytest

from minitx.config import compose
from minitx.errors import UserError


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("seed=99999999999999999999999", "at most 9223372036854775807"),
        ("data.vocab_size=1000000000000", "at most 10000000"),
        ("trainer.threads=100000", "at most 1024"),
        ("optimizer.betas=[1,2]", "two numbers"),
        ("optimizer.betas=[0.9]", "two numbers"),
        ("optimizer.betas=x", "two numbers"),
        ("data.tests=test", "a list of texts"),
        ("run_directory=", "run_directory is empty"),
        ("data.path=", "data.path is empty"),
        ("trainer.precision=16-true", "16-mixed"),
        ("~training", "training.accumulate_batches is not given"),
    ],
)
def test_refused_with_the_limit(override: str, words: str) -> None:
    with pytest.raises(UserError, match=words.replace("[", r"\[")):
        compose(["trainer=smoke", override])


@pytest.mark.parametrize("override", ["seed=9223372036854775807", "optimizer.betas=[0,0.999]", 'data.tests=["a=test"]'])
def test_what_is_within_them_is_taken(override: str) -> None:
    compose([override])


def test_half_precision_with_an_eps_that_it_can_hold() -> None:
    compose(["trainer.precision=16-true", "optimizer.eps=1e-4"])
