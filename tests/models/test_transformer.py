"""What a whole model must not do, whatever its weights: look at padding, at the future, or at another row."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from minitx.models.transformer import parameter_counts
from minitx.nn.mask import padding_mask

SOURCE = torch.tensor([[5, 6, 7, 8, 2], [9, 10, 2, 0, 0], [4, 2, 0, 0, 0]])
TARGET = torch.tensor([[1, 7, 8, 9], [1, 5, 11, 12], [1, 4, 4, 6]])
EXACT = {"rtol": 1e-10, "atol": 1e-10}  # equal to rounding, in double precision


def padded(ids, columns):
    return nn.functional.pad(ids, (0, columns))


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_a_pre_norm_model_is_pytorchs_with_the_same_weights(build, copy_layer):
    mine = build(norm="pre").double()
    theirs = nn.Transformer(16, 2, 2, 2, 24, dropout=0.0, batch_first=True, norm_first=True).double()
    for their_stack, my_layers in ((theirs.encoder, mine.encoder), (theirs.decoder, mine.decoder)):
        for their_layer, my_layer in zip(their_stack.layers, my_layers, strict=True):
            copy_layer(their_layer, my_layer)
    hidden = theirs(
        mine.embedding(SOURCE),
        mine.embedding(TARGET),
        tgt_mask=~torch.ones(4, 4, dtype=torch.bool).tril(),
        src_key_padding_mask=SOURCE == 0,
        memory_key_padding_mask=SOURCE == 0,
    )
    torch.testing.assert_close(mine(SOURCE, TARGET), hidden @ mine.embedding.weight.T, **EXACT)


def test_n4_padding_of_the_source_leaves_logits_as_they_are(build, variant):
    model = build(variant).double()
    torch.testing.assert_close(model(padded(SOURCE, 7), TARGET), model(SOURCE, TARGET), **EXACT)


def test_n4_padding_of_the_target_leaves_logits_of_words_as_they_are(build, variant):
    model = build(variant).double()
    torch.testing.assert_close(model(SOURCE, padded(TARGET, 5))[:, :4], model(SOURCE, TARGET), **EXACT)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_n4_a_sentence_alone_has_the_logits_it_has_in_a_batch(build, variant, norm):
    model = build(variant, norm=norm)  # in single precision, as in training
    together = model(SOURCE, TARGET)
    for row, length in enumerate((SOURCE != 0).sum(1).tolist()):
        alone = model(SOURCE[row : row + 1, :length], TARGET[row : row + 1])
        torch.testing.assert_close(alone, together[row : row + 1], rtol=1e-4, atol=1e-5)


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sources=st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=5), min_size=1, max_size=3),
    columns=st.integers(0, 7),
)
def test_n4_holds_for_any_batch(build, sources, columns):
    model, target = build().double(), TARGET[: len(sources)]
    width = max(len(source) for source in sources) + columns
    together = model(torch.tensor([source + [0] * (width - len(source)) for source in sources]), target)
    for row, source in enumerate(sources):
        alone = model(torch.tensor([source]), target[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, **EXACT)


def test_n4_padding_leaves_gradients_as_they_are(build, variant):
    model = build(variant).double()
    gradients = []
    for columns in (0, 6):
        model.zero_grad()
        model(padded(SOURCE, columns), padded(TARGET, columns))[:, :4].square().sum().backward()
        gradients.append({name: parameter.grad.clone() for name, parameter in model.named_parameters()})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("position", [1, 2, 3])
def test_later_words_do_not_reach_earlier_logits(build, variant, position):
    model, changed = build(variant), TARGET.clone()
    changed[:, position:] = 3
    before, after = model(SOURCE, TARGET), model(SOURCE, changed)
    assert torch.equal(before[:, :position], after[:, :position])
    assert (before - after)[:, position:].abs().amax(-1).min() > 1e-4


def test_every_source_word_reaches_every_logit(build, variant):
    model = build(variant).double()
    before = model(SOURCE, TARGET)
    for position in range(4):
        changed = SOURCE.clone()
        changed[0, position] = 12
        after = model(changed, TARGET)
        assert ((before - after)[0].abs().amax(-1) > 1e-6).all()
        assert torch.equal(before[1:], after[1:])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_decoding_step_by_step_gives_the_logits_of_the_whole_target(build, variant, norm):
    model = build(variant, norm=norm, num_decoder_layers=3, d_k=5, d_v=3).double()
    state = model.start_decoding(model.encode(SOURCE), padding_mask(SOURCE, 0))
    expected = model(SOURCE, TARGET)
    for i in range(4):
        assert state.length == i
        torch.testing.assert_close(model.decode_step(TARGET[:, i], state), expected[:, i], **EXACT)


def test_decode_and_logits_are_the_parts_of_forward(build):
    model = build()
    hidden = model.decode(TARGET, model.encode(SOURCE), padding_mask(SOURCE, model.pad_id))
    assert hidden.shape == (3, 4, 16)
    assert torch.equal(model.logits(hidden), model(SOURCE, TARGET))


@pytest.mark.parametrize("steps", [0, 2])
@pytest.mark.parametrize("sources", [[2, 1, 0], [1], [2, 0]])
@pytest.mark.parametrize("beam", [1, 3])
def test_selected_rows_go_on_as_the_sentences_they_are(build, sources, beam, steps):
    model, sources = build().double(), torch.tensor(sources)
    state = model.start_decoding(model.encode(SOURCE), padding_mask(SOURCE, 0))
    rows = torch.arange(3).repeat_interleave(beam)
    # Each row has words of its own, as the hypotheses of a beam do.
    target = torch.randint(3, 13, (len(rows), 4), generator=torch.Generator().manual_seed(0))
    for i in range(steps):
        model.decode_step(target[:, i], state)
    # Any rows of a source may go on, the same one several times too.
    kept = (sources[:, None] * beam + torch.randint(beam, (len(sources), beam))).flatten()
    state.select(kept, sources)
    assert state.length == steps
    target, rows = torch.cat([target[kept, :steps], target[: len(kept), steps:]], 1), rows[kept]
    expected = model(SOURCE[rows], target)
    for i in range(steps, 3):
        torch.testing.assert_close(model.decode_step(target[:, i], state), expected[:, i], **EXACT)
    # All sources stay, the rows of each in the reverse order.
    reverse = torch.arange(len(kept)).view(-1, beam).flip(1).flatten()
    state.select(reverse)
    torch.testing.assert_close(
        model.decode_step(target[reverse, 3], state), model(SOURCE[rows[reverse]], target[reverse])[:, 3], **EXACT
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_n1_a_source_of_padding_alone_gives_finite_logits_and_gradients(build, variant, dtype):
    model = build(variant).to(dtype)
    source = SOURCE.clone()
    source[1] = 0
    logits = model(source, TARGET)
    assert logits.dtype == dtype
    logits.logsumexp(-1).sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_n2_half_precision_is_close_to_single_precision(build, variant):
    model = build(variant, d_model=64, num_heads=4, d_ff=128)
    expected = model(SOURCE, TARGET)
    with torch.autocast("cpu", dtype=torch.float16):
        mixed = model(SOURCE, TARGET)
    half = model.half()(SOURCE, TARGET)
    for logits in (mixed, half):
        assert logits.dtype == torch.float16
        torch.testing.assert_close(logits.float(), expected, rtol=0, atol=0.05)


def test_one_batch_can_be_learnt_by_heart(build, variant):
    model = build(variant, d_model=32, d_ff=64)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    wanted = torch.tensor([[7, 8, 9, 2], [5, 11, 12, 2], [4, 4, 6, 2]])
    for _ in range(60):
        loss = nn.functional.cross_entropy(model(SOURCE, TARGET).flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05


def test_dropout_is_at_work_in_training_alone(build):
    model = build(dropout=0.5)
    assert not torch.allclose(model(SOURCE, TARGET), model(SOURCE, TARGET))
    model.eval()
    assert torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))
    assert torch.equal(model(SOURCE, TARGET), build()(SOURCE, TARGET))


def test_sequences_beyond_max_length_are_refused(build):
    model = build(max_length=5)
    assert model.max_length == 5
    assert model.vocab_size == 13
    with pytest.raises(ValueError, match="a sequence of 6 tokens is longer than the model's max_length, 5"):
        model.encode(padded(SOURCE, 1))
    with pytest.raises(ValueError, match="a sequence of 7 tokens is longer"):
        model(SOURCE, padded(TARGET, 3))
    state = model.start_decoding(model.encode(SOURCE), padding_mask(SOURCE, 0))
    for _ in range(5):
        model.decode_step(TARGET[:, 0], state)
    with pytest.raises(ValueError, match="a sequence of 6 tokens is longer"):
        model.decode_step(TARGET[:, 0], state)


def test_one_matrix_embeds_both_languages_and_makes_the_logits(build):
    model = build()
    with torch.no_grad():
        model.embedding.weight[12] = 0.0
    assert not model(SOURCE, TARGET)[..., 12].any()
    model(SOURCE, TARGET)[..., 3].sum().backward()
    moved = model.embedding.weight.grad.abs().amax(-1) > 0
    assert moved.nonzero().flatten().tolist() == sorted({3, *SOURCE[SOURCE != 0].tolist(), *TARGET.flatten().tolist()})


def test_parameters_are_counted_by_part_and_shared_ones_once(build):
    model = build(norm="pre")
    counts = parameter_counts(model)
    assert counts["embedding"] == 13 * 16
    assert counts["encoder_norm"] == counts["decoder_norm"] == 32
    assert counts["total"] == sum(parameter.numel() for parameter in model.parameters())
    assert counts["total"] == sum(number for part, number in counts.items() if part != "total")
    model.second_name = model.embedding
    assert parameter_counts(model) == counts
