"""Which divisions, sections and paragraphs are in a COBOL source? They are found by sentence, not by line.

A header comes where a sentence has ended, or after one that lacks its period; it ends at its own period. In fixed format
columns 1-6 and 73-80 are not code and column 7 marks comments; free format is recognised by a directive or by the columns
of the first lines.

Leaves to others: statements, data references and the call graph, which are the `cobol` room's. That room needs the whole
file; this module reads a stream of any length. For a name after a sentence without its period, it therefore knows what the
source says elsewhere of that name only within the current block, some thousand lines.

Law: linear in the bytes; `EXIT.`, `GOBACK.`, `END-IF.` and other one-word sentences are not paragraphs.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from penstock.cobol.headers import LONE, is_header, names
from penstock.cobol.words import DIVISIONS, SENTENCES, UNITS, vocabulary

from .symbols import Collector, OpenSymbol

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.cobol.headers import Names

# What is on a line with a period without being a paragraph: sentences, and what the `cobol` room classifies otherwise.
_NO_PARAGRAPHS = SENTENCES | vocabulary("DECLARATIVES END NEXT THEN SKIP1 SKIP2 SKIP3 EJECT COPY REPLACE")
_DIVISION, _UNIT = (f"(?:{words})".encode() for words in (DIVISIONS, UNITS))
_WORD = rb"[A-Za-z0-9\x80-\xff][\w#@$\x80-\xff-]*+"
_FIXED = re.compile(  # it skips the commonest of the sentences above
    rb"\n(?:[^\n]{6}[ Dd] {0,3}+|\t)(?:(?=[A-Za-z0-9\x80-\xff])"
    rb"| ++(?=[\w-]++(?: ++[Ss][Ee][Cc][Tt][Ii][Oo][Nn])? *+\.)(?!(?:END-(?:IF|EXEC|EVALUATE|PERFORM)|EXIT)\.))"
)
# Lines that may hold a header, recognised by their beginning: everything else is skipped at the speed of the expression.
_FREE = re.compile(
    rb"\n[ \t]*+(?=(?:0?1|fd|sd|FD|SD)[ \t]|(?:[\w-]++[ \t]++)?(?:[Dd][Ii][Vv]|[Ss][Ee][Cc][Tt])[Ii]|[\w#@$-]++[ \t]*+\."
    rb"|(?i:program|function|class)-(?i:id)|(?i:end)[ \t])"
)
_HEADER = re.compile(
    rb"(?i)(?P<division>" + _DIVISION + rb"[ \t]++division)\b"
    rb"|(?P<program>(?P<id>" + _UNIT + rb"-id)\b[ \t]*+\.?[ \t]*+[\"']?(?P<name>[\w#@$\x80-\xff-]*+))"
    rb"|(?P<end>end[ \t]++" + _UNIT + rb")\b"
    rb"|(?P<section>" + _WORD + rb"[ \t]++section)\s*+(?:\d{1,9}\s*+)?(?:\.|\Z)"
    rb"|(?P<declaratives>(?:end[ \t]++)?declaratives)[ \t]*+\."
    rb"|(?P<file>[fs]d[ \t]++" + _WORD + rb")"
    rb"|(?P<data>0?1[ \t]++" + _WORD + rb")"
    rb"|(?P<paragraph>(?P<word>" + _WORD + rb")\s*+(?P<period>\.(?=\s|\Z)|\Z))"
)
# Each program takes eight levels: itself, its divisions (1), sections (2), paragraphs and files (3), records (4).
_LEVELS = {"section": 2, "file": 3, "paragraph": 3, "data": 4}
_BEHIND_SENTENCES = frozenset({"section", "paragraph", "declaratives"})  # the others are recognised by their words
_FORMAT = re.compile(
    rb"(?i)\n[^\n]{0,20}(?:>>[ \t]*source(?:[ \t]+format)?(?:[ \t]+is)?|\$[ \t]*set[ \t]+sourceformat)"
    rb"[ \t(\"']*(free|fixed|variable)"
)
_ASIDE = re.compile(
    rb"\*>|>>|[EeSsTt](?i:ject|kip[123]|itle[ \t]+(?:'[^']*'|\"[^\"]*\"))[ \t]*\.?\Z"  # the latter are for the printer
)
_NO_CODE = frozenset({b"*", b"/", b"$", b""})  # in column 7, the last if a line ends before it
_INDICATORS = frozenset(b" *-/Dd$\t\r")
_PROBED_LINES = 400
_LETTERS = {byte: 0x80 + byte for byte in range(0x80, 0x100)}
_SENTENCE_LINES = 40
"""How many lines of a sentence are enough to tell how it ends."""


class CobolScanner:
    """Scans a COBOL source; feed blocks, then the landmarks are in `found`."""

    def __init__(self) -> None:
        self.found = Collector()
        self.line = 0
        self._free: bool | None = None
        self._ended = True  # the last sentence before the block has its period
        self._division = b""
        self._programs: list[OpenSymbol] = []
        self._unnamed = False  # the open program has no name yet

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front; a directive may change the format within."""
        if self._free is None:
            self._free = is_free(block)
        at = 0
        # Searched for as plain marks first: most sources have neither.
        for switch in _FORMAT.finditer(block) if b">>" in block or b"$" in block else ():
            self._scan(block[at : switch.start()])
            at = switch.start()
            self._free = switch[1].lower() == b"free"
        self._scan(block[at:] if at else block)

    def _scan(self, block: bytes) -> None:
        """Scan whole lines of one format."""
        free = bool(self._free)
        line, at = self.line, 0
        pattern = _FREE if free else _FIXED
        known = cache(lambda: names(_text(block, free=free)))
        for event in pattern.finditer(block):
            start, begin = event.start() + 1, event.end()
            end = block.find(b"\n", begin)
            if end < 0:
                end = len(block)
            # Columns 73 to 80 are not code, but after a tab there are no columns.
            if not free and end > start + 72 and block[start] != 9:
                end = start + 72
            header = _HEADER.match(block, begin, end)
            if header is None:
                continue
            kind = header.lastgroup
            if kind == "paragraph":
                if (
                    self._division not in {b"", b"PROCEDURE"}
                    or header["word"].upper().decode("latin-1") in _NO_PARAGRAPHS
                ):
                    continue
                if not header["period"] and not self._period_follows(block, end):
                    continue
            elif kind == "data" and self._division not in {b"", b"DATA"}:
                continue
            # Checked last, because it goes back over comments and blank lines: in the middle of a statement, a word with a
            # period that is none of these sentences is rare enough.
            if (
                kind in _BEHIND_SENTENCES
                and not self._sentence_ended(block, start)
                and (free or not _is_assumed(block, start, known))
            ):
                continue
            line += block.count(b"\n", at, start)
            at = start
            self._header(kind, header, line)
        self._ended = self._sentence_ended(block, len(block) + 1)
        self.line = line + block.count(b"\n", at)

    def close(self) -> None:
        """Leave open what is open: it ends with the stream."""

    def _header(self, kind: str | None, header: re.Match[bytes], line: int) -> None:
        """Open the landmark of a header, closing what it ends."""
        found = self.found
        base = 8 * max(len(self._programs) - 1, 0)
        if kind in _LEVELS:
            level = base + _LEVELS[kind]
            found.close_to(level, line - 1)
            found.open(header["word"] or header[kind], kind, line, level)
        elif kind == "division":
            name = b" ".join(header["division"].upper().split())
            if name in {b"IDENTIFICATION DIVISION", b"ID DIVISION"}:
                self._begin_program(line)
                base = 8 * (len(self._programs) - 1)
            self._division = name.split()[0]
            found.close_to(base + 1, line - 1)
            found.open(name, "division", line, base + 1)
        elif kind == "program":
            if not self._unnamed:
                self._begin_program(line)
            self._programs[-1].name = header["id"] + b" " + header["name"]
            self._unnamed = False
        elif kind == "end":
            if self._programs:
                found.close_to(base + 1, line - 1)
                self._programs.pop()
                found.close_to(8 * len(self._programs), line)
            self._division = b"" if not self._programs else b"PROCEDURE"
        else:
            ends = header["declaratives"][:3].upper() == b"END"
            found.close_to(base + 2, line if ends else line - 1)

    def _begin_program(self, line: int) -> None:
        """Open a program, inside of an open one if there is one; its PROGRAM-ID will name it."""
        level = 8 * len(self._programs)
        self.found.close_to(level, line - 1)
        self._programs.append(self.found.open(b"PROGRAM", "program", line, level))
        self._unnamed = True

    def _sentence_ended(self, block: bytes, begin: int) -> bool:
        """Return whether the code before the line that begins at `begin` ends with a period."""
        free, end = bool(self._free), begin - 1
        while end > 0:
            start = block.rfind(b"\n", 0, end)
            code = code_of(block[start + 1 : min(end, start + 2000)], free=free)
            if code:
                return code.endswith(b".")
            end = start
        return self._ended

    def _period_follows(self, block: bytes, end: int) -> bool:
        """Return whether the code after the line that ends at `end` begins with a period: a name may be on a line without
        it.
        """
        free = bool(self._free)
        while True:
            start = block.find(b"\n", end)
            if start < 0:
                return False
            end = block.find(b"\n", start + 1)
            code = code_of(block[start + 1 : min(end if end >= 0 else len(block), start + 2000)], free=free)
            if code:
                return code.startswith(b".")
            if end < 0:
                return False


