"""What a value may be: the limits that a type alone does not state, each with the words of its error message."""

import functools
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from minitx.errors import UserError


@dataclass(frozen=True)
class Rule:
    """A limit on one value.

    Attributes:
        wanted: what the value must be, as the end of "it must be …".
        holds: whether a value is that.
        real: whether a whole number stands for a real one, 0 for 0.0.
    """

    wanted: str
    holds: Callable[[Any], bool]
    real: bool = False

    def or_null(self) -> "Rule":
        """The same limit, for a value that may also be left open."""
        return Rule(f"{self.wanted}, or null", lambda value: value is None or self.holds(value), self.real)

    def check(self, key: str, value: Any) -> None:
        """Raise UserError unless the rule holds for `key`'s value."""
        if not self.holds(value):
            raise UserError(f"{key}={_written(value)}: it must be {self.wanted}.")


def whole(at_least: int | None = None, at_most: int | None = None) -> Rule:
    """A whole number within the limits given. True and 1.0 are none: they are more often a slip than meant."""
    limits = [
        *([f"of at least {at_least}"] if at_least is not None else []),
        *([f"at most {at_most}"] if at_most is not None else []),
    ]
    return Rule(
        " ".join(["a whole number", " and ".join(limits)]).strip(),
        lambda value: (
            type(value) is int and (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
        ),
    )


def real(at_least: float | None = None, above: float | None = None, below: float | None = None) -> Rule:
    """A finite number within the limits given."""
    limits = [
        *([f"of at least {at_least:g}"] if at_least is not None else []),
        *([f"above {above:g}"] if above is not None else []),
        *([f"below {below:g}"] if below is not None else []),
    ]
    return Rule(
        " ".join(["a number", " and ".join(limits)]).strip(),
        lambda value: (
            type(value) in (int, float)
            and abs(value) < float("inf")
            and (at_least is None or value >= at_least)
            and (above is None or value > above)
            and (below is None or value < below)
        ),
        real=True,
    )


def one_of(*choices: Any) -> Rule:
    """One of a few values."""
    words = ", ".join(map(str, choices[:-1])) + f" or {choices[-1]}" if choices[1:] else str(choices[0])
    return Rule(words, lambda value: any(type(value) is type(choice) and value == choice for choice in choices))


def either(first: Rule, second: Rule) -> Rule:
    """Whatever either rule allows."""
    return Rule(f"{first.wanted}, or {second.wanted}", lambda value: first.holds(value) or second.holds(value))


TEXT = Rule("text", lambda value: isinstance(value, str))
SOME_TEXT = Rule("text that is not empty", lambda value: isinstance(value, str) and value.strip() != "")
FLAG = Rule("true or false", lambda value: isinstance(value, bool))
TEXTS = Rule("a list of texts", lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value))
MAPPING = Rule("a group of keys", lambda value: isinstance(value, dict))

# Keys of `training`, each of which may end a run.
LIMITS = ("max_steps", "max_epochs", "max_tokens", "max_flops", "max_seconds")
PRECISIONS = ("32-true", "tf32", "bf16-products", "bf16-mixed", "16-mixed", "bf16-true", "16-true", "64-true")

# Below this a number is rounded to 0 in fp16.
SMALLEST_FP16 = 2.0**-25

