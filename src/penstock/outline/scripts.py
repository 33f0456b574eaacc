"""Which definitions are in a language that ends them with a word, or with nothing? Ruby, shell and SQL.

A definition is a line that begins like one; it ends at the `end` or `}` in its own column or, in SQL, with its
statement. Here-documents and quoted bodies are skipped if they end within a block. There is no grammar: the `end` of an
`if` is told from that of a method only by its column.

Law: linear in the bytes.
"""

from __future__ import annotations

import re

from .blocks import find_line
from .symbols import Collector

_MISSES = 8  # unended here-documents that are searched for in a block before they are taken for operators

# One search finds what is relevant: a definition, an end in any column, what hides the rest, and a here-document.
_EVENTS = {
    "ruby": re.compile(
        rb"\n(?:(?P<indent>[ \t]*+)(?:(?P<definition>(?:(?:private|protected|public|private_class_method)[ \t]++)?"
        rb"(?:def|class|module)[ \t]++[^\n]*+)|(?P<end>end)\b)"
        rb"|(?P<skip>=begin\b|__END__[ \t\r]*+(?=\n|\Z)))"
        rb"|<<(?:[~-][\"'`]?|[\"'`]|(?=[A-Z]))(?P<here>[A-Za-z_]\w*+)"
    ),
    "shell": re.compile(
        rb"\n(?P<indent>[ \t]*+)(?:(?P<definition>(?:function[ \t]++[\w:.+-]++[ \t]*+(?:\([ \t]*+\))?"
        rb"|[\w:.+-]++[ \t]*+\([ \t]*+\))[ \t]*+(?:[{(][^\n]*+)?(?=[\r\n]|\Z))|(?P<end>[})]))"
        rb"|(?P<skip>(?!))|(?<!<)<<-?[ \t]*+[\"'\\]?(?P<here>[A-Za-z_]\w*+)"
    ),
}
_KINDS = {b"class": "class", b"module": "module"}
_ONE_LINE = {
    "ruby": re.compile(rb"[; \t]end[ \t\r]*\Z|\Adef[ \t]++[\w.?!]++(?:\([^()]*+\))?[ \t]++=[ \t]"),
    "shell": re.compile(rb"[{(][^\n]*[})][ \t\r;]*(?:#[^\n]*)?\Z"),
}


class ScriptScanner:
    """Scans Ruby or shell; feed blocks, then the landmarks are in `found`.

    Args:
        language: `ruby` or `shell`.
    """

    def __init__(self, language: str) -> None:
        self.found = Collector()
        self.line = 0
        self._language = language
        self._skipping = b""  # the line that ends the comment that is open
        self._over = False  # what follows is data

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        search = _EVENTS[self._language].search
        found = self.found
        line, at, position, misses = self.line, 0, 0, 0
        while position < len(block) and not self._over:
            if self._skipping:
                end = find_line(block, position, self._skipping)
                if end < 0:
                    break
                position = end
                self._skipping = b""
            event = search(block, position)
            if event is None:
                break
            position = event.end()
            if event["skip"]:
                if event["skip"] != b"=begin":
                    self._over = True
                    break
                self._skipping = b"=end"
                continue
            if event["here"]:
                # `<<` may also be a shift, as in ((1 << N)), or an append: then no line ends it. Bounding the number of such
                # misses in a block keeps the search from being quadratic.
                start = block.rfind(b"\n", max(0, event.start() - 500), event.start())
                if misses < _MISSES and b"((" not in block[start : event.start()]:
                    end = find_line(block, position, event["here"])
                    misses += end < 0
                    position = max(end, position)
                continue
            begin = event.start() + 1
            line += block.count(b"\n", at, begin)
            at = begin
            indent = len(event["indent"])
            if event["end"]:
                # The end of an if or loop is in a column in which no definition began, as long as the source is indented.
                if any(entry.level == indent for entry in found.stack):
                    found.close_to(indent, line)
                continue
            self._define(event["definition"], line, indent)
        self.line += block.count(b"\n")

    def close(self) -> None:
        """Leave open what is open: it ends with the stream."""

    def _define(self, text: bytes, line: int, indent: int) -> None:
        """Open a definition; one that ends on its own line is closed at once.

        Args:
            text: Its line, from the keyword or the name on.
            line: The number of that line.
            indent: The column in which it begins, which is also where its end is expected.
        """
        found = self.found
        found.close_to(indent, line - 1)
        name = text
        if self._language == "shell":
            kind = "function"
            name = text.partition(b"{")[0].rstrip(b" \t(")
        else:
            kind = _KINDS.get(text.split(None, 1)[0], "method")
            name = text.partition(b";")[0].partition(b" #")[0]
        found.open(name, kind, line, indent)
        if _ONE_LINE[self._language].search(text[-300:] if len(text) > 300 else text):
            found.close_to(indent, line)


_SQL = re.compile(
    rb"(?i)--[^\n]*+|/\*|'[^']*+'|\$(?P<tag>\w{0,30}+)\$|(?P<end>;)|\n[ \t]*+(?:(?P<go>(?:go|/)[ \t\r]*+(?=\n|\Z)|delimiter\b)"
    rb"|(?P<definition>create\s++(?:\w++[ \t\n]++){0,5}?(?P<kind>table|view|function|procedure|trigger|package|index"
    rb"|type|sequence|schema|database|domain|extension|materialized)\b[^\n(;]*+))"
)
_ROUTINES = frozenset({"function", "procedure", "trigger", "package"})


class SqlScanner:
    """Scans SQL: CREATE statements; a routine without a quoted body ends before the next one."""

    def __init__(self) -> None:
        self.found = Collector()
        self.line = 0
        # A routine has semicolons in its body, and only its dialect knows where the body ends. So a statement ends at its
        # `;`, and a routine at the last `;` before the next CREATE, GO or DELIMITER, unless its body is in dollar quotes,
        # which end it themselves.
        self._closer = b""
        self._statement_end = 0  # the line of the last `;` in the open routine
        self._quoted = False  # its body was in dollar quotes

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        found = self.found
        line, at, position = self.line, 0, 0
        while True:
            if self._closer:
                end = block.find(self._closer, position)
                if end < 0:
                    break
                position = end + len(self._closer)
                self._closer = b""
            event = _SQL.search(block, position)
            if event is None:
                break
            position = event.end()
            if event["tag"] is not None:
                self._closer = event[0]
                self._quoted = True
            elif event[0] == b"/*":
                self._closer = b"*/"
            elif event["end"] or event["go"] or event["definition"]:
                begin = event.start() + (not event["end"])
                line += block.count(b"\n", at, begin)
                at = begin
                routine = bool(found.stack) and found.stack[-1].kind in _ROUTINES and not self._quoted
                if event["end"]:
                    self._statement_end = line
                    if not routine:
                        found.close_to(0, line)
                    continue
                found.close_to(0, self._statement_end if routine and self._statement_end else line - 1)
                if event["definition"]:
                    self._quoted = False
                    self._statement_end = 0
                    kind = event["kind"].lower().decode()
                    found.open(event["definition"], "view" if kind == "materialized" else kind, line, 0)
        self.line += block.count(b"\n")

    def close(self) -> None:
        """Close an open routine with its last statement."""
        if self._statement_end:
            self.found.close_to(0, self._statement_end)
