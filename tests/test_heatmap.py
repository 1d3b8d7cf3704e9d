"""The cross-attention heatmap: the right weights, and pictures that carry their tokens."""

import xml.etree.ElementTree as ElementTree

import pytest
import torch

from minitx.errors import UserError
from minitx.heatmap import cross_attention_weights, draw_cross_attention
from minitx.loading import load_run

SOURCE, TARGET, BOS = [5, 6, 7, 2], [8, 9, 10, 11, 2], 1
SOURCE_TOKENS = ["▁Zwei", "▁große", "▁Hunde", "▁für", "▁$x^2$", "\n", "</s>"]
TARGET_TOKENS = ["▁Two", "▁<dogs>", "</s>"]


@pytest.fixture
def weights():
    return torch.randn(2, 4, 3, 7, generator=torch.Generator().manual_seed(1)).softmax(dim=-1)


def test_weights_are_those_of_every_layer_head_and_step(make_run):
    model = load_run(make_run()).model
    weights = cross_attention_weights(model, SOURCE, TARGET, BOS)
    assert weights.shape == (2, 2, 5, 4)
    assert torch.allclose(weights.sum(dim=-1), torch.ones(2, 2, 5))
    assert not any(layer.cross_attention.softmax._forward_hooks for layer in model.decoder)


def test_weights_of_the_first_layer_follow_from_its_definition(make_run):
    """softmax(compatibility(x W^Q, memory W^K)) with x what the first layer's self-attention makes of the target."""
    model = load_run(make_run("Bilinear", norm="post")).model
    weights = cross_attention_weights(model, SOURCE, TARGET, BOS)
    layer, memory = model.decoder[0], model.encode(torch.tensor([SOURCE]))
    x = model.embedding(torch.tensor([[BOS, *TARGET[:-1]]]))
    mask = torch.ones(5, 5, dtype=torch.bool).tril()[None, None]
    x = layer.residuals[0](x, lambda y: layer.self_attention(y, y, mask))
    site = layer.cross_attention
    query, key = (
        projection(y).unflatten(-1, (2, 8)).transpose(1, 2)
        for projection, y in ((site.query_projection, x), (site.key_projection, memory))
    )
    scores = query / 8**0.5 @ site.compatibility.matrix @ key.transpose(-2, -1)
    assert torch.allclose(weights[0], scores.softmax(dim=-1)[0], atol=1e-6)


def test_a_step_does_not_depend_on_later_ones(make_run):
    model = load_run(make_run("Additive")).model
    whole = cross_attention_weights(model, SOURCE, TARGET, BOS)
    assert torch.allclose(cross_attention_weights(model, SOURCE, TARGET[:2], BOS), whole[:, :, :2], atol=1e-6)


def test_a_png_is_a_picture(weights, tmp_path):
    from matplotlib.image import imread

    draw_cross_attention(weights, SOURCE_TOKENS, TARGET_TOKENS, tmp_path / "a.PNG")
    picture = imread(tmp_path / "a.PNG", format="png")
    assert picture.shape[0] > 200
    assert picture.shape[1] > 600
    assert picture.std() > 0.05


def svg_texts(path):
    return [element.text for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def test_an_svg_holds_every_token_once_a_panel(weights, tmp_path):
    draw_cross_attention(weights, SOURCE_TOKENS, TARGET_TOKENS, tmp_path / "a.svg")
    texts = svg_texts(tmp_path / "a.svg")
    for token in ["▁große", "▁für", "▁$x^2$", "\\n", "▁<dogs>", "layer 1"]:
        assert texts.count(token) == (1 if token.startswith("layer") else 2)
    assert texts.count("</s>") == 4
    assert "mean of 4 heads" in texts
    assert not any("layer 3" in text for text in texts)


def test_a_layer_is_drawn_head_by_head(weights, tmp_path):
    draw_cross_attention(weights, SOURCE_TOKENS, TARGET_TOKENS, tmp_path / "a.svg", layer=2)
    titles = [text for text in svg_texts(tmp_path / "a.svg") if text.startswith("layer")]
    assert titles == [f"layer 2, head {head}" for head in (1, 2, 3, 4)]


def test_what_cannot_be_drawn_is_refused(weights, tmp_path):
    for name in ("a.pdf", "a", "png"):
        with pytest.raises(UserError, match=r"ends in \.png or \.svg"):
            draw_cross_attention(weights, SOURCE_TOKENS, TARGET_TOKENS, tmp_path / name)
    for layer in (0, 3):
        with pytest.raises(UserError, match=f"no layer {layer} to draw: the decoder has layers 1 to 2"):
            draw_cross_attention(weights, SOURCE_TOKENS, TARGET_TOKENS, tmp_path / "a.png", layer=layer)
    with pytest.raises(UserError, match="cannot be written"):
        draw_cross_attention(weights, SOURCE_TOKENS, TARGET_TOKENS, tmp_path / "no" / "a.png")
