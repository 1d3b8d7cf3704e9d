"""transformers, in its environment: Marian with `Seq2SeqTrainer` for training, M2M100 with `generate` for decoding.

Marian exists with post-norm alone, so it cannot hold a pre-norm model's weights. M2M100 is the library's pre-norm
model of the same family: decoding differs from Marian's in the place of the LayerNorms and in nothing else.
"""

import torch

from peers.job import BATCH_SENTENCES, BOS, EOS, MAX_LENGTH, PAD, SOURCE, TARGET, Job
from peers.runner import Translate, main
from peers.weights import fairseq_names, position_table, read_weights
from peers.window import Window, in_batches


def sizes(job: Job) -> dict:
    """The common model in the words of transformers' configurations."""
    facts = job.facts
    return {
        "vocab_size": facts.vocab_size,
        "d_model": facts.d_model,
        "max_position_embeddings": facts.max_length,
        "activation_function": "relu",
        "scale_embedding": True,
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        **{f"{stack}_layers": facts.num_layers for stack in ("encoder", "decoder")},
        **{f"{stack}_ffn_dim": facts.d_ff for stack in ("encoder", "decoder")},
        **{f"{stack}_attention_heads": facts.num_heads for stack in ("encoder", "decoder")},
        **{f"{stack}_layerdrop": 0.0 for stack in ("encoder", "decoder")},
        **{f"{site}dropout": facts.dropout for site in ("", "attention_", "activation_")},
    }


class Pairs(torch.utils.data.Dataset):
    """Sentence pairs as the dictionaries that a Trainer expects."""

    def __init__(self, job: Job) -> None:
        self.pairs = list(zip(job.ids("train", SOURCE), job.ids("train", TARGET), strict=True))

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> dict:
        source, target = self.pairs[index]
        return {"input_ids": [*source, EOS], "labels": [*target, EOS]}


def collate(examples: list[dict]) -> dict:
    """Padded tensors; labels are padded with -100, as everywhere in transformers."""
    sources = padded([example["input_ids"] for example in examples], PAD)
    labels = padded([example["labels"] for example in examples], -100)
    inputs = padded([[BOS, *example["labels"][:-1]] for example in examples], PAD)
    mask = sources.ne(PAD).long()
    return {"input_ids": sources, "attention_mask": mask, "decoder_input_ids": inputs, "labels": labels}


def padded(rows: list[list[int]], value: int) -> torch.Tensor:
    tensors = [torch.tensor(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=value)


def train(job: Job, window: Window) -> None:
    from transformers import MarianConfig, MarianMTModel, Seq2SeqTrainer, Seq2SeqTrainingArguments, TrainerCallback

    torch.set_num_threads(job.threads)
    counted: list[int] = []

    class CountingTrainer(Seq2SeqTrainer):
        def training_step(self, model, inputs, *arguments, **keywords):
            counted.append(int(inputs["input_ids"].ne(PAD).sum() + inputs["labels"].ne(-100).sum()))
            return super().training_step(model, inputs, *arguments, **keywords)

    class TickWindow(TrainerCallback):
        def on_step_end(self, *arguments, **keywords):
            window.step(counted.pop())

    settings = Seq2SeqTrainingArguments(
        output_dir=job.output,
        use_cpu=True,
        per_device_train_batch_size=job.facts.batch_sentences,
        learning_rate=0.001,
        adam_beta2=0.98,
        label_smoothing_factor=0.1,
        max_steps=1_000_000,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
        train_sampling_strategy="group_by_length" if job.options.get("grouped") else "random",
    )
    model = MarianMTModel(MarianConfig(**sizes(job), forced_eos_token_id=None))
    CountingTrainer(model, settings, data_collator=collate, train_dataset=Pairs(job), callbacks=[TickWindow()]).train()


def load(job: Job) -> Translate:
    from transformers import GenerationConfig, M2M100Config, M2M100ForConditionalGeneration

    torch.set_num_threads(job.threads)
    model = M2M100ForConditionalGeneration(M2M100Config(**sizes(job))).eval()
    fill(model, job)

    def translate_batch(sources: list[list[int]], beam_size: int) -> list[list[int]]:
        batch = padded([[*source, EOS] for source in sources], PAD)
        settings = GenerationConfig(
            num_beams=beam_size,
            max_new_tokens=MAX_LENGTH,
            do_sample=False,
            pad_token_id=PAD,
            bos_token_id=BOS,
            eos_token_id=EOS,
            decoder_start_token_id=BOS,
        )
        output = model.generate(batch, attention_mask=batch.ne(PAD).long(), generation_config=settings)
        return [[token for token in row[1:] if token not in (PAD, EOS)] for row in output.tolist()]

    return lambda sources, beam: in_batches(sources, BATCH_SENTENCES, lambda batch: translate_batch(batch, beam))


def fill(model: torch.nn.Module, job: Job) -> None:
    """Give M2M100 minitx's weights and positions."""
    weights = read_weights(job.work)
    converted = {f"model.{name}": value for name, value in fairseq_names(weights).items()}
    tied = ("model.shared", "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
    converted |= {f"{name}.weight": weights["embedding.weight"] for name in tied}
    model.load_state_dict({name: torch.from_numpy(value) for name, value in converted.items()})
    table = torch.from_numpy(position_table(weights["positions"], PAD))
    for stack in (model.model.encoder, model.model.decoder):
        stack.embed_positions.weights = table.clone()


if __name__ == "__main__":
    main(train, load)
