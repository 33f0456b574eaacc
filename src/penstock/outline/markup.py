"""Which landmarks does a document or a configuration have? Headings, keys and tables, with what they hold.

Leaves to others: validation; these scanners read what they can of broken, unfinished and commented sources.

Law: linear in the bytes; what is in a fence, a block scalar or a multi-line string is never a landmark.
"""

from __future__ import annotations

import re

from .symbols import Collector, OpenSymbol

KEY_DEPTH = 6
"""The depth down to which keys are landmarks; the lines of deeper ones belong to the key above."""

_HEADING = re.compile(rb"(\#{1,6})(?:[ \t]++([^\n]*+))?(?=\n|\Z)")
_FENCE = re.compile(rb"(`{3,}+|~{3,}+)([^\n]*+)")
_MARKDOWN = re.compile(rb"\n {0,3}+(?:(?=[#`~=<])|-[- \t\r]*+(?=\n|\Z))")
_UNDERLINE = re.compile(rb"(?:=+|-+)[ \t\r]*\Z")
_NOT_A_TITLE = re.compile(rb"[ \t]*(?:\r?\Z|[-=]+[ \t\r]*\Z|[>|#`~]|[-*+][ \t]|\d{1,9}[.)][ \t]| {4}|\t)")
_CLOSING_HASHES = re.compile(rb"(?:^|[ \t])#+[ \t\r]*\Z")


class _LineScanner:
    """What these scanners have in common: landmarks, and the number of newlines before the block."""

    def __init__(self) -> None:
        self.found = Collector()
        self.line = 0

    def close(self) -> None:
        """Leave open what is open: it ends with the stream."""


class MarkdownScanner(_LineScanner):
    """Scans Markdown: ATX and setext headings; a section ends before the next heading of its level or a higher one."""

    def __init__(self) -> None:
        super().__init__()
        self._fence = b""  # what opened the fence, comment or front matter that is open
        self._before = b""  # the last line before the block

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        line, at = self.line, 0
        position = 0
        # Front matter: YAML between two lines of dashes at the very beginning, of which the second would underline a
        # title.
        if line == 0 and block.startswith((b"\n---\n", b"\n---\r\n")) and b"\n---" in block[4:]:
            self._fence = b"---"
            position = 4
        while True:
            if self._fence:
                position = self._after_fence(block, position)
                if self._fence:
                    break
            event = _MARKDOWN.search(block, position)
            if event is None:
                break
            begin = event.start() + 1
            position = event.end()
            line += block.count(b"\n", at, begin)
            at = begin
            mark = block[position] if position < len(block) and event[0].strip() == b"" else 45
            if mark == 35:  # #
                heading = _HEADING.match(block, position)
                if heading:
                    level = len(heading[1])
                    text = _CLOSING_HASHES.sub(b"", heading[2] or b"")
                    self._heading(heading[1] + b" " + text.strip(), line, level)
            elif mark == 60:  # <
                if block.startswith(b"<!--", position):
                    self._fence = b"<!--"
                    position += 4
            elif mark in b"`~":
                # Backticks after a fence of backticks make it inline code (CommonMark 4.5).
                fence = _FENCE.match(block, position)
                if fence and not (mark == 96 and b"`" in fence[2]):
                    self._fence = fence[1]
                    position = fence.end()
            else:
                # A setext heading: the title is the line before, which may be the last one of the previous block.
                end = block.find(b"\n", begin)
                underline = block[begin : end if end >= 0 else len(block)].strip()
                start = block.rfind(b"\n", 0, begin - 1)
                title = block[start + 1 : begin - 1] if start >= 0 else self._before
                if _UNDERLINE.match(underline) and not _NOT_A_TITLE.match(title):
                    level = 1 if underline[:1] == b"=" else 2
                    self._heading(b"#" * level + b" " + title.strip(), line - 1, level)
        self.line += block.count(b"\n")
        self._before = block[block.rfind(b"\n") + 1 :][:2000]

    def _heading(self, name: bytes, line: int, level: int) -> None:
        """Open a heading; it closes those of its level and below."""
        self.found.close_to(level, line - 1)
        self.found.open(name, "heading", line, level)

    def _after_fence(self, block: bytes, position: int) -> int:
        """Return where the scan continues after the open fence or comment; the end of the block if it stays open."""
        fence = self._fence
        if fence == b"<!--":
            end = block.find(b"-->", position)
            if end >= 0:
                self._fence = b""
                return end + 3
            return len(block)
        while (position := block.find(b"\n", position)) >= 0:
            end = block.find(b"\n", position + 1)
            end = end if end >= 0 else len(block)
            found = block.find(fence, position, end)
            # A long fence is not read line by line: only the next occurrence of its mark can end it.
            if found < 0:  # jump to the line that has one
                found = block.find(fence, end)
                if found < 0:
                    break
                position = block.rfind(b"\n", 0, found)
                continue
            if not block[position:end].strip().strip(fence[:1]):
                self._fence = b""
                return end
            position += 1
        return len(block)


