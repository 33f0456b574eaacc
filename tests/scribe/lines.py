"""A source without a scanner: lines as they are; those that begin with an asterisk are comments."""

from __future__ import annotations


class Text:
    """The lines of a text; the first is line 1."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    @property
    def lines(self) -> int:
        return len(self._lines)

    def shown(self, line: int, /) -> str:
        return self._lines[line - 1]

    def is_code(self, line: int, /) -> bool:
        return bool(self._lines[line - 1].strip()) and not self._lines[line - 1].startswith("*")