RULES: Mapping[str, Rule] = {
    "seed": whole(0, 2**63 - 1),
    "name": TEXT.or_null(),
    "group": TEXT.or_null(),
    "tags": TEXTS,
    "run_directory": SOME_TEXT,
    "resume": TEXT.or_null(),
    "model.num_layers": whole(1),
    "model.num_decoder_layers": whole(1).or_null(),
    "model.d_model": whole(2),
    "model.d_ff": whole(1),
    "model.num_heads": whole(1),
    "model.d_k": whole(1).or_null(),
    "model.d_v": whole(1).or_null(),
    "model.dropout": real(at_least=0.0, below=1.0),
    "model.attention_dropout": real(at_least=0.0, below=1.0),
    "model.activation_dropout": real(at_least=0.0, below=1.0),
    "model.norm": one_of("pre", "post"),
    "model.max_length": whole(2),
    "model.initialisation": one_of("variance", "small_query", "xavier"),
    "training.max_steps": whole(1).or_null(),
    "training.max_epochs": whole(1).or_null(),
    "training.max_tokens": real(above=0.0).or_null(),
    "training.max_flops": real(above=0.0).or_null(),
    "training.max_seconds": real(above=0.0).or_null(),
    "training.validate_every": whole(1),
    "training.log_every": whole(1),
    "training.label_smoothing": real(at_least=0.0, below=1.0),
    "training.clip_norm": real(above=0.0).or_null(),
    "training.accumulate_batches": whole(1),
    "training.patience": whole(1).or_null(),
    "training.average_last": whole(1),
    "training.beam_size": whole(1),
    "training.length_penalty": real(at_least=0.0),
    "training.on_non_finite": one_of("stop", "record"),
    "training.loss": one_of("projected", "plain"),
    "callbacks.attention_probe.every": whole(1).or_null(),
    "callbacks.attention_probe.pairs": whole(1),
    "optimizer.betas": Rule(
        "two numbers of at least 0 and below 1",
        lambda value: (
            isinstance(value, list) and len(value) == 2 and all(real(at_least=0.0, below=1.0).holds(x) for x in value)
        ),
    ),
    "optimizer.eps": real(above=0.0),
    "optimizer.weight_decay": real(at_least=0.0),
    "schedule.peak_learning_rate": real(above=0.0).or_null(),
    "schedule.final_learning_rate": real(at_least=0.0),
    "schedule.warmup_steps": whole(0),
    "trainer.accelerator": TEXT,
    "trainer.devices": Rule(
        "a whole number of at least 1, -1, auto, or a list of device numbers",
        lambda value: (
            value == "auto"
            or (type(value) is int and (value >= 1 or value == -1))
            or (isinstance(value, list) and len(value) > 0 and all(type(item) is int and item >= 0 for item in value))
        ),
    ),
    "trainer.num_nodes": whole(1),
    "trainer.strategy": TEXT,
    "trainer.precision": one_of(*PRECISIONS),
    "trainer.threads": whole(1, 1024).or_null(),
    "data.tests": TEXTS.or_null(),
    "data.batch_tokens": whole(1),
    "data.vocab_size": whole(1, 10_000_000),
    "data.max_length": whole(1).or_null(),
    "data.num_workers": whole(0),
    "data.pool_size": whole(1),
    "data.train_limit": whole(1).or_null(),
}


def rule_for(annotation: Any) -> Rule | None:
    """The rule that a parameter's annotation states, or None if it states nothing that a config value could break."""
    simple = {int: whole(), float: real(), str: TEXT, bool: FLAG}
    if annotation in simple:
        return simple[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return one_of(*arguments)
    if origin in (typing.Union, types.UnionType):
        rules = [rule_for(argument) for argument in arguments if argument is not type(None)]
        known = [rule for rule in rules if rule is not None]
        if not known or len(known) < len(rules):
            return None
        rule = functools.reduce(either, known)
        return rule.or_null() if type(None) in arguments else rule
    return None


def check_together(config: Mapping[str, Any]) -> None:
    """Raise UserError where values that are each fine do not go together."""
    model, training, schedule = config["model"], config["training"], config["schedule"]
    d_model, num_heads = model.get("d_model"), model.get("num_heads")
    if type(d_model) is int and type(num_heads) is int:
        if d_model % num_heads and (model.get("d_k") is None or model.get("d_v") is None):
            raise UserError(
                f"model.num_heads={num_heads} does not divide model.d_model={d_model}: choose one that does, "
                "or give model.d_k and model.d_v themselves."
            )
        if d_model % 2:
            raise UserError(
                f"model.d_model={d_model}: it must be even, since positions are pairs of sine and cosine (§3.5)."
            )
    check_half_precision(config)
    if all(training.get(limit) is None for limit in LIMITS):
        raise UserError(
            f"Training would never end: give at least one of {', '.join(f'training.{limit}' for limit in LIMITS)}."
        )
    peak, final = schedule.get("peak_learning_rate"), schedule.get("final_learning_rate")
    if peak is not None and final is not None and final > peak:
        raise UserError(
            f"schedule.final_learning_rate={final} is above schedule.peak_learning_rate={peak}: it must not be."
        )


def check_half_precision(config: Mapping[str, Any]) -> None:
    """Raise UserError where the optimizer's eps is no number in fp16: updates would be divided by zero."""
    eps = config["optimizer"].get("eps")
    if config["trainer"].get("precision") == "16-true" and isinstance(eps, float) and eps < SMALLEST_FP16:
        raise UserError(
            f"optimizer.eps={eps:g} is zero in fp16, which trainer.precision=16-true keeps weights and updates in: "
            "use trainer.precision=16-mixed, or give optimizer.eps=1e-4."
        )


def _written(value: Any) -> str:
    """A value as a user writes it."""
    names = {None: "null", True: "true", False: "false"}
    return names[value] if value is None or isinstance(value, bool) else str(value)
