"""`minitx translate` and `Translator`: lines in, lines out, and what is refused."""

import gzip
import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from minitx import translate
from minitx.errors import UserError
from minitx.translate import Translator, main

ROOT = Path(__file__).resolve().parent.parent
SENTENCES = ["A dog runs across the street.", "The woman sings.", "Two men are reading a book."]
LONG = "A dog runs across the street and three dogs sleep under a tree in the green garden of a small child"


@pytest.fixture
def run_main(capsysbinary, monkeypatch):
    """`run_main(text, *arguments)`: the bytes on standard output for these on standard input."""

    def run(text, *arguments):
        stdin = io.TextIOWrapper(io.BytesIO(text if isinstance(text, bytes) else text.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main([str(argument) for argument in arguments]) == 0
        output = capsysbinary.readouterr()
        assert output.err == b""
        return output.out

    return run


def test_e4_as_many_lines_out_as_in(make_run, run_main):
    run = make_run()
    text = b"A dog.\r\n\r\n\n \t \nThe woman\xc2\x85 sings.\x0c\nTwo\xe2\x80\xa8men.\nThree dogs"
    lines = run_main(text, run).split(b"\n")
    assert lines.pop() == b""
    assert [line == b"" for line in lines] == [False, True, True, True, False, False, False]
    assert b"\r" not in b"".join(lines)
    assert run_main(b"\xef\xbb\xbf" + text.replace(b"\r\n", b"\n"), run).split(b"\n")[:-1] == lines
    assert run_main(b"", run) == b""
    assert run_main(b"\n", run) == b"\n"


def test_e4_line_breaks_that_a_model_spells_break_no_line(make_run, run_main, monkeypatch):
    run = make_run()
    from minitx.data.tokenizer import Tokenizer

    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: "a\nb\r\nc\u2028d\x85e")
    assert run_main("One.\nTwo.\n", run) == b"a b c d e\n" * 2


def test_e5_file_standard_input_and_python_agree(make_run, run_main, tmp_path):
    run = make_run()
    text = "".join(f"{line}\n" for line in SENTENCES)
    plain, zipped, output = tmp_path / "in.txt", tmp_path / "in.txt.gz", tmp_path / "out.txt"
    plain.write_text(text)
    zipped.write_bytes(gzip.compress(text.encode()))
    expected = run_main(text, run)
    assert expected.decode().splitlines() == Translator.from_run(run).translate(SENTENCES)
    assert [Translator.from_run(run).translate([line])[0] for line in SENTENCES] == expected.decode().splitlines()
    assert run_main("", run, plain) == run_main("", run, zipped) == run_main(text, run, "-") == expected
    assert run_main("", run, "--batch-size", 2, plain, "--output", output) == b""
    assert output.read_bytes() == expected


def test_text_is_normalised_as_in_training(make_run):
    translator = Translator.from_run(make_run())
    assert len(set(translator.translate(["für", "fu\u0308r", "  für \r\n"]))) == 1


def test_chunks_do_not_show(make_run, run_main, monkeypatch):
    run = make_run()
    text = "".join(f"{line}\n" for line in [*SENTENCES, "", *SENTENCES])
    whole = run_main(text, run)
    monkeypatch.setattr(translate, "CHUNK", 2)
    assert run_main(text, run) == whole


def test_search_is_that_of_the_runs_test_unless_given(make_run):
    run = make_run()
    assert Translator.from_run(run).search == {"beam_size": 2, "length_penalty": 0.6}
    given = Translator.from_run(run, beam_size=3, length_penalty=0.0, max_length=5, n_best=None)
    assert given.search == {"beam_size": 3, "length_penalty": 0.0, "max_length": 5}
    [[best]] = given.hypotheses(SENTENCES[:1])
    assert best.score == best.log_probability


def test_n_best_gives_so_many_lines_for_each(make_run, run_main):
    run = make_run()
    lines = run_main("A dog.\n\n", run, "--n-best", 3, "--beam-size", 3, "--scores").decode().split("\n")
    assert len(lines) == 7
    scores = [float(line.split("\t")[0]) for line in lines[:3]]
    assert scores == sorted(scores, reverse=True)
    assert lines[3:] == ["\t", "\t", "\t", ""]
    texts = run_main("A dog.\n", run, "--n-best", 3, "--beam-size", 3).decode().split("\n")
    assert texts[:3] == [line.split("\t")[1] for line in lines[:3]]


def test_d10_a_line_that_is_too_long_is_refused_by_its_number(make_run, run_main, tmp_path, monkeypatch):
    run = make_run(max_length=20)
    text = f"{SENTENCES[1]}\n\n{LONG}.\n"
    with pytest.raises(UserError, match=r"standard input, line 3 has \d+ tokens, more than the 20 .*--split-long"):
        run_main(text, run)
    monkeypatch.setattr(translate, "CHUNK", 2)
    file, output = tmp_path / "{in}.txt", tmp_path / "out.txt"
    file.write_text(text)
    with pytest.raises(UserError, match=r"\{in\}\.txt, line 3 has"):
        run_main("", run, file, "--output", output)
    assert not output.exists()  # a file is looked through before any work is done
    with pytest.raises(UserError, match="text 2 has"):
        Translator.from_run(run).translate(["A dog.", LONG])


def test_d10_split_long_translates_sentence_by_sentence(make_run, run_main):
    run = make_run(max_length=24)
    parts = ["A dog runs.", 'He said: "The woman sings."', "Two men!"]
    apart = run_main("".join(f"{part}\n" for part in parts), run).decode().splitlines()
    assert run_main(" ".join(parts) + "\n", run, "--split-long").decode() == " ".join(apart) + "\n"
    translator = Translator.from_run(run, split_long=True, n_best=2)
    [ranks] = translator.hypotheses([" ".join(parts)])
    for rank, joined in enumerate(ranks):
        pieces = [found[rank] for found in translator.hypotheses(parts)]
        assert joined.text == " ".join(piece.text for piece in pieces)
        assert joined.log_probability == pytest.approx(sum(piece.log_probability for piece in pieces), abs=1e-4)
    with pytest.raises(UserError, match="standard input, line 1 has a sentence of"):
        run_main(f"{LONG}.\n", run, "--split-long")


def test_a_sentence_that_just_fits_is_translated_whole(make_run):
    translator = Translator.from_run(make_run())
    [[ids]] = translator.pieces([SENTENCES[0]])
    for most, fits in ((len(ids), True), (len(ids) - 1, False)):
        translator.run.model.embedding.positions = translator.run.model.embedding.positions[:most]
        if fits:
            assert len(translator.translate([SENTENCES[0]])) == 1
        else:
            with pytest.raises(UserError, match=f"has {len(ids)} tokens, more than the {most}"):
                translator.translate([SENTENCES[0]])


def test_invalid_utf_8_is_refused_with_line_and_offset(make_run, run_main):
    with pytest.raises(UserError, match="standard input, line 2, byte offset 7"):
        run_main(b"A dog.\n\xe9\n", make_run())


def test_a_missing_input_and_a_place_that_cannot_be_written(make_run, run_main, tmp_path):
    run = make_run()
    with pytest.raises(UserError, match=r"Cannot read .*nothing\.txt"):
        run_main("", run, tmp_path / "nothing.txt")
    with pytest.raises(UserError, match=r"Cannot write .*out\.txt"):
        run_main("", run, "--output", tmp_path / "no" / "out.txt")
    (tmp_path / "in.txt").write_text("A dog.\n")
    with pytest.raises(UserError, match="cannot be both"):
        run_main("", run, tmp_path / "in.txt", "--output", tmp_path / "in.txt")
    assert (tmp_path / "in.txt").read_text() == "A dog.\n"


def test_attention_draws_the_only_sentence(make_run, run_main, tmp_path):
    run = make_run()
    file = tmp_path / "dog.png"
    assert run_main("\nA dog runs.\n", run, "--attention", file).count(b"\n") == 2
    assert file.read_bytes().startswith(b"\x89PNG")
    for text, count in (("", "none"), ("One.\nTwo.\n", "several")):
        with pytest.raises(UserError, match=f"the input has {count}"):
            run_main(text, run, "--attention", file)
    with pytest.raises(UserError, match=r"\.png or \.svg"):
        run_main("A dog.\n", run, "--attention", tmp_path / "dog.pdf")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_prompt_translates_sentence_by_sentence(make_run):
    """A terminal on standard input; standard output is a pipe and gets nothing but translations."""
    run = make_run(max_length=20)
    terminal, theirs = pty.openpty()
    os.write(terminal, f"A dog.\n\n{LONG}\nThe woman sings.\n\x04".encode())
    command = [sys.executable, "-m", "minitx.cli", "translate", str(run)]
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, cwd=ROOT, timeout=120, check=True)
    expected = Translator.from_run(run).translate(["A dog.", "", "The woman sings."])
    assert done.stdout == "".join(f"{line}\n" for line in expected)
    assert done.stderr.count("> ") == 5
    assert "This line has" in done.stderr
    assert "Traceback" not in done.stderr
