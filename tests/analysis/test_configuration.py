"""What one configuration is called."""

from pathlib import Path

import pandas as pd
import pytest

from minitx.analysis.configuration import as_text, distinguishing_keys, flatten, most_common, say, variant_label
from minitx.analysis.runs import Run

SITES = ("encoder_self_attention", "decoder_self_attention", "cross_attention")


def configuration(*classes: str, **arguments: object) -> dict:
    nodes = [
        {"_target_": name if "." in name else f"minitx.nn.compatibility.{name}", "_partial_": True} for name in classes
    ]
    return {"model": {site: node | arguments for site, node in zip(SITES, nodes * (3 // len(nodes)), strict=True)}}


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        (["ScaledDotProduct"], "scaled"),
        (["UnscaledDotProduct"], "unscaled"),
        (["InverseDk"], "inverse_d_k"),
        (["Additive"], "additive"),
        (["AdditiveReference"], "additive_reference"),
        (["Bilinear"], "bilinear"),
        (["Cosine"], "cosine"),
        (["my_pkg.Distance"], "Distance"),
        (["ScaledDotProduct", "ScaledDotProduct", "Additive"], "scaled, cross additive"),
        (["Additive", "Cosine", "Cosine"], "cosine, encoder additive"),
    ],
)
def test_variants(classes: list[str], label: str) -> None:
    assert variant_label(configuration(*classes)) == label


def test_arguments_are_part_of_the_name() -> None:
    assert variant_label(configuration("Cosine", initial_scale=4.0)) == "cosine(initial_scale=4)"


def test_attention_set_for_all_sites() -> None:
    assert variant_label({"attention": {"_target_": "minitx.nn.compatibility.Additive"}, "model": {}}) == "additive"
    assert variant_label({}) == "unknown"


def keys(**model: object) -> dict:
    config = {"model": {"d_model": 32, "num_heads": 2, **model}, "data": {"path": "x"}}
    return distinguishing_keys(Run(Path("run"), {"config": config, "seed": 1}, pd.DataFrame(), {}))


def test_d_k_is_what_it_was() -> None:
    assert keys(d_k=None)["d_k"] == keys(d_k=16)["d_k"] == 16
    assert "data.path" not in keys()


def test_flatten() -> None:
    assert flatten({"a": {"b": 1, "c": {"d": [1, 2]}}, "e": None}) == {"a.b": 1, "a.c.d": "[1, 2]", "e": None}


def test_values_in_words() -> None:
    assert [say(v) for v in (None, 512, 16384, 0.005, "torch.optim.Adam", "a b.c", True)] == [
        "default",
        "512",
        "16,384",
        "0.005",
        "Adam",
        "a b.c",
        "True",
    ]


def test_one_and_one_point_nothing_are_one_value() -> None:
    assert as_text(1) == as_text(1.0)
    assert most_common([1, 1.0, 2]) == 1
    assert most_common(["b", "a"]) == "a"