def _is_assumed(block: bytes, start: int, known: Callable[[], Names]) -> bool:
    """Return whether the line that begins at `start` is a header after a sentence that lacks its period."""
    end = block.find(b"\n", start)
    line = block[start : end if end >= 0 else len(block)]
    # A tab goes to column 9, which is in area A.
    code = _read(line[7:72] if line[:1] != b"\t" else line[1:]).rstrip()
    if LONE.match(code) is None:
        return False
    lone = LONE.match(f"{code}\n{_behind(block, start + len(line))}")
    return lone is not None and is_header(lone, _before(block, start), known)


def _before(block: bytes, begin: int) -> str:
    """Return the code of the sentence before the line that begins at `begin`: its last lines, as far as the block has them."""
    found: list[str] = []
    end = begin - 1
    while end > 0 and len(found) < _SENTENCE_LINES:
        start = block.rfind(b"\n", 0, end)
        code = code_of(block[start + 1 : min(end, start + 2000)], free=False)
        if code.endswith(b"."):
            break
        if code:
            found.append(_read(code))
        end = start
    return " ".join(reversed(found))


def _behind(block: bytes, end: int) -> str:
    """Return the code after the line that ends at `end`: two lines of it, for EXIT and its period."""
    found: list[str] = []
    while end >= 0 and len(found) < 2:
        start = end + 1
        end = block.find(b"\n", start)
        if code := code_of(block[start : end if end >= 0 else len(block)][:2000], free=False):
            found.append(_read(code))
    return " ".join(found)


