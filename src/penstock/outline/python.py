"""Where are the classes and functions of a Python source? One pass over bytes, by indentation.

Keeps out parsing: a landmark is a line that begins with `class`, `def` or `async def` outside strings, and
it ends with the last line of code before the first line that is indented no deeper. While something is open the
search looks for such lines only, so the bodies of functions cost nothing but the search.

Law: linear in the bytes; a definition in a triple-quoted string or a comment is never reported.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .symbols import Collector

_DEEPEST = 100  # columns; what is indented deeper is not a landmark
_NEVER = 1 << 60

_DEFINITION = re.compile(rb"[ \t]*+((?:async[ \t]++)?(?:def|class)[ \t]++[A-Za-z_\x80-\xff])")
_SIGNATURE = re.compile(rb"""[()\[\]{}:\n]|#[^\n]*+|'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+\"""")
_TOKEN = re.compile(rb"""#|\"""|'''|'(?:[^'\\\n]|\\[\s\S])*+'?|"(?:[^"\\\n]|\\[\s\S])*+"?""")
_SIGNATURE_BYTES = 1000
_KEYWORD_BYTES = frozenset(b" \tdac")


@lru_cache(maxsize=_DEEPEST + 2)
def _events(column: int) -> re.Pattern[bytes]:
    """Lines of code at `column` or left of it, and definitions anywhere; -1: definitions only."""
    if column < 0:
        return re.compile(rb"\n[ \t]*+(?:def|class|async)[ \t]")
    return re.compile(rb"\n[ \t]{0,%d}+(?:[^\s#)\]}]|[ \t]++(?:def|class|async)[ \t])" % column)


class PythonScanner:
    """Feed blocks; the landmarks are in `found`."""

    def __init__(self) -> None:
        self.found = Collector()
        self._line = 0  # newlines before the block
        self._code_line = 0  # the last line of code before the block
        self._quote = b""  # the triple quote that is open where the block begins

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        found = self.found
        size = len(block)
        line, at = self._line, 0  # the number of the line that begins at `at`
        code = position = 0  # before `position` all is seen; at `code` there is code
        if self._quote:
            code = position = _string_end(block, 0, self._quote)
        quotes = {b'"""': -1, b"'''": -1}
        quote, stop = b'"""', -1
        column = found.stack[-1].level if found.stack else -1
        search = _events(column).search
        while position < size:
            if stop < position:
                for mark, where in quotes.items():
                    if where < position:
                        where = block.find(mark, position)
                        quotes[mark] = where if where >= 0 else _NEVER
                quote = min(quotes, key=quotes.__getitem__)
                stop = quotes[quote]
            event = search(block, position, stop + 1)
            if event is None:
                if stop == _NEVER:
                    break
                position, is_code = _after_quote(block, position, stop, quote)
                if is_code:
                    code = position
                continue
            begin, end = event.start() + 1, event.end()
            definition = _DEFINITION.match(block, begin) if block[end - 1] in _KEYWORD_BYTES else None
            if definition or column >= 0:
                line += block.count(b"\n", at, begin)
                at = begin
                indent = (definition.start(1) if definition else end - 1) - begin
                if indent <= column:
                    found.close_to(indent, self._code_before(block, code, begin, line))
                if definition and indent <= _DEEPEST:
                    name = _signature(block, definition.start(1), definition.end())
                    if name[0] == 99:  # c
                        kind = "class"
                    else:
                        kind = "method" if found.stack and found.stack[-1].kind == "class" else "function"
                    found.open(name, kind, line, indent)
                column = found.stack[-1].level if found.stack else -1
                search = _events(column).search
            code = position = min(end, stop)
        self._quote = quote if position > size else b""
        last = self._line + block.count(b"\n")
        self._code_line = last if self._quote else self._code_before(block, code, size + 1, last + 1)
        self._line = last

    def close(self) -> None:
        """The end of the stream is where everything ends that is still open."""
        self.found.close_to(0, self._code_line)

    def _code_before(self, block: bytes, code: int, begin: int, line: int) -> int:
        """The last line of code before `line`, which begins at `begin`; there is code at `code`."""
        end = begin - 1
        while end > 0:
            line -= 1
            start = block.rfind(b"\n", code, end)
            if start < 0:
                return line
            text = block[start + 1 : end].strip()
            if text and text[0] != 35:  # #
                return line
            end = start
        return self._code_line


def _after_quote(block: bytes, position: int, stop: int, quote: bytes) -> tuple[int, bool]:
    """Where the scan goes on after the three quotes at `stop`, and whether code stands just before it."""
    line_start = max(position, block.rfind(b"\n", position, stop) + 1)
    for token in _TOKEN.finditer(block, line_start):
        begin, end = token.span()
        if begin >= stop:
            break
        if block[begin] == 35:  # a comment
            newline = block.find(b"\n", stop)
            return (newline if newline >= 0 else len(block)), False
        if end > stop:  # inside an ordinary string
            return end, True
    return _string_end(block, stop + 3, quote), True


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


def _signature(block: bytes, start: int, position: int) -> bytes:
    """The text of a definition without its colon, its lines joined, its comments gone."""
    eol = block.find(b"\n", position)
    line = block[start : eol if eol >= 0 else len(block)].rstrip()
    if line[-1] == 58 and b"#" not in line:
        return line[:-1]
    depth = 0
    pieces = []
    for token in _SIGNATURE.finditer(block, start, start + _SIGNATURE_BYTES):
        mark = token[0]
        if mark in b"([{":
            depth += 1
        elif mark in b")]}":
            depth -= 1
        elif mark[0] == 35:
            pieces.append(block[start : token.start()])
            start = token.end()
        elif depth <= 0 and mark in b":\n":
            return b"".join(pieces) + block[start : token.start()]
    return line[:-1] if line[-1] == 58 else line