_YAML_LINE = re.compile(
    rb"\n(?:(---|\.\.\.)(?=[\s]|\Z)|([ ]*+(?>(?:-[ ]++)*))"
    rb"((?:\"(?>(?:[^\"\\\n]|\\.)*)\"|'[^'\n]*+'|[^\s#:\[\]{},&*!|>'\"%@`-][^\n:#]*+(?>(?::(?=[^\s])[^\n:#]*+)*)|"
    rb"-[^\s:#][^\n:#]*+))[ \t]*+:(?=[\s]|\Z)([^\n]*+))"
)
# A block scalar, or a quoted value without its end: either continues on the deeper lines below.
_CONTINUED = re.compile(
    rb"[ \t]*(?:[&!]\S*[ \t]+)*(?:[|>][-+0-9]{0,2}[ \t\r]*(?:#.*)?|\"(?>(?:[^\"\\]|\\.)*)\\?|'[^']*+(?>(?:''[^']*+)*))\Z"
)


class YamlScanner(_LineScanner):
    """Scans YAML: keys by indentation; documents only if there are several."""

    def __init__(self) -> None:
        super().__init__()
        self._documents: list[OpenSymbol] = []
        self._scalar = -1  # the column of the key whose value continues

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        found = self.found
        line, at = self.line, 0
        for event in _YAML_LINE.finditer(block):
            begin = event.start() + 1
            line += block.count(b"\n", at, begin)
            at = begin
            if event[1]:
                self._scalar = -1
                found.close_to(-1, line - 1)
                if event[1] == b"---":
                    self._document(line)
                continue
            column = len(event[2])
            indent = column - len(event[2].lstrip())
            if self._scalar >= 0:
                if indent > self._scalar:
                    continue
                self._scalar = -1
            if not self._documents:
                self._document(line)
            # An item of a list closes what is deeper than its dash: `- a:` after `- a:` is another item, whatever its
            # column.
            dash = event[2].rfind(b"-")
            found.close_to(column if dash < 0 else dash + 1, line - 1)
            if len(found.stack) <= KEY_DEPTH:
                found.open(event[3].strip(b" \"'"), "key", line, column)
            if _CONTINUED.match(event[4]):
                self._scalar = column
        self.line += block.count(b"\n")

    def close(self) -> None:
        """Drop the document if there is only one: it is not worth a landmark."""
        if len(self._documents) == 1:
            self.found.stack = [entry for entry in self.found.stack if entry.level >= 0]
            self.found.entries = [entry for entry in self.found.entries if entry.level >= 0]
            for entry in self.found.entries:
                entry.depth -= 1

    def _document(self, line: int) -> None:
        """Begin a document."""
        self.found.close_to(-1, line - 1)
        number = len(self._documents) + 1
        self._documents.append(self.found.open(b"document %d" % number, "document", line, -1))


_TABLE = re.compile(
    rb"\n[ \t]*+(?:(\[\[?[^\[\]\n][^\n\]]*+\]\]?)|([^\s\#;=\[\]{},\"'!:][^\n=\#:]*+|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+=|"
    rb"([^\s\#;=\[\]\"'!:][^\n=\#:]*+):)|(\"\"\"|''')"
)


class TableScanner(_LineScanner):
    """Scans TOML, INI and properties files: tables (sections) and their keys.

    Args:
        toml: Whether strings may span lines and a colon does not mark a key.
    """

    def __init__(self, *, toml: bool) -> None:
        super().__init__()
        self._toml = toml
        self._quote = b""

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        found = self.found
        line, at = self.line, 0
        position = 0
        while True:
            if self._quote:
                end = block.find(self._quote, position)
                if end < 0:
                    break
                position = end + 3
                self._quote = b""
            event = _TABLE.search(block, position)
            if event is None:
                break
            begin = event.start() + 1
            position = event.end()
            if event[4]:
                hash_sign = block.find(b"#", block.rfind(b"\n", 0, begin), begin)
                if self._toml and hash_sign < 0:
                    self._quote = event[4]
                continue
            if event[3] and self._toml:
                continue
            line += block.count(b"\n", at, begin)
            at = begin
            if event[1]:
                found.close_to(0, line - 1)
                found.open(event[1], "table" if self._toml else "section", line, 0)
            else:
                found.close_to(1, line - 1)
                found.open((event[2] or event[3]).strip(b" \t\"'"), "key", line, 1)
        self.line += block.count(b"\n")


_JSON_SHALLOW = re.compile(rb'"((?>(?:[^"\\]|\\[\s\S])*))("?)|[{}\[\]]|//[^\n]*+|/\*')
_COLON = re.compile(rb"\s*+:")
_JSON_TOKEN_BYTES = 1 << 16


