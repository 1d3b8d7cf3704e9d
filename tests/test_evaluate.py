"""`minitx evaluate`: the figures of training, splits and files, and a record that is never overwritten."""

import json
import math
from unittest.mock import Mock

import pytest
import torch
from lightning.pytorch import Trainer
from sacrebleu.metrics import BLEU

from minitx.data.batch import collate
from minitx.errors import UserError
from minitx.evaluate import main
from minitx.evaluation import cross_entropy, evaluate_split
from minitx.loading import load_run
from minitx.training.run_directory import RunDirectory
from minitx.training.validation import TranslateValidation
from minitx.translate import Translator


@pytest.fixture
def evaluate(capsys):
    """`evaluate(RUN, …)`: the records that `--json` prints."""

    def evaluate(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0
        output = capsys.readouterr()
        assert output.err == ""
        return json.loads(output.out)

    return evaluate


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def half_learn(path):
    """Train the run's model until it knows something of its validation set, and put it in the place of the last."""
    run = load_run(path)
    dataset = run.corpus().split("validation")
    batch = collate([dataset[i] for i in range(len(dataset))])
    optimizer = torch.optim.Adam(run.model.parameters(), lr=2e-2)
    for _ in range(25):
        logits = run.model(batch.source, batch.target_input).transpose(1, 2)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, batch.target_output, ignore_index=0).backward()
        optimizer.step()
    state = {f"model.{name}": weight for name, weight in run.model.state_dict().items()}
    torch.save({"state_dict": state, "step": 60}, run.checkpoint)


def test_e3_validation_bleu_in_training_equals_the_final_bleu(make_run, evaluate):
    path = make_run()
    half_learn(path)
    run = load_run(path)
    one_process = Mock(spec=Trainer, global_rank=0, world_size=1, is_global_zero=True)
    in_training = TranslateValidation(run.corpus(), RunDirectory(path))(one_process, run.model.train())
    [afterwards] = evaluate(path, "split=validation", "--beam-size", 1)
    assert in_training["validation_bleu"] == afterwards["bleu"]
    assert 5 < afterwards["bleu"] <= 100
    kept = path / "translations" / f"{afterwards['name']}.hyp.txt"
    assert lines(path / "translations" / "validation.hyp.txt") == lines(kept)
    assert "tok:13a" in afterwards["bleu_signature"]


def test_e3_the_runs_own_test_equals_the_evaluation(make_run, evaluate):
    path = make_run()
    run = load_run(path)
    test, _ = evaluate_split(
        run.model, run.tokenizer, run.corpus().split("test"), **run.config["training"], batch_tokens=64
    )
    [again] = evaluate(path, "--batch-size", 2)
    assert {name: again[name] for name in test} == test | {"loss": pytest.approx(test["loss"])} | {
        "perplexity": pytest.approx(test["perplexity"])
    }


def test_scores_are_those_of_the_translations_that_are_kept(make_run, evaluate):
    path = make_run()
    [record] = evaluate(path, "split=test_other")
    hypotheses, references, sources = (
        lines(path / "translations" / f"test_other-beam2-lp0.6.{side}.txt") for side in ("hyp", "ref", "src")
    )
    assert hypotheses == Translator.from_run(path).translate(sources)
    assert references == ["Ein Hund läuft über die Straße.", "Zwei Männer lesen ein Buch.", "Die Frau singt."]
    assert record["bleu"] == pytest.approx(BLEU().corpus_score(hypotheses, [references]).score, abs=1e-4)
    assert record["sentences"] == 3
    assert record["sentences_per_second"] > 0
    assert (record["checkpoint"], record["step"], record["split"]) == ("final.ckpt", 7, "test_other")


@torch.no_grad()
def test_loss_is_the_cross_entropy_of_each_target_token(make_run, evaluate):
    path = make_run()
    run = load_run(path)
    total, tokens = 0.0, 0
    for example in run.corpus().split("test"):
        target = torch.tensor(example.target)
        logits = run.model(torch.tensor(example.source)[None], torch.cat([torch.tensor([1]), target[:-1]])[None])
        total -= float(logits[0].log_softmax(dim=-1).gather(1, target[:, None]).sum())
        tokens += len(target)
    assert cross_entropy(run.model, run.corpus().split("test"), 64) == pytest.approx(total / tokens, rel=1e-5)
    [record] = evaluate(path)
    assert record["loss"] == pytest.approx(total / tokens, rel=1e-5)
    assert record["perplexity"] == pytest.approx(math.exp(total / tokens), rel=1e-4)


