r"""Which landmarks does a source in any language have? Names with line ranges, nested (B-11).

Bytes in, an `Outline` out; leaves to others: files, budgets and sentences. Two makers answer: tree-sitter, for exact
ranges if its grammar is installed (`penstock[languages]`) and the source is at most `EXACT_BYTES`; otherwise a line
scanner, which reads a stream of any length in memory that grows only with the landmarks. `Outline.method` says which of
them it was.

Laws: any bytes have an outline, without an exception and in linear time; 1 <= start <= end <= total_lines; symbols are
in line order and nest; `scan` gives the same for any chunking of the same bytes. Lines end at `\n` only.
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
        """What each scanner offers: landmarks in `found`, and in `line` the number of newlines seen so far."""

        @property
        def found(self) -> Collector: ...
        @property
        def line(self) -> int: ...
        def feed(self, block: bytes) -> None: ...
        def close(self) -> None: ...


__all__ = ["EXACT_BYTES", "MAX_SYMBOLS", "Outline", "Scanner", "Symbol", "language_of", "outline", "scan"]

# Parsing costs 51 times the source in memory and 0.14 s of processor time for a megabyte; a scanner costs neither.
EXACT_BYTES = 1 << 20
"""The longest source, in bytes, that is parsed with its grammar; longer ones are scanned."""


def outline(data: bytes, language: str, *, exact: bool = True) -> Outline:
    r"""Return the landmarks of a source.

    Args:
        data: The source as it is; it need not be valid in its language or encoding.
        language: Its language as named by `language_of`; an unknown one is plain text, whose blocks are its landmarks.
        exact: Whether tree-sitter may answer, if it can.

    Example:
        >>> found = outline(b"class A:\n    def f(self):\n        pass\n", "python", exact=False)
        >>> [(symbol.name, symbol.start_line, symbol.end_line, symbol.depth) for symbol in found.symbols]
        [('class A', 1, 3, 0), ('def f(self)', 2, 3, 1)]
    """
    if exact and len(data) <= EXACT_BYTES:
        from .grammar import parse

        parsed = parse(data, language)
        if parsed is not None:
            return parsed
    return scan((data,), language)


def scan(chunks: Iterable[bytes], language: str) -> Outline:
    """Return the landmarks of a stream, by the line scanner of its language.

    Args:
        chunks: The bytes of the source in order, cut anywhere, even within a letter.
        language: Its language as named by `language_of`.
    """
    scanner = Scanner(language)
    for chunk in chunks:
        scanner.feed(chunk)
    return scanner.outline()


class Scanner:
    r"""A stream that is being scanned: `feed` chunks, then ask for the `outline` once.

    It holds two blocks of the stream and the landmarks, whatever the length of the stream.

    Args:
        language: Its language as named by `language_of`.

    Example:
        >>> scanner = Scanner("go")
        >>> scanner.feed(b"package p\nfunc f() ")
        >>> scanner.feed(b"{\n}\n")
        >>> [(symbol.name, symbol.start_line, symbol.end_line) for symbol in scanner.outline().symbols]
        [('func f()', 2, 3)]
    """

    def __init__(self, language: str) -> None:
        from .blocks import Blocks

        self._language = language
        self._scanner, self._method = _scanner(language)
        # JSON is scanned by brackets: a document on one line must be neither held nor clipped as a line.
        self._blocks = Blocks(whole_lines=language != "json")

    def feed(self, chunk: bytes) -> None:
        """Scan what `chunk` completes; the rest is kept until more comes."""
        for block in self._blocks.feed(chunk):
            self._scanner.feed(block)

    def outline(self) -> Outline:
        """Scan the rest and return the landmarks; nothing may be fed afterwards."""
        for block in self._blocks.close():
            self._scanner.feed(block)
        self._scanner.close()
        found = self._scanner.found
        # A scanner counts newlines, including the one put in front of the stream: a last line without an end is counted
        # by that one.
        total = self._scanner.line - (not self._blocks.ends_in_line)  # one newline was put in front
        return Outline(found.symbols(total), self._language, self._method, total, found.complete)


def _scanner(language: str) -> tuple[_LanguageScanner, str]:
    """Return the scanner of a language and its name in an outline; each module is imported when it is needed."""
    if language == "python":
        from .python import PythonScanner

        return PythonScanner(), "line scanner"
    from .brace_rules import RULES
    from .braces import BraceScanner

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
