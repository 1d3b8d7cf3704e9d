"""Precisions that are minitx's own, as Lightning and PyTorch are told of them."""

from types import SimpleNamespace

import pytest
import torch

from minitx.config import compose
from minitx.errors import UserError
from minitx.training.trainer import check_devices, make_trainer, set_product_rounding


def made(precision: str):
    config = compose([f"trainer.precision={precision}", "trainer=cpu"])
    return make_trainer(config.training, config.trainer, [], [])


@pytest.mark.parametrize("precision", ["32-true", "bf16-products"])
def test_single_precision_by_other_names_is_single_precision_to_lightning(precision: str) -> None:
    assert made(precision).precision == "32-true"


def test_lightnings_own_precisions_reach_it() -> None:
    assert made("bf16-mixed").precision == "bf16-mixed"


def test_tf32_is_refused_where_it_would_change_nothing() -> None:
    with pytest.raises(UserError, match=r"trainer\.precision=tf32 .* is on cpu: use 32-true"):
        made("tf32")
    device = SimpleNamespace(accelerator="cpu", devices=1, num_nodes=1, strategy="auto", precision="tf32")
    with pytest.raises(UserError, match="tf32"):
        check_devices(compose([]).training, device)


def test_the_rounding_of_products_follows_the_precision_and_goes_back() -> None:
    matmul = torch.backends.cuda.matmul
    try:
        set_product_rounding("tf32")
        assert matmul.fp32_precision == "tf32"
        for precision in ("32-true", "bf16-products", "bf16-mixed"):
            set_product_rounding("tf32")
            set_product_rounding(precision)
            assert matmul.fp32_precision == "ieee"
    finally:
        set_product_rounding("32-true")
