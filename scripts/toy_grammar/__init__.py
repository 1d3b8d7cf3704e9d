"""The grammar behind the bundled toy corpus: a lexicon, a syntax tree and its realisation in English and in German."""
