"""One training run, from a composed configuration to a test score: read it top to bottom."""

import traceback
from functools import partial
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from hydra.utils import get_class, get_object, instantiate
from lightning.pytorch.loggers import Logger
from omegaconf import DictConfig
from rich.console import Console

from minitx.analysis.configuration import variant_label
from minitx.config import config_hash, readable_name, to_plain
from minitx.config.rules import LIMITS
from minitx.data.corpus import Corpus
from minitx.data.tokenizer import PAD_ID
from minitx.errors import UserError
from minitx.evaluation import evaluate_split
from minitx.models.transformer import Transformer, parameter_counts
from minitx.nn.loss import plain_loss, projected_loss
from minitx.nn.low_precision import lower_products
from minitx.training.budget import Budget, planned_steps
from minitx.training.checkpoints import checkpoint_callbacks, mean_weights, newest_checkpoints, save_whole
from minitx.training.dashboards import close_loggers, make_loggers, upload_hint
from minitx.training.datamodule import TranslationData
from minitx.training.flops import flops_per_token
from minitx.training.interruption import Interrupted, StopAtNextStep
from minitx.training.log_file import log_file
from minitx.training.machine import describe_machine, peak_memory_bytes, prepare_process
from minitx.training.module import NonFiniteLoss, TranslationModule
from minitx.training.progress import choose_display
from minitx.training.recorder import Recorder
from minitx.training.run_directory import MetricsFile, RunDirectory
from minitx.training.trainer import PRODUCTS, check_devices, make_trainer, set_product_rounding
from minitx.training.validation import TranslateValidation

LOSSES = {"plain": plain_loss, "projected": projected_loss}


def train(config: DictConfig) -> dict[str, Any]:
    """Train, test and record one run; returns its summary, as in `summary.json`.

    Raises:
        UserError: if data, configuration or machine do not allow the run.
        Interrupted: after a signal; the run directory is usable and says so.
        NonFiniteLoss: if the loss is no number and `training.on_non_finite` is "stop".
    """
    if config.resume is not None:
        raise UserError(f"resume={config.resume}: runs cannot be resumed yet; leave it out to start a run of its own.")
    console = Console(stderr=True)
    check_devices(config.training, config.trainer)
    check_classes(config)
    process = prepare_process(config.trainer.threads)
    corpus: Corpus = instantiate(config.data).prepare()
    module, data = build_module(config, build_model(config, corpus)), build_data(config, corpus)
    run = RunDirectory.create(Path(config.run_directory), f"{readable_name(config)}-{config_hash(config)}")
    with log_file(run.path / "train.log"):
        console.print(f"run directory {run.path}", highlight=False, soft_wrap=True)
        for note in corpus.notes:
            console.print(note, highlight=False, soft_wrap=True)
        corpus.tokenizer.save(run.path / "tokenizer.json")
        return _Run(config, corpus, module, data, run, console, process).carry_out()


def build_model(config: DictConfig, corpus: Corpus) -> Transformer:
    """The model with its first weights, which depend on the seed alone; then the seed of dropout."""
    model: Transformer = instantiate(
        config.model, vocab_size=corpus.tokenizer.vocab_size, pad_id=PAD_ID, seed=config.seed
    )
    if not isinstance(model, Transformer):
        raise UserError(f"model._target_={config.model._target_} makes no minitx.models.transformer.Transformer.")
    torch.manual_seed(config.seed)
    return model


def check_classes(config: DictConfig) -> None:
    """Raise UserError where a logger or a callback is none of Lightning's."""
    for group, base in (("logger", Logger), ("callbacks", pl.Callback)):
        for name, node in config[group].items():
            made = get_object(node["_target_"]) if node is not None else base
            if not isinstance(made, type) or not issubclass(made, base):
                raise UserError(
                    f"{group}.{name}._target_={node['_target_']}: it must be a class below {base.__module__}."
                    f"{base.__qualname__}."
                )


