"""Where are the landmarks? Names with line ranges of a source in any language.

Keeps out files, budgets and sentences: bytes in, an `Outline` out. Two makers answer: tree-sitter, for exact
ranges where its grammar is installed (`penstock[languages]`) and the source is at most `EXACT_BYTES`;
otherwise a line scanner that reads a stream of any length in memory that grows with the landmarks alone.
`Outline.method` says which of them it was.

Laws: any bytes have an outline, without an exception and in linear time; 1 <= start <= end <= total_lines;
symbols stand in line order and nest; `scan` gives the same for any chunking of the same bytes. Lines end at
`\\n` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .languages import language_of
from .symbols import MAX_SYMBOLS, Outline, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from .symbols import Collector

    class _LanguageScanner(Protocol):
        @property
        def found(self) -> Collector: ...
        @property
        def line(self) -> int: ...
        def feed(self, block: bytes) -> None: ...
        def close(self) -> None: ...


__all__ = ["EXACT_BYTES", "MAX_SYMBOLS", "Outline", "Scanner", "Symbol", "language_of", "outline", "scan"]

# libraries.md 4: parsing costs 51 times the source in memory and 0.14 s of CPU for a megabyte
EXACT_BYTES = 1 << 20


def outline(data: bytes, language: str, *, exact: bool = True) -> Outline:
    """The landmarks of `data`; `exact=False` leaves tree-sitter out of it."""
    if exact and len(data) <= EXACT_BYTES:
        from .grammar import parse

        parsed = parse(data, language)
        if parsed is not None:
            return parsed
    return scan((data,), language)


def scan(chunks: Iterable[bytes], language: str) -> Outline:
    """The landmarks of a stream of consecutive chunks, cut anywhere."""
    scanner = Scanner(language)
    for chunk in chunks:
        scanner.feed(chunk)
    return scanner.outline()


class Scanner:
    """A stream that is being scanned: `feed` chunks, then ask for the `outline` once."""

    def __init__(self, language: str) -> None:
        from .blocks import Blocks

        self._language = language
        self._scanner, self._method = _scanner(language)
        self._blocks = Blocks(whole_lines=language != "json")

    def feed(self, chunk: bytes) -> None:
        """Scan what is complete once `chunk` is known."""
        for block in self._blocks.feed(chunk):
            self._scanner.feed(block)

    def outline(self) -> Outline:
        """Scan what is left and hand over the landmarks."""
        for block in self._blocks.close():
            self._scanner.feed(block)
        self._scanner.close()
        found = self._scanner.found
        total = self._scanner.line - (not self._blocks.ends_in_line)  # one newline was put in front
        return Outline(found.symbols(total), self._language, self._method, total, found.complete)


def _scanner(language: str) -> tuple[_LanguageScanner, str]:
    if language == "python":
        from .python import PythonScanner

        return PythonScanner(), "line scanner"
    from .braces import RULES, BraceScanner

    if language in RULES:
        return BraceScanner(language), "line scanner"
    if language in {"ruby", "shell"}:
        from .scripts import ScriptScanner

        return ScriptScanner(language), "line scanner"
    if language == "sql":
        from .scripts import SqlScanner

        return SqlScanner(), "line scanner"
    if language == "cobol":
        from .cobol import CobolScanner

        return CobolScanner(), "cobol scanner"
    if language in {"markdown", "json", "yaml", "toml", "ini"}:
        from .markup import scanner

        return scanner(language), "line scanner"
    from .plain import PlainTextScanner

    return PlainTextScanner(), "plain text"
