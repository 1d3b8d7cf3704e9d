"""The bundled corpus cannot be learnt without looking at the source: that is what makes it an experiment's."""

import math

import torch
from torch.utils.data import DataLoader

from minitx.data.batch import collate
from minitx.data.corpora import text_files
from minitx.data.sampler import TokenBatchSampler
from minitx.evaluation import cross_entropy
from minitx.models.build import build_transformer
from minitx.nn.compatibility import ScaledDotProduct
from minitx.nn.loss import projected_loss
from minitx.nn.mask import padding_mask
from minitx.resources import toy_corpus_directory

SLOTS = dict.fromkeys(("encoder_self_attention", "decoder_self_attention", "cross_attention"), ScaledDotProduct)


def perplexity(corpus, cut_off):
    """Validation perplexity of a small model after 300 steps, with or without what cross-attention brings."""
    sizes = {"d_model": 64, "d_ff": 128, "num_heads": 4, "num_layers": 2, "dropout": 0.0, "norm": "pre"}
    model = build_transformer(vocab_size=corpus.tokenizer.vocab_size, pad_id=0, seed=1, **sizes, **SLOTS)
    if cut_off:
        for layer in model.decoder:
            layer.cross_attention.register_forward_hook(lambda module, inputs, output: torch.zeros_like(output))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    sampler = TokenBatchSampler(corpus.train.source_lengths, corpus.train.target_lengths, 1024, seed=1)
    batches = iter(DataLoader(corpus.train, batch_sampler=sampler, collate_fn=collate))
    for step in range(1, 301):
        batch = next(batches, None)
        if batch is None:
            sampler.set_epoch(step)
            batches = iter(DataLoader(corpus.train, batch_sampler=sampler, collate_fn=collate))
            batch = next(batches)
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * min(1.0, step / 40)
        hidden = model.decode(batch.target_input, model.encode(batch.source), padding_mask(batch.source, 0))
        real = batch.target_output != 0
        loss = projected_loss(hidden[real], model.embedding.weight, batch.target_output[real], 0.0).smoothed
        optimizer.zero_grad()
        (loss / batch.num_target_tokens).backward()
        optimizer.step()
    return math.exp(cross_entropy(model.eval(), corpus.validation, 4096))


def test_without_cross_attention_the_corpus_is_not_learnt(tmp_path):
    corpus = text_files(toy_corpus_directory(), "en", "de", vocab_size=2000, cache_directory=tmp_path)
    attending, cut_off = perplexity(corpus, cut_off=False), perplexity(corpus, cut_off=True)
    assert attending < 2.5
    assert cut_off > 8.0
