"""Where does one record of JSON end? The elements of the outermost array or object, found without parsing (G-5).

Law: the pieces between the places found, put together, are the text; each but the last ends with the comma behind its
element. Leaves to others: where the text comes from, and whether it is valid JSON: of what is not, some places are
found or none.
"""

from __future__ import annotations

import re

_OUTSIDE = re.compile(r'["\[\]{},]')
# Commas below the outermost level part nothing, so they are not even looked for there.
_DEEPER = re.compile(r'["\[\]{}]')
_STRING = re.compile(r'["\\]')


def is_one_line(first: str, lines: int) -> bool:
    """Return whether a text of so many lines that begins with `first` can be JSON on one line."""
    return lines == 1 and first.lstrip()[:1] in {"[", "{"}


class JsonRecordScanner:
    """Finds the ends of records in a text that comes in parts; a part may end anywhere, within an escape too."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, part: str) -> list[int]:
        """Return the places in the next part, counted from its start, that stand behind a comma of the outermost level."""
        ends: list[int] = []
        # The last part ended with a backslash in a string: the first character here is escaped, whatever it is.
        at = 1 if self._escaped and part else 0
        if part:
            self._escaped = False
        while True:
            # Three patterns, each for what may end the present state: everything else is skipped at the speed of `re`.
            pattern = _STRING if self._in_string else _OUTSIDE if self._depth == 1 else _DEEPER
            match = pattern.search(part, at)
            if match is None:
                return ends
            mark, at = match.group(), match.end()
            if self._in_string:
                if mark == '"':
                    self._in_string = False
                elif at == len(part):
                    self._escaped = True
                else:
                    at += 1
            elif mark == '"':
                self._in_string = True
            elif mark == ",":
                ends.append(at)
            else:
                self._depth += 1 if mark in "[{" else -1
