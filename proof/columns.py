"""Which lines of a COBOL file are code, and what is each one's text? A second reader, by columns alone.

A rig that asked the product which lines are code would believe whatever the product believes. Here each line is judged by its own
columns: sequence numbers, indicator, area, identification; comments, debug lines, directives and compiler options by their marks.
Not independent of the product, but taken from the scanned source, are the encoding, the format in force on a line, where the
records of EBCDIC and UTF-16 begin, and which branches conditional compilation leaves out. Leaves to others: the meaning of code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.conditional import conditional
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.cobol import Format, ScannedSource

_MARKS_TO_COLUMN_7 = r"(?:[\s\d]*|[\w ]{6}\s+)"
_DIRECTIVE = re.compile(
    rf"{_MARKS_TO_COLUMN_7}(?:>>\s*(d\s)?|\$\s*(?=(?:set|if|elif|else|end|region|display)\b))", re.IGNORECASE
)
_OPTIONS = re.compile(r"[ \t\d]{0,8}(?:cbl|process)(?:\s|$)", re.IGNORECASE)
_PRINTER = re.compile(r"\s*(?:eject|skip[123])\s*\.?\s*", re.IGNORECASE)
_TITLE = re.compile(r"\s*title\s+(?:'[^']*'|\"[^\"]*\")\s*\.?\s*", re.IGNORECASE)  # in a sentence: a window's title
_DEBUGGING = re.compile(r"(?<![\w-])debugging\s+mode(?![\w-])", re.IGNORECASE)
_NOTHING = {0: " ", 0x1A: " "}
_LIBRARIAN = re.compile(r"(?:-INC|\+\+INCLUDE)\s+\S", re.IGNORECASE)  # from column 1, where no code begins
_RULER = ("----+----1----+", "=COLS> ----+----1")  # of an editor, over the columns from the first
# What begins one column early is code nevertheless, if it is a header, or a record whose level no comment begins with.
_EARLY = re.compile(
    r"(?:\d{6}|\s{6})(?:\d+-[\w-]+(?:\s+section\s*)?\.\s*(?:exit\s*\.?\s*)?$|(?:01|77)\s(?:\s+[a-z]|[a-z][\w-]*(?:\s*\.|\s+pic\s))"
    r"|(?:identification|environment|data|procedure)\s+division\b"
    r"|(?:configuration|input-output|file|working-storage|local-storage|linkage)\s+section\s*\.)",
    re.IGNORECASE,
)
_IN_SQL = re.compile(r"(?<![\w-])(?:(exec)|end-exec)(?![\w-])", re.IGNORECASE)  # between the two, two bars join texts
_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_TERMINAL = ("*", "?")  # a comment and a directive for NonStop's compiler, if lines have their indicator in column 1


class Page(NamedTuple):
    """Line n is at n - 1: its text, with blanks folded and controls inert; the numbers of code lines, and of debug lines."""

    texts: tuple[str, ...]
    code: frozenset[int]
    debug: frozenset[int]
    """The text of these begins with a D that is not part of a word."""

    def text(self, line: int) -> str:
        """The text of a line."""
        return self.texts[line - 1]


class _Line(NamedTuple):
    shown: str
    body: str
    kind: str  # code, debug or none


def page(source: ScannedSource, *, debug_lines: bool = False) -> Page:
    """A file by its columns."""
    raw = _raw(source)
    lines: list[_Line] = []
    directives: list[tuple[int, str]] = []
    is_begun = False  # compiler options precede all code
    is_ended = True  # where a sentence may begin, a leading asterisk marks a comment, and a slash in column 1
    is_sql = False
    for number, text in enumerate(raw, 1):
        form = source.format_at(number)
        line = _line(text, form, is_sql=is_sql)
        if not is_begun and _OPTIONS.match(text):
            line = _Line(_uncounted(text.expandtabs(8), form), "", "")
        is_marked = line.body.lstrip().startswith("*") or (form == "free" and line.body.startswith("/"))
        if line.kind == "code" and is_ended and is_marked:
            line = _Line(line.shown, "", "")
        if line.kind == "code" and is_ended and _TITLE.fullmatch(line.body):
            line = _Line(_uncounted(text.expandtabs(8), form), "", "")
        is_begun = is_begun or line.kind == "code"
        is_ended = _ends(line.body) if line.kind == "code" else is_ended
        for word in _IN_SQL.finditer(_LITERAL.sub("", line.body).partition("*>")[0]):
            is_sql = word[1] is not None
        lines.append(line)
        if not line.kind and _DIRECTIVE.match(text):
            directives.append((number, text))
    left_out = conditional(directives, len(lines)).left_out
    debugging = debug_lines or any(line.kind == "code" and _is_debugging(line.body) for line in lines)
    kinds = {"code", "debug"} if debugging else {"code"}
    return Page(
        tuple(" ".join(escape.show(line.shown)[0].split()) for line in lines),
        frozenset(number for number, line in enumerate(lines, 1) if line.kind in kinds) - left_out,
        frozenset(number for number, line in enumerate(lines, 1) if line.kind == "debug"),
    )


def _raw(source: ScannedSource) -> list[str]:
    if source.encoding in {"utf-8", "latin-1"}:
        lines = source.data.decode(source.encoding).split("\n")
        lines = lines if lines[-1] else lines[:-1]
    else:
        lines = [source.bytes_of(line, line).decode(source.encoding, "replace") for line in range(1, source.lines + 1)]
    return [line.rstrip("\r\n\x85").removeprefix("\ufeff").replace("\n", " ") for line in lines]


def _uncounted(wide: str, form: Format) -> str:
    """A directive without its sequence number and identification."""
    return wide if form == "free" else re.sub(r"^\d{1,6}(?= )", "", wide[: 72 if form == "fixed" else None])


def _is_debugging(body: str) -> bool:
    found = _DEBUGGING.search(body)
    return found is not None and "*>" not in body[: found.start()]


def _ends(body: str) -> bool:
    """Whether a line of code ends its sentence, or a block, behind which a period may be missing."""
    return body.partition("*>")[0].rstrip().upper().endswith((".", "END-EXEC"))


def _line(text: str, form: Format, *, is_sql: bool) -> _Line:
    wide = text.expandtabs(8)
    clean = wide.translate(_NOTHING)
    end = 72 if form == "fixed" else None
    end = None if "\t" in text else end  # a file with tabs has no card columns
    area = clean if form == "free" else clean[7:end]
    indicator = " " if form == "free" else clean[6:7]
    shown = wide if form == "free" else wide[6:end]
    if _LIBRARIAN.match(clean):
        return _Line(wide, clean, "code")
    directive = _DIRECTIVE.match(clean)
    if directive is not None:
        return _Line(shown, area, "debug") if directive[1] else _Line(_uncounted(wide, form), "", "")
    if clean.startswith(_RULER):
        return _Line(shown, "", "")
    if form != "free" and _EARLY.match(clean[:end].rstrip()):
        return _Line(shown, shown, "code")
    if _PRINTER.fullmatch(area) and indicator == " ":
        return _Line(_uncounted(wide, form), "", "")
    if indicator not in {" ", "-", "D", "d"} or (form == "free" and clean[:1] in _TERMINAL):
        return _Line(shown, "", "")
    rest = area.strip()
    marks = "*>" if is_sql else ("*>", "|")
    is_empty = rest in {"", "'", '"'} if indicator == "-" else not rest or rest.startswith(marks)
    if is_empty:  # like a literal continued by blanks only
        return _Line(shown, "", "")
    return _Line(shown, area, "debug" if indicator in "Dd" else "code")