class JsonScanner(_LineScanner):
    """Scans JSON: keys, and the items of arrays that span lines; blocks may be cut anywhere."""

    def __init__(self) -> None:
        super().__init__()
        # A document may be one line of gigabytes, so this scanner reads tokens. A token at the end of a block is held back
        # and read again with the next one; a string too long for that is skipped by what ends it (`_inside`). Brackets
        # below the deepest landmarks are only counted (`_deeper`).
        self._held = b""
        self._inside = b""  # what ends the long string or comment that is open
        self._open: list[tuple[bool, int, OpenSymbol | None]] = []  # is it an object, its first line, its landmark
        self._deeper = 0  # brackets open below the deepest landmarks
        self._items: list[int] = []  # commas seen in each open bracket
        self._key: OpenSymbol | None = None

    def feed(self, block: bytes) -> None:
        """Scan some bytes, cut anywhere."""
        self._scan(self._held + block, last=False)

    def close(self) -> None:
        """Scan what was held back; what is open at the end of the stream ends there."""
        self._scan(self._held, last=True)
        for _, _, entry in self._open:
            if entry is not None:
                entry.end_line = self.line
        self.found.close_to(0, 0)

    def _scan(self, block: bytes, *, last: bool) -> None:
        """Scan bytes after those that were held back.

        Args:
            block: What was held back, and what came.
            last: Whether the stream ends here: then nothing is held back.
        """
        size = len(block)
        self._held = b""
        line, at = self.line, 0
        position = gap = 0
        if self._inside:
            position = gap = self._skip(block)
        while position < size:
            token = _JSON_SHALLOW.search(block, position)
            if token is None:
                position = size
                break
            begin, position = token.span()
            mark = block[begin]
            # The items of an array are numbered by its commas, counted in the gaps between tokens; strings are tokens, so
            # a comma in one does not count.
            if self._items and not self._deeper:
                self._items[-1] += block.count(b",", gap, begin)
            gap = position
            if mark == 47:  # a comment
                if block[begin + 1] == 42:
                    self._inside = b"*/"
                    position = gap = self._skip(block, position)
                continue
            if mark == 34:  # a string
                colon = _COLON.match(block, position) if token[2] else None
                if colon is None and not last and size - position < 4096 and size - begin < _JSON_TOKEN_BYTES:
                    rest = block[position:].strip()
                    if not rest:  # it may continue in the next block, or its colon may be there
                        position = begin
                        break
                if not token[2]:
                    self._inside = b'"'
                    position = size - (_trailing_slashes(block) % 2)
                    break
                if colon and not self._deeper and len(self._open) <= KEY_DEPTH:
                    line += block.count(b"\n", at, begin)
                    at = begin
                    position = gap = colon.end()
                    self._key = self._landmark(token[1], line)
                continue
            line += block.count(b"\n", at, begin)
            at = begin
            if mark in b"{[":
                self._begin(line, is_object=mark == 123)
            else:
                self._end(line)
        if self._items and not self._deeper and gap < position:
            self._items[-1] += block.count(b",", gap, position)
        self._held = block[position:]
        self.line = line + block.count(b"\n", at, position)

    def _skip(self, block: bytes, position: int = 0) -> int:
        """Return where the scan continues after the open string or comment; the end of the block if it stays open."""
        while (found := block.find(self._inside, position)) >= 0:
            slashes = found
            while self._inside == b'"' and slashes > position and block[slashes - 1] == 92:
                slashes -= 1
            if (found - slashes) % 2 == 0:
                found += len(self._inside)
                self._inside = b""
                return found
            position = found + 1
        return len(block)

    def _landmark(self, name: bytes, line: int) -> OpenSymbol | None:
        """Open a key or an item, unless it is on the line on which its container begins: its range would say nothing new."""
        depth = len(self._open) - 1
        self.found.close_to(depth, 0)
        if depth < 0 or (depth and self._open[-1][1] == line):
            return None
        return self.found.open(name, "key", line, depth)

    def _begin(self, line: int, *, is_object: bool) -> None:
        """Take an opening bracket: an item of an array becomes a landmark, numbered from 0."""
        if self._deeper or len(self._open) > KEY_DEPTH:
            self._deeper += 1
            return
        entry = self._key
        if entry is None and self._open and not self._open[-1][0]:
            entry = self._landmark(b"[%d]" % self._items[-1], line)
        self._key = None
        self._open.append((is_object, line, entry))
        self._items.append(0)

    def _end(self, line: int) -> None:
        """Take a closing bracket: its landmark ends on this line."""
        self._key = None
        if self._deeper:
            self._deeper -= 1
        elif self._open:
            self.found.close_to(len(self._open) - 1, 0)
            entry = self._open.pop()[2]
            self._items.pop()
            if entry is not None:
                entry.end_line = max(line, entry.end_line)


def scanner(language: str) -> MarkdownScanner | JsonScanner | YamlScanner | TableScanner:
    """Return the scanner of one of these languages: markdown, json, yaml, toml or ini."""
    if language == "markdown":
        return MarkdownScanner()
    if language == "json":
        return JsonScanner()
    if language == "yaml":
        return YamlScanner()
    return TableScanner(toml=language == "toml")


def _trailing_slashes(block: bytes) -> int:
    """Return how many backslashes a block ends with: an odd number escapes what comes next."""
    return len(block) - len(block.rstrip(b"\\"))
