"""fairseq, in its environment: `fairseq-train` with a counter around `Trainer.train_step`, and `SequenceGenerator`."""

import shutil
from argparse import Namespace
from pathlib import Path

import torch

from peers.job import BATCH_SENTENCES, BOS, EOS, MAX_LENGTH, PAD, SOURCE, TARGET, UNK, Facts, Job
from peers.runner import Translate, main
from peers.weights import fairseq_names, position_table, read_weights, reordered
from peers.window import Window, in_batches

SPECIALS = (BOS, PAD, EOS, UNK)
"""minitx's ids in the order of fairseq's: <s> 0, <pad> 1, </s> 2, <unk> 3."""
FAIRSEQ_BOS, FAIRSEQ_PAD, FAIRSEQ_EOS = 0, 1, 2


def options(facts: Facts, data: Path, *more: str) -> list[str]:
    """The command line of `fairseq-train` for the common model."""
    sizes = [
        argument
        for stack in ("encoder", "decoder")
        for argument in (
            f"--{stack}-layers={facts.num_layers}",
            f"--{stack}-embed-dim={facts.d_model}",
            f"--{stack}-ffn-embed-dim={facts.d_ff}",
            f"--{stack}-attention-heads={facts.num_heads}",
            f"--{stack}-normalize-before",
        )
    ]
    dropout = [f"--{site}dropout={facts.dropout}" for site in ("", "attention-", "activation-")]
    lengths = [f"--max-{side}-positions={facts.max_length}" for side in ("source", "target")]
    return [str(data), "--arch=transformer", "--share-all-embeddings", "--cpu", *sizes, *dropout, *lengths, *more]


def configuration(arguments: list[str]):
    from fairseq import options as fairseq_options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    parser = fairseq_options.get_training_parser()
    return convert_namespace_to_omegaconf(fairseq_options.parse_args_and_arch(parser, input_args=arguments))


def binarise(job: Job) -> Path:
    """`fairseq-preprocess`; the dictionary lists the other tokens by id, so that all but the first four keep theirs."""
    from fairseq import options as fairseq_options
    from fairseq_cli.preprocess import main as preprocess

    data, dictionary = Path(job.output, "data"), Path(job.output, "dictionary.txt")
    shutil.rmtree(data, ignore_errors=True)
    dictionary.write_text("".join(f"{token} 1\n" for token in range(len(SPECIALS), job.facts.vocab_size)))
    arguments = [f"--source-lang={SOURCE}", f"--target-lang={TARGET}", f"--destdir={data}", "--joined-dictionary"]
    arguments += [f"--trainpref={job.work}/train", f"--validpref={job.work}/val"]
    arguments += [f"--srcdict={dictionary}", "--workers=1"]
    preprocess(fairseq_options.get_preprocessing_parser().parse_args(arguments))
    return data


def train(job: Job, window: Window) -> None:
    data = binarise(job)
    from fairseq.trainer import Trainer
    from fairseq_cli.train import main as fairseq_train

    torch.set_num_threads(job.threads)
    original = Trainer.train_step

    def counted(self, samples, *arguments, **keywords):
        result = original(self, samples, *arguments, **keywords)
        sides = [side for sample in samples for side in (sample["net_input"]["src_tokens"], sample["target"])]
        window.step(sum(int(side.ne(FAIRSEQ_PAD).sum()) for side in sides))
        return result

    Trainer.train_step = counted
    arguments = ["--criterion=label_smoothed_cross_entropy", "--label-smoothing=0.1", "--optimizer=adam"]
    arguments += ["--adam-betas=(0.9, 0.98)", "--clip-norm=1.0", "--lr=0.005", "--lr-scheduler=inverse_sqrt"]
    arguments += ["--warmup-updates=1000", f"--max-tokens={job.facts.batch_tokens}", "--max-update=1000000"]
    arguments += ["--no-save", "--disable-validation", "--log-format=simple", "--seed=1"]
    arguments += [f"--save-dir={job.output}/checkpoints"]
    fairseq_train(configuration(options(job.facts, data, *arguments)))


def load(job: Job) -> Translate:
    data = binarise(job)
    from fairseq import tasks
    from fairseq.data.data_utils import collate_tokens

    torch.set_num_threads(job.threads)
    # Learned positions take minitx's table of sinusoids as it is; looking them up costs the same.
    config = configuration(options(job.facts, data, "--encoder-learned-pos", "--decoder-learned-pos"))
    task = tasks.setup_task(config.task)
    model = task.build_model(config.model)
    fill(model, job)
    model.eval()
    model.prepare_for_inference_(config)
    generators = {}

    def translate_batch(sources: list[list[int]], beam_size: int) -> list[list[int]]:
        if beam_size not in generators:
            # The end mark comes on top of max_len_b.
            settings = Namespace(beam=beam_size, max_len_a=0, max_len_b=MAX_LENGTH - 1, lenpen=1.0, nbest=1)
            generators[beam_size] = task.build_generator([model], settings)
        rows = [torch.tensor([*source, FAIRSEQ_EOS]) for source in sources]
        lengths = torch.tensor([len(row) for row in rows])
        tokens = collate_tokens(rows, FAIRSEQ_PAD, left_pad=True)
        sample = {"net_input": {"src_tokens": tokens, "src_lengths": lengths}}
        found = generators[beam_size].generate([model], sample, bos_token=FAIRSEQ_BOS)
        return [hypotheses[0]["tokens"].tolist()[:-1] for hypotheses in found]

    return lambda sources, beam: in_batches(sources, BATCH_SENTENCES, lambda batch: translate_batch(batch, beam))


def fill(model: torch.nn.Module, job: Job) -> None:
    """Give a fairseq model minitx's weights."""
    weights = read_weights(job.work)
    embedding = reordered(weights["embedding.weight"], SPECIALS)
    converted = fairseq_names(weights)
    for stack in ("encoder", "decoder"):
        converted[f"{stack}.embed_tokens.weight"] = embedding
        converted[f"{stack}.embed_positions.weight"] = position_table(weights["positions"], FAIRSEQ_PAD)
    converted["decoder.output_projection.weight"] = embedding
    result = model.load_state_dict({name: torch.from_numpy(value) for name, value in converted.items()}, strict=False)
    missing = [name for name in result.missing_keys if not name.endswith(("version", "_float_tensor"))]
    if missing or result.unexpected_keys:
        print(f"weights without a counterpart: {missing} {result.unexpected_keys}")
    for module in model.modules():
        if hasattr(module, "can_use_fastpath"):
            # Loading turns on the encoder's fused path, which calls torch as it was before 2.0 and fails since.
            module.can_use_fastpath = False


if __name__ == "__main__":
    main(train, load)
