"""Run directories as models: what is loaded, where it is looked for, and what a user reads if it is not there."""

import json
import os
import pickle

import pytest
import torch
from omegaconf import OmegaConf

from minitx.config import compose
from minitx.errors import UserError
from minitx.loading import choose_device, find_checkpoint, load_run, read_config, read_weights
from minitx.resources import configs_directory, toy_corpus_directory

VARIANTS = ["ScaledDotProduct", "UnscaledDotProduct", "InverseDk", "Bilinear", "Cosine", "Additive"]


def refusal(*arguments, **options):
    with pytest.raises(UserError) as caught:
        load_run(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_comes_back_with_its_weights(make_run, variant):
    path = make_run(variant)
    file = path / "checkpoints" / "final.ckpt"
    stored = torch.load(file, weights_only=True)["state_dict"]
    stored["model.embedding.weight"] += 1.0  # so that fresh weights cannot pass for loaded ones
    torch.save({"state_dict": stored, "step": 9}, file)
    run = load_run(path)
    assert type(run.model.decoder[0].cross_attention.compatibility).__name__ == variant
    assert {f"model.{name}" for name in run.model.state_dict()} == set(stored)
    assert all(torch.equal(weight, stored[f"model.{name}"]) for name, weight in run.model.state_dict().items())
    assert not run.model.training
    assert (run.path, run.checkpoint, run.step) == (path, file, 9)
    assert run.config["training"]["beam_size"] == 2
    assert run.model.vocab_size == run.tokenizer.vocab_size


def test_the_corpus_has_the_runs_own_tokenizer_and_may_have_moved(make_run, tmp_path):
    run = load_run(make_run())
    assert run.corpus().tokenizer.fingerprint == run.tokenizer.fingerprint
    assert len(run.corpus().split("test_other")) == 3
    (tmp_path / "data").rename(tmp_path / "moved")
    with pytest.raises(UserError, match=r"data\.path=.*not a directory"):
        run.corpus().split("test")
    assert len(run.corpus(tmp_path / "moved").split("test")) == 5


def record(path, config):
    """Write the configuration into the record of a run, as training does."""
    (path / "run.json").write_text(json.dumps({"config": config}), encoding="utf-8")


@pytest.mark.parametrize("option", sorted(file.stem for file in (configs_directory() / "data").glob("*.yaml")))
def test_what_training_takes_as_data_is_taken_from_its_record(tmp_path, option):
    needed = {
        "hub": ["data.name=owner/corpus"],
        "multi30k": ["data.path=corpus"],
        "jsonl": ["data.path=corpus"],
        "text_files": ["data.path=corpus"],
        "tsv": ["data.path=corpus"],
    }
    languages = ["data.source_language=en", "data.target_language=de"]
    config = OmegaConf.to_container(compose([f"data={option}", *languages, *needed.get(option, [])]), resolve=True)
    record(tmp_path, config)
    assert read_config(tmp_path)["data"] == config["data"]


def test_a_run_of_the_bundled_corpus_finds_it_again(make_run):
    path = make_run()
    config = read_config(path)
    bundled = {"path": {"_target_": "minitx.resources.toy_corpus_directory"}, "max_length": None}
    record(path, config | {"data": config["data"] | bundled})
    lines = (toy_corpus_directory() / "test.en").read_text(encoding="utf-8").splitlines()
    assert load_run(path).corpus().split("test").sources() == lines
    for wrong in ({}, {"_target_": "minitx.nowhere"}, 3, ["corpus"]):
        record(path, config | {"data": config["data"] | {"path": wrong}})
        assert "data.path" in refusal(path)


def test_checkpoints_are_looked_for_in_order(make_run):
    path = make_run()
    directory = path / "checkpoints"
    for number, name in enumerate(["step=00000100", "step=00000200", "last", "best", "best-v1"]):
        (directory / f"{name}.ckpt").write_bytes(b"")
        os.utime(directory / f"{name}.ckpt", (1000 - number, 1000 - number))
    os.utime(directory / "best-v1.ckpt", (2000, 2000))
    for name in ("final", "best-v1", "best", "last", "step=00000200", "step=00000100"):
        assert find_checkpoint(path).stem == name
        assert find_checkpoint(path, name).stem == name
        assert find_checkpoint(path, f"{name}.ckpt").stem == name
        (directory / f"{name}.ckpt").unlink()
    with pytest.raises(UserError, match="no checkpoint yet"):
        find_checkpoint(path)


def test_an_unknown_checkpoint_is_refused_with_those_there_are(make_run):
    assert "there are final" in refusal(make_run(), checkpoint="bets")


def test_a_lightning_checkpoint_gives_its_models_weights(make_run):
    file = make_run() / "checkpoints" / "last.ckpt"
    torch.save({"state_dict": {"model.a": torch.ones(2)}, "global_step": 12, "optimizer_states": [{}]}, file)
    weights, step = read_weights(file)
    assert list(weights) == ["a"]
    assert step == 12


def test_a_missing_directory_and_one_that_is_no_run(make_run, tmp_path):
    assert f"no run directory {tmp_path / 'nowhere'}" in refusal(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "is not a run directory (no run.json)" in refusal(tmp_path / "empty")
    make_run(name="mine")
    assert "holds the runs mine" in refusal(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"config": {}}', '{"config": {"model": 3, "data": {}}}', "\xff"]
)
def test_a_damaged_record(make_run, text):
    path = make_run()
    (path / "run.json").write_bytes(text.encode("latin-1"))
    assert "run.json is damaged" in refusal(path)


def test_a_missing_or_foreign_tokenizer(make_run):
    path = make_run()
    (path / "tokenizer.json").write_text("{}")
    assert "tokenizer.json is not a tokenizer" in refusal(path)
    (path / "tokenizer.json").unlink()
    assert "Cannot read the tokenizer" in refusal(path)


@pytest.mark.parametrize("kept", [0, 1, 100, 2000, -100, -1])
def test_r7_a_truncated_checkpoint(make_run, kept):
    path = make_run()
    file = path / "checkpoints" / "final.ckpt"
    whole = file.read_bytes()
    file.write_bytes(whole[:kept])
    assert str(file) in refusal(path)
    assert file.read_bytes() == whole[:kept]


@pytest.mark.parametrize(
    "content", [{"weights": 1}, [1, 2], {"state_dict": {}}, {"state_dict": {"model.a": 1}}, torch.ones(3)], ids=str
)
def test_r7_a_foreign_checkpoint(make_run, content):
    path = make_run()
    torch.save(content, path / "checkpoints" / "final.ckpt")
    assert "is no checkpoint of minitx" in refusal(path)


class Bomb:
    """Pickled, it makes a file when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def write_pickle(content, file):
    file.write_bytes(pickle.dumps(content, protocol=2))


@pytest.mark.parametrize("save", [torch.save, write_pickle])
def test_a_checkpoint_with_code_in_it_is_not_opened(make_run, tmp_path, save):
    path = make_run()
    save({"state_dict": Bomb(tmp_path / "exploded")}, path / "checkpoints" / "final.ckpt")
    assert "is no checkpoint of minitx" in refusal(path)
    assert not (tmp_path / "exploded").exists()


def test_weights_of_another_model(make_run):
    path, other = make_run(), make_run(name="other", d_model=32)
    (other / "checkpoints" / "final.ckpt").replace(path / "checkpoints" / "final.ckpt")
    assert "does not fit the model" in refusal(path)


def test_a_variant_that_is_not_installed_is_named(make_run):
    path = make_run()
    record = json.loads((path / "run.json").read_text())
    record["config"]["model"]["cross_attention"]["_target_"] = "somebodys_package.Distance"
    (path / "run.json").write_text(json.dumps(record))
    message = refusal(path)
    assert "model.cross_attention._target_=somebodys_package.Distance" in message
    assert "no module somebodys_package" in message


def test_a_configuration_of_another_version(make_run):
    path = make_run()
    record = json.loads((path / "run.json").read_text())
    record["config"]["model"]["number_of_heads"] = 3
    (path / "run.json").write_text(json.dumps(record))
    assert "cannot be built" in refusal(path)


def test_devices():
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device().type == ("cuda" if torch.cuda.is_available() else "cpu")
    for name in ("gpu", "cuda:99", "meta-device"):
        with pytest.raises(UserError, match=f"no device {name}"):
            choose_device(name)
