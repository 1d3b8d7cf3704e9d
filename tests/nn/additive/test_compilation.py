"""Compiling the kernel: once, for this processor, and what happens where it cannot be done."""

import shutil
import stat

import pytest
import torch

from minitx.nn.additive import chunked, compilation, native
from minitx.nn.additive.score import form

needs_compiler = pytest.mark.skipif(compilation._compiler() is None, reason="no C++ compiler")


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A process that has not loaded the kernel yet, with a cache of its own."""
    monkeypatch.setenv("MINITX_CACHE", str(tmp_path / "cache"))
    compilation.library.cache_clear()
    yield tmp_path
    compilation.library.cache_clear()


@needs_compiler
def test_the_first_use_compiles_and_says_so_and_the_second_finds_it(fresh, capsys):
    assert native.available()
    assert "Compiling" in capsys.readouterr().err
    made = list((fresh / "cache/kernels").glob("*.so"))
    assert len(made) == 1
    compilation.library.cache_clear()
    assert native.available()
    assert capsys.readouterr().err == ""
    assert list((fresh / "cache/kernels").glob("*.so")) == made


def test_without_a_compiler_the_slower_form_runs_and_one_line_says_so(fresh, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(fresh))
    monkeypatch.delenv("CXX", raising=False)
    assert form(torch.zeros(1)) is chunked
    assert form(torch.zeros(1)) is chunked
    assert capsys.readouterr().err.count("no C++ compiler was found") == 1


def test_a_compiler_that_fails_is_no_reason_to_stop(fresh, capsys, monkeypatch):
    broken = fresh / "broken"
    broken.write_text("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho 'no such standard library' >&2\nexit 1\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CXX", str(broken))
    assert form(torch.zeros(1)) is chunked
    assert "no such standard library" in capsys.readouterr().err
    assert not list((fresh / "cache/kernels").glob("*.so"))


@needs_compiler
def test_a_compiler_without_some_flags_is_asked_with_fewer(fresh, monkeypatch):
    real = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    picky = fresh / "picky"
    picky.write_text(
        f'#!/bin/sh\nfor flag; do case $flag in -march=*|-mcpu=*|-fopenmp) exit 1;; esac; done\nexec {real} "$@"\n'
    )
    picky.chmod(picky.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CXX", str(picky))
    assert form(torch.zeros(1)) is native
    query, key, v = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 5, 4), torch.randn(2, 4)
    torch.testing.assert_close(native.score(query, key, v), chunked.score(query, key, v))


def test_another_processor_gets_a_kernel_of_its_own(monkeypatch):
    here = compilation._key("c++", "12")
    monkeypatch.setattr(compilation, "_processor", lambda: "another")
    assert compilation._key("c++", "12") != here
    assert compilation._key("c++", "13") != compilation._key("c++", "12")


def test_an_unwritable_cache_is_no_reason_to_stop(fresh, capsys, monkeypatch):
    (fresh / "file").write_text("")
    monkeypatch.setenv("MINITX_CACHE", str(fresh / "file"))
    assert form(torch.zeros(1)) is chunked
    assert "slower form" in capsys.readouterr().err