def build_module(config: DictConfig, model: Transformer) -> TranslationModule:
    """What trains the model, step by step."""
    settings, products = config.training, PRODUCTS.get(config.trainer.precision)
    set_product_rounding(config.trainer.precision)
    if products is not None:
        lower_products(model, products)
    return TranslationModule(
        model,
        optimizer=instantiate(config.optimizer),
        schedule=instantiate(config.schedule),
        loss=LOSSES[settings.loss],
        label_smoothing=settings.label_smoothing,
        clip_norm=settings.clip_norm,
        accumulate_batches=settings.accumulate_batches,
        products=products,
    )


def build_data(config: DictConfig, corpus: Corpus) -> TranslationData:
    """The batches, in an order that depends on the seed alone."""
    batching = corpus.batching
    data = TranslationData(
        corpus.train,
        corpus.validation,
        batching.batch_tokens,
        seed=config.seed,
        num_workers=batching.num_workers,
        pool_size=batching.pool_size,
    )
    for loader in (data.train_dataloader, data.val_dataloader):
        loader()  # refuses batches too small for the longest sentence
    return data


class _Run:
    """The parts of one run and the order in which they act."""

    def __init__(
        self,
        config: DictConfig,
        corpus: Corpus,
        module: TranslationModule,
        data: TranslationData,
        run: RunDirectory,
        console: Console,
        process: dict[str, Any],
    ) -> None:
        self.config, self.corpus, self.run, self.console = config, corpus, run, console
        self.module, self.data, self.model = module, data, module.model
        self.flops_per_token = flops_per_token(self.module, self.data)
        self.limits = {name: config.training[name] for name in LIMITS}
        self.recorder = Recorder(
            MetricsFile(run.path / "metrics.csv"),
            choose_display(console, self._planned_steps()),
            config.training.log_every,
            translate=TranslateValidation(corpus, run),
        )
        self.budget = Budget(self.recorder, self.limits, self.flops_per_token)
        self.loggers = self._loggers()
        self.trainer = make_trainer(config.training, config.trainer, self.loggers, self._callbacks())
        self._describe(process)

    def _planned_steps(self) -> int | None:
        """About how many steps there will be; None where only the clock will tell."""
        train, batches = self.corpus.train, len(self.data.train_dataloader())
        tokens = int(train.source_lengths.sum() + train.target_lengths.sum())
        steps = batches / self.config.training.accumulate_batches
        return planned_steps(self.limits, steps, tokens, self.flops_per_token)

    def carry_out(self) -> dict[str, Any]:
        """Fit, then test; whatever happens, `run.json` says how it ended."""
        status, exit_code = "failed", 1
        try:
            self.trainer.fit(self.module, datamodule=self.data)
            summary = self._finish()
            status, exit_code = "finished", 0
            return summary
        except NonFiniteLoss as divergence:
            return self._diverged(divergence)
        except (Interrupted, KeyboardInterrupt):
            status = "interrupted"
            raise
        except BaseException as error:
            file = self.run.path / "traceback.txt"
            file.write_text(traceback.format_exc(), encoding="utf-8")
            error.add_note(f"traceback in {file}")
            raise
        finally:
            if self.run.read_json("run.json")["status"] == "running":
                self.run.update_json("run.json", status=status)
            close_loggers(self.loggers, exit_code)
            if hint := upload_hint(self.run.path):
                self.console.print(hint, highlight=False, soft_wrap=True)

    def _finish(self) -> dict[str, Any]:
        """Average the last checkpoints, test, and write what came out."""
        directory, settings = self.run.checkpoints, self.config.training
        kept = newest_checkpoints(directory, settings.average_last)
        weights = mean_weights(kept)
        step = self.recorder.totals["step"]
        save_whole(
            {"state_dict": weights, "step": step, "averaged": [path.name for path in kept]}, directory / "final.ckpt"
        )
        self.model.load_state_dict(weights)
        self.model.to(self.trainer.strategy.root_device).eval()
        tests = {name: self._test(name) for name in self.corpus.tests}
        summary = self._summary() | {"ended_by": self.budget.ended_by, "averaged": len(kept), "test": tests}
        self.run.write_json("summary.json", summary)
        return summary

    def _test(self, name: str) -> dict[str, Any]:
        settings = self.config.training
        scores, translations = evaluate_split(
            self.model,
            self.corpus.tokenizer,
            self.corpus.tests[name],
            batch_tokens=self.corpus.batching.batch_tokens,
            beam_size=settings.beam_size,
            length_penalty=settings.length_penalty,
        )
        self.run.write_translations(name, **translations)
        self.console.print(
            f"{name}: BLEU {scores['bleu']:.2f}  chrF {scores['chrf']:.2f}  loss {scores['loss']:.3f}  "
            f"({scores['bleu_signature']})",
            highlight=False,
            soft_wrap=True,
        )
        return scores

    def _summary(self) -> dict[str, Any]:
        totals = self.recorder.totals
        return {
            "steps": totals["step"],
            "tokens": totals["tokens"],
            "target_tokens": totals["target_tokens"],
            "seconds": totals["seconds"],
            "training_seconds": totals["training_seconds"],
            "tokens_per_second": totals["tokens"] / max(totals["training_seconds"], 1e-9),
            "flops": self.flops_per_token * totals["tokens"],
            "peak_memory_bytes": peak_memory_bytes(self.trainer.strategy.root_device),
            "final": self.recorder.last,
            "best": self.recorder.best,
        }

    def _diverged(self, divergence: NonFiniteLoss) -> dict[str, Any]:
        """A loss that is no number is a fault ("stop") or a result ("record")."""
        where = divergence.as_plain_data()
        record = self.config.training.on_non_finite == "record"
        self.run.update_json("run.json", status="diverged" if record else "failed", non_finite_loss=where)
        summary = self._summary() | {"diverged_at_step": divergence.step}
        self.run.write_json("summary.json", summary)
        if record:
            self.console.print(f"{divergence} The run ends as diverged.", highlight=False)
            return summary
        raise UserError(
            f"{divergence} It was that of training pairs {divergence.batch_ids[:8]}…, see "
            f"{self.run.path / 'run.json'}: lower schedule.peak_learning_rate, "
            "or set training.on_non_finite=record to keep divergence as a result."
        ) from divergence

    def _callbacks(self) -> list[pl.Callback]:
        directory, settings = self.run.checkpoints, self.config.training
        checkpoints = checkpoint_callbacks(directory, max(1, settings.average_last))
        callbacks: list[pl.Callback] = [self.recorder, self.budget, *checkpoints]
        if settings.patience is not None:
            callbacks.append(pl.callbacks.EarlyStopping("validation_loss", patience=settings.patience))
        callbacks += [instantiate(node) for node in self.config.callbacks.values() if node is not None]
        return [*callbacks, StopAtNextStep(directory / "last.ckpt")]  # last, so that others have seen the step

    def _loggers(self) -> list[Any]:
        config = self.config
        factories = {
            name: partial(
                get_class(node["_target_"]), **{key: value for key, value in node.items() if key != "_target_"}
            )
            for name, node in config.logger.items()
            if node is not None
        }
        labels = {"name": self.run.path.name, "group": config.group, "tags": list(config.tags)}
        plain = to_plain(config)  # and what a dashboard groups runs by, under short names
        short = {"variant": variant_label(plain), "d_k": self.model.encoder[0].self_attention.d_k}
        return make_loggers(factories, self.run.path, labels, plain | short)

    def _describe(self, process: dict[str, Any]) -> None:
        """Write `run.json`."""
        machine = describe_machine(self.trainer.strategy.root_device)
        self.console.print(
            f"device {machine['device_name']} ({self.config.trainer.precision}, {process['threads']} threads), "
            f"{parameter_counts(self.model)['total']:,} parameters",
            highlight=False,
            soft_wrap=True,
        )
        self.run.write_json(
            "run.json",
            {
                "status": "running",
                "config": to_plain(self.config),
                "config_hash": config_hash(self.config),
                "seed": self.config.seed,
                "name": self.run.path.name,
                "group": self.config.group,
                "tags": list(self.config.tags),
                "precision": self.config.trainer.precision,
                "parameters": parameter_counts(self.model),
                "flops_per_token": self.flops_per_token,
                "data_fingerprint": self.corpus.fingerprint,
                **process,
                **machine,
            },
        )
