"""minitx, in the checkout's own environment: `minitx train` ended by a callback, and `translate_ids` of a run."""

from peers.job import BATCH_SENTENCES, BOS, EOS, MAX_LENGTH, Job
from peers.minitx_callback import TickWindow
from peers.runner import Translate, main
from peers.window import Window

ENDLESS = 1_000_000_000
LENGTH_PENALTY = 0.6


def train(job: Job, window: Window) -> None:
    from minitx.launch import main as minitx_train

    facts = job.facts
    TickWindow.window = window
    sizes = ("num_layers", "d_model", "d_ff", "num_heads", "dropout", "max_length")
    minitx_train(
        [
            "experiment=multi30k_tiny",
            *(f"model.{size}={getattr(facts, size)}" for size in sizes),
            f"data.path={facts.corpus}",
            f"data.tokenizer={job.work}/tokenizer.json",
            f"data.batch_tokens={facts.batch_tokens}",
            f"training.max_steps={ENDLESS}",
            f"training.validate_every={ENDLESS}",
            "training.patience=null",
            "trainer=cpu",
            f"trainer.threads={job.threads}",
            "logger=none",
            f"run_directory={job.output}",
            "+callbacks.window._target_=peers.minitx_callback.TickWindow",
            *job.options.get("overrides", []),
        ]
    )


def load(job: Job) -> Translate:
    from minitx.decoding import translate_ids
    from minitx.loading import load_run
    from minitx.training.machine import prepare_process

    prepare_process(job.threads)
    model = load_run(job.facts.run, device="cpu").model

    def translate(sources: list[list[int]], beam_size: int) -> list[list[int]]:
        found = translate_ids(
            model,
            [[*source, EOS] for source in sources],
            bos_id=BOS,
            eos_id=EOS,
            beam_size=beam_size,
            length_penalty=LENGTH_PENALTY,
            max_length=MAX_LENGTH,
            batch_size=BATCH_SENTENCES,
        )
        return [hypotheses[0].ids for hypotheses in found]

    return translate


if __name__ == "__main__":
    main(train, load)
