"""Joey NMT, in its environment: `joeynmt.training.train` with a counter in `_train_step`, and `joeynmt.search`."""

import shutil
from pathlib import Path

import torch

from peers.job import BATCH_SENTENCES, BOS, EOS, MAX_LENGTH, PAD, SOURCE, SPECIAL_TOKENS, TARGET, UNK, Job
from peers.runner import Translate, main
from peers.weights import joeynmt_names, read_weights, reordered
from peers.window import Window, in_batches

SPECIALS = (UNK, PAD, BOS, EOS)
"""minitx's ids in the order of Joey NMT's: <unk> 0, <pad> 1, <s> 2, </s> 3."""
JOEYNMT_PAD, JOEYNMT_EOS = 1, 3
LENGTH_PENALTY = 0.6


def configuration(job: Job) -> dict:
    """What Joey NMT reads from its YAML file."""
    return {
        "name": "peer",
        "model_dir": str(Path(job.output, "model")),
        "use_cuda": False,
        "random_seed": 1,
        "data": data_settings(job),
        "testing": {"beam_size": 1},
        "training": training_settings(job),
        "model": {
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": stack_settings(job),
            "decoder": stack_settings(job),
        },
    }


def data_settings(job: Job) -> dict:
    """Files and vocabulary; a token is a word, so nothing is split again."""
    vocabulary = Path(job.output, "vocabulary.txt")
    names = [SPECIAL_TOKENS[special] for special in SPECIALS]
    tokens = [*names, *map(str, range(len(SPECIALS), job.facts.vocab_size))]
    vocabulary.write_text("".join(f"{token}\n" for token in tokens))
    side = {"level": "word", "lowercase": False, "max_length": job.facts.max_length, "voc_file": str(vocabulary)}
    return {
        "train": f"{job.work}/train",
        "dev": f"{job.work}/val",
        "dataset_type": "plain",
        "src": {"lang": SOURCE, **side},
        "trg": {"lang": TARGET, **side},
    }


def training_settings(job: Job) -> dict:
    """Joey NMT counts a batch in sentences, unless told to count tokens."""
    facts = job.facts
    by_tokens = job.options.get("batch_type") == "token"
    return {
        "optimizer": "adam",
        "adam_betas": [0.9, 0.98],
        "learning_rate": 0.001,
        "learning_rate_min": 1e-9,
        "normalization": "tokens",
        "label_smoothing": 0.1,
        "clip_grad_norm": 1.0,
        "batch_type": "token" if by_tokens else "sentence",
        "batch_size": facts.batch_tokens if by_tokens else facts.batch_sentences,
        "epochs": 1000,
        "logging_freq": 100,
        "validation_freq": 10_000_000,
    }


def stack_settings(job: Job) -> dict:
    """The encoder, and likewise the decoder."""
    facts = job.facts
    return {
        "type": "transformer",
        "num_layers": facts.num_layers,
        "num_heads": facts.num_heads,
        "embeddings": {"embedding_dim": facts.d_model, "scale": True, "dropout": facts.dropout},
        "hidden_size": facts.d_model,
        "ff_size": facts.d_ff,
        "dropout": facts.dropout,
        "layer_norm": "pre",
    }


def train(job: Job, window: Window) -> None:
    from joeynmt.training import TrainManager
    from joeynmt.training import train as joeynmt_train

    torch.set_num_threads(job.threads)
    original = TrainManager._train_step
    previous: list[int] = []

    def counted(self, batch):
        if previous:  # the update of the previous batch came after its `_train_step`, and has ended only now
            window.step(previous.pop())
        previous.append(sum(int(side.ne(JOEYNMT_PAD).sum()) for side in (batch.src, batch.trg)))
        return original(self, batch)

    TrainManager._train_step = counted
    settings = configuration(job)
    shutil.rmtree(settings["model_dir"], ignore_errors=True)
    Path(settings["model_dir"]).mkdir(parents=True)
    joeynmt_train(rank=0, world_size=1, cfg=settings, skip_test=True)


def load(job: Job) -> Translate:
    from joeynmt.batch import Batch
    from joeynmt.config import parse_global_args
    from joeynmt.model import build_model
    from joeynmt.search import search
    from joeynmt.vocabulary import build_vocab

    torch.set_num_threads(job.threads)
    arguments = parse_global_args(configuration(job), mode="train")
    model = build_model(arguments.model, *build_vocab(arguments.data))
    fill(model, job)
    model.eval()

    def translate_batch(sources: list[list[int]], beam_size: int) -> list[list[int]]:
        rows = [torch.tensor([*source, JOEYNMT_EOS]) for source in sources]
        batch = Batch(
            src=torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=JOEYNMT_PAD),
            src_length=torch.tensor([len(row) for row in rows]),
            src_prompt_mask=None,
            trg=None,
            trg_prompt_mask=None,
            indices=torch.arange(len(rows)),
            device=torch.device("cpu"),
            pad_index=JOEYNMT_PAD,
            eos_index=JOEYNMT_EOS,
            is_train=False,
        )
        output, _, _ = search(model, batch, MAX_LENGTH, beam_size, LENGTH_PENALTY, n_best=1)
        return [ids[: ids.index(JOEYNMT_EOS)] if JOEYNMT_EOS in ids else ids for ids in output.tolist()]

    return lambda sources, beam: in_batches(sources, BATCH_SENTENCES, lambda batch: translate_batch(batch, beam))


def fill(model: torch.nn.Module, job: Job) -> None:
    """Give a Joey NMT model minitx's weights, and minitx's epsilon of layer normalisation."""
    weights = read_weights(job.work)
    embedding = reordered(weights["embedding.weight"], SPECIALS)
    converted = joeynmt_names(weights)
    converted |= dict.fromkeys(
        ("src_embed.lut.weight", "trg_embed.lut.weight", "decoder.output_layer.weight"), embedding
    )
    for stack in ("encoder", "decoder"):
        converted[f"{stack}.pe.pe"] = dict(model.named_buffers())[f"{stack}.pe.pe"].numpy()  # the same sinusoids
    model.load_state_dict({name: torch.from_numpy(value) for name, value in converted.items()})
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-5


if __name__ == "__main__":
    main(train, load)