def _text(block: bytes, *, free: bool) -> str:
    """Return the code of some lines, in capitals."""
    return "\n".join(_read(code_of(line, free=free)) for line in block.split(b"\n"))


def _read(code: bytes) -> str:
    """Return code as letters, in capitals: those beyond ASCII represent their bytes, whatever the encoding."""
    return code.upper().decode("latin-1").translate(_LETTERS)


def code_of(line: bytes, *, free: bool) -> bytes:
    """Return the code of a line without its surroundings; empty for a comment or a directive.

    Args:
        line: The line without its end.
        free: Whether it is in free format.
    """
    if not free and line[:1] != b"\t":
        if line[6:7] in _NO_CODE:
            return b""
        line = line[7:72]
    code = line.strip()
    if _ASIDE.match(code) or (free and code[:1] == b"$"):
        return b""
    comment = code.rfind(b"*>")
    return code if comment < 0 else code[:comment].rstrip()


def is_free(block: bytes) -> bool:
    """Return whether a source begins in free format.

    A directive before all code decides; otherwise more than a sixth of the lines, up to the first directive, must have
    something in column 7 that is not an indicator.

    Args:
        block: Its first lines, each with its newline in front.
    """
    directive = _FORMAT.search(block[:20_000])
    if directive:
        block = block[: directive.start()]
        if not any(code_of(line, free=True) and code_of(line, free=False) for line in block.split(b"\n")):
            return directive[1].lower() == b"free"
    free = lines = 0
    for line in block[:40_000].split(b"\n", _PROBED_LINES)[1:_PROBED_LINES]:
        if line.strip():
            lines += 1
            free += len(line) > 6 and line[6] not in _INDICATORS and b"\t" not in line[:6]
    return free * 6 > lines
