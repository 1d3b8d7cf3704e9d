"""Characters that seldom belong in a sentence, and traces of a text that was read in the wrong encoding."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field

ODD = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    "\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
"""Control, format, private-use and replacement characters, and blanks other than the blank."""
TRACES = {
    "UTF-8 read as Latin-1 or Windows-1252 (Ã¼, â€™)": re.compile(
        "[ÃÂÄÅÐÑ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€|ï¿½"
    ),
    "HTML entities or tags": re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]{2,8});|</?[a-zA-Z][^<>]{0,40}>"),
}
NAMES = {
    "\t": "TAB",
    "\n": "LINE FEED",
    "\r": "CARRIAGE RETURN",
    "\v": "LINE TABULATION",
    "\f": "FORM FEED",
    "\x85": "NEXT LINE",
}


@dataclass
class Characters:
    """What of this kind a text holds, gathered sentence by sentence.

    Attributes:
        counts: how often each odd character occurs.
        first_lines: the line in which each occurs first.
        traces: sentences with each of `TRACES`.
        not_nfc: sentences that NFC would change.
    """

    counts: Counter[str] = field(default_factory=Counter)
    first_lines: dict[str, int] = field(default_factory=dict)
    traces: Counter[str] = field(default_factory=Counter)
    not_nfc: int = 0

    def add(self, text: str, line: int) -> None:
        """Take a sentence into account."""
        if not (text.isascii() and text.isprintable()):
            for character in ODD.findall(text):
                self.counts[character] += 1
                self.first_lines.setdefault(character, line)
            self.not_nfc += not unicodedata.is_normalized("NFC", text)
        for trace, pattern in TRACES.items():
            if pattern.search(text):
                self.traces[trace] += 1

    def by_code_point(self) -> dict[str, dict[str, int | str]]:
        """The odd characters in the order of their code points: name, count, first line."""
        return {
            f"U+{ord(character):04X}": {
                "name": NAMES.get(character, unicodedata.name(character, unicodedata.category(character))),
                "count": count,
                "first_line": self.first_lines[character],
            }
            for character, count in sorted(self.counts.items())
        }
