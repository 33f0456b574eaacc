"""Where are the classes and functions of a Python source? One pass over bytes, by indentation.

Keeps out parsing: a landmark is a line that begins with `class`, `def` or `async def` outside strings, and it
ends with the last line of code before the first line that is indented no deeper. While something is open the
search looks for such lines only, so the bodies of functions cost nothing but the search.

Law: linear in the bytes; a definition in a triple-quoted string or a comment is never reported.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .symbols import Collector

_DEEPEST = 100  # columns; what is indented deeper is not a landmark
_NEVER = 1 << 60

_DEFINITION = rb"((?:def|class|async[ \t]++def)[ \t]++[A-Za-z_\x80-\xff])"
_SIGNATURE = re.compile(rb"""[()\[\]{}:\n]|#[^\n]*+|'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+\"""")
_TOKEN = re.compile(rb"""#|\"""|'''|'(?:[^'\\\n]|\\[\s\S])*+'?|"(?:[^"\\\n]|\\[\s\S])*+"?""")
_SIGNATURE_BYTES = 1000


@lru_cache(maxsize=_DEEPEST + 2)
def _events(column: int) -> re.Pattern[bytes]:
    """Lines of code at `column` or left of it, and definitions anywhere; -1: definitions only."""
    if column < 0:
        return re.compile(rb"\n[ \t]*+" + _DEFINITION)
    return re.compile(rb"\n[ \t]{0,%d}+(?:[ \t]*+%b|[^\s#)\]}])" % (column, _DEFINITION))


class PythonScanner:
    """Feed blocks; the landmarks are in `found`."""

    def __init__(self) -> None:
        self.found = Collector()
        self.line = 0  # newlines before the block
        self._code_line = 0  # the last line of code before the block
        self._quote = b""  # the triple quote that is open where the block begins

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        found = self.found
        size = len(block)
        line, at = self.line, 0  # the number of newlines before `at`
        code = position = 0  # before `position` all is seen; at `code` there is code
        if self._quote:
            code = position = _string_end(block, 0, self._quote)
        double = single = stop = -1  # the next triple quotes of either kind, and the nearer one
        column = found.stack[-1].level if found.stack else -1
        search = _events(column).search
        while position < size:
            if stop < position:
                if double < position:
                    double = _find(block, b'"""', position)
                if single < position:
                    single = _find(block, b"'''", position)
                stop = min(single, double)
            event = search(block, position, stop + 1)
            if event is None:
                if stop == _NEVER:
                    break
                position, is_code = _after_quote(block, position, stop)
                if is_code:
                    code = position
                continue
            begin, end = event.span()
            begin += 1
            line += block.count(b"\n", at, begin)
            at = begin
            start = event.start(1)
            indent = (start if start >= 0 else end - 1) - begin
            if indent <= column:
                found.close_to(indent, self._code_before(block, code, begin, line))
            if start >= 0 and indent <= _DEEPEST:
                self._define(block, start, end, line, indent)
            inner = found.stack[-1].level if found.stack else -1
            if inner != column:
                column = inner
                search = _events(column).search
            code = position = end
            if stop < end:  # the line begins with the quotes
                code = position = stop
        line += block.count(b"\n", at)
        if position > size:
            self._quote = self._quote if stop < 0 else block[stop : stop + 3]
            self._code_line = line
        else:
            self._quote = b""
            self._code_line = self._code_before(block, code, size + 1, line + 1)
        self.line = line

    def _define(self, block: bytes, start: int, end: int, line: int, indent: int) -> None:
        """Open the definition at `start`; its name begins before `end`."""
        eol = block.find(b"\n", end)
        if eol > 0 and block[eol - 1] == 58 and block.find(b"#", end, eol) < 0:  # it ends with a colon
            name = block[start : eol - 1]
        else:
            name = _signature(block, start)
        stack = self.found.stack
        kind = "method" if stack and stack[-1].kind == "class" else "function"
        if block[start] == 99:  # c
            kind = "class"
        self.found.open(name, kind, line, indent)

    def close(self) -> None:
        """The end of the stream is where everything ends that is still open."""
        self.found.close_to(0, self._code_line)

    def _code_before(self, block: bytes, code: int, begin: int, line: int) -> int:
        """The last line of code before `line`, which begins at `begin`; there is code at `code`."""
        end = begin - 1
        while True:
            end = code + len(block[code:end].rstrip())
            start = block.rfind(b"\n", code, end)
            if start < 0 or block[start + 1 : end].lstrip()[:1] != b"#":
                break
            end = start
        if end == 0:
            return self._code_line
        return line - 1 - block.count(b"\n", end, begin - 1)


def _find(block: bytes, mark: bytes, position: int) -> int:
    found = block.find(mark, position)
    return found if found >= 0 else _NEVER


def _after_quote(block: bytes, position: int, stop: int) -> tuple[int, bool]:
    """Where the scan goes on after the three quotes at `stop`, and whether code stands just before it."""
    line_start = max(position, block.rfind(b"\n", position, stop) + 1)
    if not block[line_start:stop].strip():  # a docstring, most often
        return _string_end(block, stop + 3, block[stop : stop + 3]), True
    for token in _TOKEN.finditer(block, line_start):
        begin, end = token.span()
        if begin >= stop:
            break
        if block[begin] == 35:  # a comment
            newline = block.find(b"\n", stop)
            return (newline if newline >= 0 else len(block)), False
        if end > stop:  # inside an ordinary string
            return end, True
    return _string_end(block, stop + 3, block[stop : stop + 3]), True


def _string_end(block: bytes, position: int, quote: bytes) -> int:
    """Where the triple-quoted string ends that is open at `position`; past the block if not in it."""
    while True:
        found = block.find(quote, position)
        if found < 0:
            return len(block) + 1
        slashes = found
        while slashes > position and block[slashes - 1] == 92:
            slashes -= 1
        if (found - slashes) % 2 == 0:
            return found + 3
        position = found + 1


def _signature(block: bytes, start: int) -> bytes:
    """The text of a definition without its colon, its lines joined, its comments gone."""
    depth = 0
    pieces = []
    for token in _SIGNATURE.finditer(block, start, start + _SIGNATURE_BYTES):
        mark = token[0]
        if mark in b"([{":
            depth += 1
        elif mark in b")]}":
            depth -= 1
        elif mark[0] == 35:  # a comment
            pieces.append(block[start : token.start()])
            start = token.end()
        elif depth <= 0 and mark in b":\n":
            return b"".join(pieces) + block[start : token.start()]
    return b"".join(pieces) + block[start : start + _SIGNATURE_BYTES]
