"""Write the bundled toy corpus: English-German pairs made by a seeded grammar.

    python scripts/make_toy_corpus.py                 # rewrites data/toy_en_de
    python scripts/make_toy_corpus.py --out /tmp/toy  # somewhere else

The files are plain text, one sentence a line: train.en, train.de, val.en, val.de, test.en, test.de. The same seed gives
the same bytes. Needs nothing but the standard library.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from toy_grammar.corpus import make_corpus

DEFAULT_DIRECTORY = Path(__file__).resolve().parent.parent / "data" / "toy_en_de"
DEFAULT_SEED = 1


def write_corpus(directory: Path, seed: int) -> None:
    """Write the six files of the corpus, making the directory where needed."""
    directory.mkdir(parents=True, exist_ok=True)
    for split, pairs in make_corpus(seed).items():
        for language, side in (("en", 0), ("de", 1)):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            (directory / f"{split}.{language}").write_bytes(text.encode("utf-8"))
        print(f"{split}: {len(pairs)} pairs")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the bundled toy corpus of English-German sentence pairs.")
    parser.add_argument("--out", type=Path, default=DEFAULT_DIRECTORY, help="where to (default: the bundled one)")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="seed of the grammar (default: %(default)s)")
    arguments = parser.parse_args()
    write_corpus(arguments.out, arguments.seed)


if __name__ == "__main__":
    main()