def test_several_splits_and_other_checkpoints(make_run, evaluate):
    path = make_run()
    records = evaluate(path, "split=validation,test_other", "split=validation", "--beam-size", 3, "--max-length", 9)
    assert [record["split"] for record in records] == ["validation", "test_other"]
    assert [record["name"] for record in records] == ["validation-beam3-lp0.6-max9", "test_other-beam3-lp0.6-max9"]
    (path / "checkpoints" / "best.ckpt").write_bytes((path / "checkpoints" / "final.ckpt").read_bytes())
    [record] = evaluate(path, "--checkpoint", "best", "--length-penalty", 1)
    assert (record["name"], record["checkpoint"]) == ("test-beam2-lp1-best", "best.ckpt")


def test_nothing_is_overwritten(make_run, evaluate):
    path = make_run()
    (path / "translations" / "test.hyp.txt").write_text("of the run's own test\n")
    names = [evaluate(path)[0]["name"] for _ in range(3)]
    assert names == ["test-beam2-lp0.6", "test-beam2-lp0.6-2", "test-beam2-lp0.6-3"]
    for name in names:
        assert json.loads((path / "evaluations" / f"{name}.json").read_text())["split"] == "test"
        assert (path / "translations" / f"{name}.hyp.txt").is_file()
    assert (path / "translations" / "test.hyp.txt").read_text() == "of the run's own test\n"


def test_other_files(make_run, evaluate, tmp_path):
    path, data = make_run(), tmp_path / "data"
    [record] = evaluate(path, "--source", data / "test.en", "--target", data / "test.de")
    [split] = evaluate(path, "split=test")
    assert record["name"].startswith("test-")
    assert {name: record[name] for name in ("bleu", "chrf", "loss")} == {
        name: split[name] for name in ("bleu", "chrf", "loss")
    }


def test_data_that_have_moved(make_run, evaluate, tmp_path):
    path = make_run()
    (tmp_path / "data").rename(tmp_path / "moved")
    with pytest.raises(UserError, match=r"data\.path=.*is not a directory"):
        evaluate(path)
    assert evaluate(path, f"data.path={tmp_path / 'moved'}")[0]["sentences"] == 5


def test_e6_and_d2_and_d10_files_that_do_not_fit_are_refused(make_run, evaluate, tmp_path):
    path = make_run()
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("One.\nTwo.\n")
    target.write_text("Eins.\n")
    with pytest.raises(UserError, match=r"a\.en has 2 lines and .*a\.de has 1"):
        evaluate(path, "--source", source, "--target", target)
    target.write_text("Eins.\n\n")
    with pytest.raises(UserError, match=r"a\.de, line 2 is blank"):
        evaluate(path, "--source", source, "--target", target)
    target.write_text("Eins.\n" + "Zwei " * 99 + "\n")
    with pytest.raises(UserError, match=r"line 2 has \d+ tokens"):
        evaluate(path, "--source", source, "--target", target)
    with pytest.raises(UserError, match=r"Cannot read .*b\.de"):
        evaluate(path, "--source", source, "--target", tmp_path / "b.de")
    assert not (path / "evaluations").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["split=tset"], "There is no split tset; there are train, validation, test, test_other"),
        (["test"], "test is not understood here: write split=NAME"),
        (["splits=test"], "splits=test is not understood"),
        (["split="], "split= is not understood"),
        (["--source", "a.en"], "both --source FILE and --target FILE"),
        (["split=test", "--source", "a", "--target", "b"], "not both"),
        (["--checkpoint", "bset"], "no checkpoint bset; there are final"),
        (["--beam-size", "0"], "beam_size=0"),
    ],
)
def test_mistakes_are_named(make_run, evaluate, words, message):
    with pytest.raises(UserError, match=message):
        evaluate(make_run(), *words)


def test_a_table_shows_every_figure_with_its_signature(make_run, capsys):
    assert main([str(make_run()), "split=test,validation"]) == 0
    printed = capsys.readouterr().out
    for word in ("loss", "perplexity", "BLEU lowercase", "chrF", "sentences/s", "validation", "beam 2"):
        assert word in printed
    assert printed.count("version:") == 3
    assert "…" not in printed
