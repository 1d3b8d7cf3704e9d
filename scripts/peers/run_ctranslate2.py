"""CTranslate2, in its environment: minitx's weights as a CTranslate2 model in fp32, and `translate_batch`.

The model is written through CTranslate2's own specification classes, straight from minitx's weights: its converter for
fairseq would need fairseq in the same environment and give the same file.
"""

import shutil
from pathlib import Path

import numpy as np

from peers.job import BATCH_SENTENCES, EOS, MAX_LENGTH, SPECIAL_TOKENS, Job
from peers.runner import Translate, main
from peers.weights import Weights, read_weights


def convert(job: Job) -> Path:
    """Write the model; returns its directory."""
    from ctranslate2.specs import TransformerSpec

    facts, weights = job.facts, read_weights(job.work)
    spec = TransformerSpec.from_config(facts.num_layers, facts.num_heads, pre_norm=True)
    tokens = [*SPECIAL_TOKENS, *map(str, range(len(SPECIAL_TOKENS), facts.vocab_size))]
    tokens[0] = "<blank>"  # as CTranslate2's own converters call it
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.add_source_eos = True
    for stack in ("encoder", "decoder"):
        part = getattr(spec, stack)
        embeddings = part.embeddings[0] if stack == "encoder" else part.embeddings
        embeddings.weight = weights["embedding.weight"]
        part.position_encodings.encodings = weights["positions"]
        set_norm(part.layer_norm, weights, f"{stack}_norm")
        for i, layer in enumerate(part.layer):
            set_layer(layer, weights, f"{stack}.{i}")
    spec.decoder.projection.weight = weights["embedding.weight"]
    directory = Path(job.output, "model")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    spec.validate()
    spec.optimize()
    spec.save(str(directory))
    return directory


def set_layer(layer, weights: Weights, name: str) -> None:
    """One layer; the projections that read the same input are one matrix."""
    sites = [("self_attention", [("query", "key", "value"), ("output",)])]
    if name.startswith("decoder"):
        sites.append(("cross_attention", [("query",), ("key", "value"), ("output",)]))
    for i, (site, groups) in enumerate(sites):
        attention = layer.self_attention if site == "self_attention" else layer.attention
        set_norm(attention.layer_norm, weights, f"{name}.residuals.{i}.norm")
        for linear, group in zip(attention.linear, groups, strict=True):
            matrices = [weights[f"{name}.{site}.{projection}_projection.weight"] for projection in group]
            linear.weight = np.concatenate(matrices)
    set_norm(layer.ffn.layer_norm, weights, f"{name}.residuals.{len(sites)}.norm")
    for linear, which in ((layer.ffn.linear_0, "inner"), (layer.ffn.linear_1, "outer")):
        linear.weight = weights[f"{name}.feed_forward.{which}.weight"]
        linear.bias = weights[f"{name}.feed_forward.{which}.bias"]


def set_norm(norm, weights: Weights, name: str) -> None:
    norm.gamma, norm.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]


def load(job: Job) -> Translate:
    import ctranslate2

    workers = job.threads if job.options.get("one_thread_workers") else 1
    translator = ctranslate2.Translator(
        str(convert(job)),
        device="cpu",
        compute_type="float32",
        inter_threads=workers,
        intra_threads=job.threads // workers,
    )

    def translate(sources: list[list[int]], beam_size: int) -> list[list[int]]:
        results = translator.translate_batch(
            [[str(token) for token in source] for source in sources],
            beam_size=beam_size,
            max_batch_size=BATCH_SENTENCES,
            batch_type="examples",
            max_decoding_length=MAX_LENGTH,
        )
        return [[id_of(token) for token in result.hypotheses[0]] for result in results]

    return translate


def id_of(token: str) -> int:
    return int(token) if token.isdigit() else (SPECIAL_TOKENS.index(token) if token in SPECIAL_TOKENS else EOS)


if __name__ == "__main__":
    main(None, load)
