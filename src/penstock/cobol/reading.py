"""Which part of a file is code, and of which kind is each line?

The result has a line for every line of the file, with everything that is not code blanked: sequence numbers, indicators,
comments, debug lines, directives, columns 73 to 80. A continuation line follows the line that it continues after `BREAK`
in place of a newline, so that a literal or word may run on and line counts stay right.

Leaves to others: bytes (`records`), what columns say about the format (`formats`), tokens and names. This file knows no verbs, only
the few words that change how columns are read (CBL, PROCESS, the directives, EJECT, WITH DEBUGGING MODE, the `?SECTION`
that begins a member of a library).

Law: any bytes are read, in linear time; the lines are those of the file, one for one.
"""

from __future__ import annotations

import re
import string
from bisect import bisect
from typing import TYPE_CHECKING, NamedTuple

from .conditional import conditional
from .formats import DIRECTIVE, INCLUDED, OPTIONS, QUOTED, format_switches, open_quote
from .program import Format, LineKind, Warned
from .records import AREA_A, IDENTIFICATION, TAB, begins, doubled, in_columns, records

if TYPE_CHECKING:
    from collections.abc import Sequence

BREAK = "\x1f"
"""The character (U+001F) at the point where a continuation line begins, perhaps in the middle of a word or literal. Regular
expressions treat it as a blank.
"""

# The expressions are possessive throughout: a line of a megabyte of blanks must not be tried from every column.
_LISTING = re.compile(r"(?i)\s*+(?:eject|skip[123]|title\s++(?:'[^']*'|\"[^\"]*\"))\s*+\.?\s*+\Z")
# Group 1 asks for debug lines. A program in another one has no SOURCE-COMPUTER, and that of the other one applies to it.
_DEBUGGING = re.compile(r"(?i)(?<![\w-])(?:(debugging\s++mode)|source-computer)(?![\w-])")
# Group 1 is the code before the comment: literals are skipped whole, so that `*>` inside of one is text. ACUCOBOL
# also begins comments with a bar; two bars concatenate in SQL.
_BEFORE_COMMENT = r"[^'\"*|]++|'[^']*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|\*(?!>)"
_COMMENT = re.compile(rf"((?>(?:{_BEFORE_COMMENT})*))(?:\*>|\|)")
_COMMENT_BESIDE_SQL = re.compile(rf"((?>(?:{_BEFORE_COMMENT}|\|\|(?!\|))*))(?:\*>|\|)")
_SENTENCE_ENDS = re.compile(r"(?i)(?:\.|(?<![\w-])END-EXEC)\s*+\Z")
_NUMBERED = re.compile(r"\d{1,6}(?=[ ])")
_ORDER = re.compile(r"\?[A-Za-z]")  # a directive of NonStop's compiler, in the indicator column
_SOURCED = re.compile(r"(?i)\?SOURCE\s++(?P<library>[^\s(,.]++(?>(?:\.[^\s(,.]++)*))(?>[\s,]*+\((?P<names>[^()]*+)\)|)")
"""NonStop's other way to copy: `?SOURCE LIBRARY (SECTION-1, SECTION-2)`."""
# The block of a MySQL precompiler, from `/MYSQL SELECT\` to `/MYSQL-END\`.
_BLOCK = re.compile(r"[ \t]*+/(?P<name>[A-Za-z]++)[ \t]++[A-Za-z-]++\\[ \t]*+\Z")
_BLOCK_LINES = 500
_RULER = re.compile(
    r"(?:=COLS>[ ])?-{4}\+-{4}1-{4}\+"
)  # of an editor, saved with the text: its column 7 holds a hyphen
_RULED = "----+----1"
_MARKS = (_RULED, "\t", "*>", "*", "/", "|", ">>", "$", "?", "\\", "--", "/*")
_INCLUDING = ("-", "+")
"""The characters in column 1 that may begin the include of a librarian; all of such a line is shown."""
_NO_INDICATORS = frozenset("$>?")
_REMARK = re.compile(r"\*[ ]{1,4}[^\W\d_]")
"""A comment that begins in column 1, as Micro Focus' compiler takes it: words follow, as in no sequence number or tag."""
_BEHIND_MARGIN = re.compile(
    r"(?i)(?:\d{6}|[ ]{6})(?:(?:01|77)[ ](?:[ ]++[A-Z]|[A-Z][\w-]*+(?:[ ]*+\.|[ ]++PIC[ ]))"
    r"|\d+-[\w-]*\w(?:\.|[ ]++SECTION[ ]*+\.)[ ]*+(?:EXIT[ ]*+\.?[ ]*+)?\Z"
    r"|(?:IDENTIFICATION|ENVIRONMENT|DATA|PROCEDURE)[ ]++DIVISION(?![\w-])"
    r"|(?:CONFIGURATION|INPUT-OUTPUT|FILE|(?:WORKING|LOCAL)-STORAGE|LINKAGE)[ ]++SECTION[ ]*+\.)"
)
"""A record, section, paragraph or division that begins directly behind the sequence number or the blanks in its place, as Unisys'
compiler and those that count no columns accept it, and as a text has it whose second screen was pasted one column early."""

_EXEC = re.compile(r"(?i)(?<![\w-])(?:(?P<end>END-EXEC)|EXEC(?:UTE)?\s++(?:(?P<sql>SQL)|CICS|DLI))(?![\w-])")
"""Where an EXEC block begins or ends."""
_EMBEDDED_FROM = re.compile(r"(?:[ ]{6}|\d{6}(?!\d))(?:\w[^ ]|[:,('=<)]|--)")
"""A line of an EXEC block that begins in column 7. A letter before a blank may still be the mark of a shop for a comment, or the D
of a debug line."""
_HEADER = re.compile(r"(?i)[ ]{0,3}\w[\w-]*+(?:[ ]*+\.(?!\S)|[ ]++(?:SECTION|DIVISION)(?![\w-]))")
"""The header of a paragraph, section or division from column 8 on: an EXEC block that is not closed before it never is."""
# Group 1 is a comment; `/*` that nothing ends is none. A host variable may have two hyphens in a row, but none
# at its end.
_SQL_COMMENT = re.compile(r"'[^']*+'|\"[^\"]*+\"|:\s*+\w(?:[\w-]*\w)?|(--[^\n]*+|/\*(?s:.*?)\*/)|/\*(?s:.*+)")
_SQL_BEGINS = re.compile(r"EXEC(?:UTE)?\s++SQL(?![\w-])")
# In capitals. Letters come first, and then what may not be before them, as in `lexing`: this is a tenth of the time.
_SQL_MARK = re.compile(
    r"END(?<![\w-]END)-EXEC(?![\w-])(?P<end>)|EXEC(?<![\w-]EXEC)(?:UTE)?\s++(?:SQL(?P<sql>)|CICS|DLI)(?![\w-])"
    r"|\n(?P<line>)|--(?<![\w-]--)(?P<comment>)|/\*(?P<opened>)|\*/(?P<over>)"
)
"""Where an EXEC block begins or ends, or a comment of SQL in its line."""
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


class SourceReading(NamedTuple):
    """The lines of a file, and which part of them is code."""

    encoding: str
    format: Format
    """The format of the first line that has code."""
    switches: tuple[tuple[int, Format], ...]
    """From which line on which format applies."""
    code: str
    kinds: tuple[LineKind, ...]
    continued: frozenset[int]
    """The lines that cannot be separated from the line before."""
    starts: tuple[int, ...]
    """Where each line begins in `code`."""
    offsets: tuple[int, ...]
    """Where each line begins in the bytes."""
    warnings: tuple[Warned, ...]


def read(data: bytes, source_format: Format | None = None, *, debug_lines: bool = False) -> SourceReading:
    """Return which part of a file is code, line by line.

    Args:
        data: The file as it is.
        source_format: The format, instead of what the columns of the first lines say; directives override both.
        debug_lines: Whether lines with D in column 7 are code even if the program does not ask for debugging.
    """
    encoding, lines, offsets, warnings = records(data)
    page = _Page(lines, encoding)
    directed = page.having(">>", lines) + page.having("$", lines)
    switches = format_switches(doubled(lines, encoding), directed, source_format)
    bounds = [line for line, _ in switches[1:]] + [len(lines) + 1]
    # A file is read in stretches of one format each: a directive in the middle changes what columns mean from the
    # next line on, and a continuation looks back at code that was read before, so the order matters.
    for (first, form), end in zip(switches, bounds, strict=True):
        page.read(first - 1, end - 1, form)
    page.choose()
    page.debug(wanted=debug_lines)
    code, starts = page.joined()
    return SourceReading(
        encoding,
        _first_format(switches, page.code),
        switches,
        code,
        page.kinds(switches),
        frozenset(page.breaks),
        starts,
        offsets,
        (*warnings, *page.warnings),
    )


def shown(line: str, form: Format, kind: LineKind) -> str:
    """Return a line without what is neither code nor comment; the indicator in column 7 stays.

    Args:
        line: The line, decoded.
        form: The format that applies to it.
        kind: What it is. A directive is shown from where it begins, without the numbers before and after it.
    """
    text = line.expandtabs(TAB)
    if form != "free" and kind == "directive":
        # A directive may begin in column 1 as well as in column 8, so card numbers are recognized by their looks, not by column;
        # otherwise renumbering a program would cause questions about its first lines to be asked again.
        cards = text[: IDENTIFICATION if form == "fixed" else None].rstrip()
        return cards[number.end() :].lstrip() if (number := _NUMBERED.match(cards)) else cards.lstrip()
    if form != "free" and not (text[:1] in _INCLUDING and INCLUDED.match(text)):
        # Text that tabs push beyond column 72 is code: a file with tabs was never punched on cards.
        text = text[AREA_A - 1 : IDENTIFICATION if form == "fixed" and "\t" not in line else None]
    return text.rstrip()


def all_shown(lines: Sequence[str], form: Format, kinds: Sequence[LineKind]) -> list[str]:
    """Return the result of `shown` for each of some lines of one format."""
    columns = slice(None) if form == "free" else slice(AREA_A - 1, IDENTIFICATION if form == "fixed" else None)
    # Nearly all lines take the short way: a call for each would take twice as long.
    return [
        shown(line, form, kind)
        if kind == "directive" or "\t" in line or line[:1] in _INCLUDING
        else line[columns].rstrip()
        for line, kind in zip(lines, kinds, strict=True)
    ]


def _first_format(switches: tuple[tuple[int, Format], ...], code: list[str]) -> Format:
    """Return the format of the first line that has code, or that of line 1 if none has."""
    first = next((number for number, text in enumerate(code, start=1) if text and not text.isspace()), 1)
    return next(form for line, form in reversed(switches) if line <= first)


class _Page:
    """The lines of a file while code is being separated from the rest.

    `read` takes stretches of one format in order; `debug`, `joined` and `kinds` are called afterwards, once each.
    """

    def __init__(self, lines: list[str], encoding: str) -> None:
        """Take the lines of a file.

        Args:
            lines: The lines, decoded.
            encoding: Their codec: in a Japanese one, a letter may take two columns.
        """
        text = "\n".join(lines)
        upper = text.upper()
        # Most files have neither tabs nor directives: one search through the text saves a search in every line.
        self._marks = frozenset(mark for mark in _MARKS if mark in text)  # others need not be looked for line by line
        self._lists = any(word in upper for word in ("EJECT", "SKIP", "TITLE"))
        self._includes = any(mark in upper for mark in ("-INC ", "-INC\t", "++INCLUDE"))
        self._embeds = "EXEC" in upper
        self._comment = _COMMENT_BESIDE_SQL if "SQL" in upper else _COMMENT
        self._searched = 0  # the index up to which EXEC blocks were looked for
        self._is_within_exec = False
        self.lines = lines
        self._encoding = encoding
        self.code: list[str] = []
        self.marked: dict[int, LineKind] = {}  # by index
        self.breaks: set[int] = set()  # by number: lines that are joined to the one before
        self._last_break = 0
        self.warnings: list[Warned] = []
        self._debugged: dict[int, str] = {}
        self._open: dict[int, str] = {}  # the open quote with which a continuation begins
        self._unclosed: dict[int, str] = {}  # the open quote with which a continued line ends
        self._shifted: dict[int, int] = {}  # how many columns of a continuation precede what it adds
        self._behind: dict[int, int] = {}  # for a blank line, the last line with code before it

    def read(self, start: int, end: int, form: Format) -> None:
        """Add the lines from `start` to `end` (counted from 0, `end` excluded), which have one format.

        Args:
            start: The first line; the stretches follow each other, so everything before it has been read.
            end: The line after the last one.
            form: The format of all of them.
        """
        lines = self.lines[start:end]
        tabbed = self.having("\t", lines)
        for index in tabbed:
            lines[index] = lines[index].expandtabs(TAB)
        if form == "fixed":
            lines = in_columns(lines, self._encoding)
        odd: list[int] = []
        stop = IDENTIFICATION if form == "fixed" else None
        if form == "free":
            # In the terminal format of some compilers, which is read as free, an asterisk or a slash in column 1 makes a
            # comment. Within a sentence, a slash before something is a division in code that is not indented (`_starred`).
            self.code += ["" if line[:1] == "*" or line.rstrip() == "/" else line for line in lines]
        else:
            self.code += [
                line[AREA_A:stop] if line[6:7] == " " and not (line[:1] == "*" and _REMARK.match(line)) else ""
                for line in lines
            ]
            for index in tabbed:
                if self.code[start + index]:
                    self.code[start + index] = lines[index][AREA_A:]
            # Blank, `*` and `/` are the common indicators and are done here; the others are handled one by one below.
            odd = [index for index, line in enumerate(lines) if line[6:7] not in " */" and not _REMARK.match(line)]
        # Before continuations are joined: a comment at the end of a line is not part of the word that continues.
        for index in self.having("*>", self.code[start:]) + self.having("|", self.code[start:]):
            self.code[start + index] = self._uncommented(self.code[start + index])
        if form == "free":
            self._terminal(start, lines)
        if self._includes:
            odd = self._included(start, lines, odd)
        odd = self._ruled(start, lines, odd)
        for index in self.having("?", lines):
            if _ORDER.match(lines[index], at := 0 if form == "free" else AREA_A - 1):
                self.marked[start + index] = "directive"
                self.code[start + index] = _sourced(lines[index], at)
        self._precompiled(start, lines)
        if start == 0:
            self._options()
        for index in odd:
            self._indicated(start + index, lines[index], stop)
        for index in self.having(">>", lines) + self.having("$", lines):
            self._directed(start + index, lines[index])
        self._uncomment_sql(start)
        if self._lists:
            self._listing(start)
        self._starred(start, form)

    def _precompiled(self, start: int, lines: list[str]) -> None:
        """Take out the blocks of a precompiler: they are not code, and what they turn into is unknown."""
        for first in self.having("\\", lines):
            block = _BLOCK.match(lines[first])
            if block is None or start + first in self.marked:
                continue
            end = f"/{block['name']}-END\\".upper()
            following = range(first + 1, min(first + _BLOCK_LINES, len(lines)))
            last = next((at for at in following if lines[at].strip().upper() == end), first)
            for at in range(first, last + 1):
                if lines[at].lstrip()[:2] != "*>":  # a comment there is one, as anywhere
                    self.marked[start + at] = "directive"
                    self.code[start + at] = ""
            said = f"{lines[first].strip()} is for a precompiler: what it makes of it is not known"
            self.warnings.append(Warned(start + first + 1, said))

    def _uncommented(self, text: str, quote: str = "") -> str:
        """Return a line of code without the comment at its end.

        Args:
            text: The line.
            quote: The quote of the literal in which it begins, "" for none.
        """
        comment = self._comment.match(quote + text) if "*>" in text or "|" in text else None
        return text[: comment.end(1) - len(quote)] if comment else text

    def _uncomment_sql(self, start: int) -> None:
        """Take out the comments of SQL in its blocks: from two hyphens to the end of the line, and from `/*` to `*/`."""
        code = self.code[start:]
        text = "\n".join(code)
        # Most code has neither: EXEC is a word of prose and of names, and two hyphens are part of a literal.
        if not ("--" in text or "/*" in text) or _SQL_BEGINS.search(text.upper()) is None:
            return
        # A begin or an end within a literal is none; everything keeps its place.
        unquoted = "\n".join(QUOTED.sub(lambda literal: " " * len(literal[0]), line) for line in code)
        begin: int | None = None
        parts, at = [], 0
        for mark in _exec_marks(unquoted):
            if mark.lastgroup == "end" and begin is not None:
                parts += [text[at:begin], _SQL_COMMENT.sub(_blanked, text[begin : mark.start()])]
                at = mark.start()
            begin = mark.end() if mark.lastgroup == "sql" else None
        self.code[start:] = "".join([*parts, text[at:]]).split("\n")

    def _starred(self, start: int, form: Format) -> None:
        """Take out lines that begin with an asterisk at the start of a sentence.

        No sentence begins with one, so it is a comment in the wrong column. Elsewhere it multiplies, or means all columns in SQL.
        In free format, a slash in column 1 is treated alike.
        """
        code = self.code[start:]
        begun = [index for index in self.having("*", code) if code[index].lstrip()[:1] == "*"]
        if form == "free":
            begun += [index for index in self.having("/", code) if code[index][0] == "/"]
        for index in begun:
            index += start  # noqa: PLW2901
            if index + 1 in self.breaks:
                continue
            before = self._coded(index - 1)
            if before < 0 or _SENTENCE_ENDS.search(self.code[before]):
                self.code[index] = ""

    def having(self, mark: str, lines: list[str]) -> list[int]:
        """Return the indexes of the lines that contain a mark."""
        # A mark is rare, or only in comments: one search through all lines comes before one in each.
        if mark not in self._marks or mark not in "\n".join(lines):
            return []
        return [index for index, line in enumerate(lines) if mark in line]

    def debug(self, *, wanted: bool) -> None:
        """Turn debug lines into code, if the caller asks for it or their program says WITH DEBUGGING MODE."""
        if not self._debugged:
            return
        code = [QUOTED.sub("", line) for line in self.code]
        starts = begins(code)
        said = _DEBUGGING.finditer("\n".join(code))
        asked = [(-1, wanted), *((bisect(starts, one.start()) - 1, wanted or one[1] is not None) for one in said)]
        for index, line in self._debugged.items():
            if asked[bisect(asked, (index, False)) - 1][1]:
                self.code[index] = line

    def choose(self) -> None:
        """Take out the code that conditional compilation leaves out, if the source itself decides that."""
        directives = [(index + 1, self.lines[index]) for index, kind in self.marked.items() if kind == "directive"]
        if not directives:
            return
        choices = conditional(sorted(directives), len(self.code))
        self.warnings += choices.warnings
        for line in choices.left_out:
            self.code[line - 1] = ""
            self._debugged.pop(line - 1, None)

    def joined(self) -> tuple[str, tuple[int, ...]]:
        """Return all code as one text, and the offset of each line in it."""
        code = self.code
        starts = begins(code)
        if not self.breaks:
            return "\n".join(code), starts
        # One character for one: a break has the length of a newline, so that offsets and lines stay those of the
        # file.
        ends = [BREAK if number in self.breaks else "\n" for number in range(2, len(code) + 1)]
        return "".join(map(str.__add__, code, [*ends, ""])), starts

    def kinds(self, switches: tuple[tuple[int, Format], ...]) -> tuple[LineKind, ...]:
        """Return the kind of each line; a line without code but with text in its columns is a comment."""
        kinds: list[LineKind] = ["code" if text and not text.isspace() else "blank" for text in self.code]
        bounds = [line for line, _ in switches[1:]] + [len(kinds) + 1]
        for (first, form), end in zip(switches, bounds, strict=True):
            columns = slice(0, None) if form == "free" else slice(6, IDENTIFICATION if form == "fixed" else None)
            lines = self.lines
            for index in [index for index in range(first - 1, end - 1) if kinds[index] == "blank"]:
                text = lines[index][columns]
                if text and not text.isspace():
                    kinds[index] = "comment"
        for index, kind in self.marked.items():
            kinds[index] = kind
        return tuple(kinds)

    def _options(self) -> None:
        """Mark CBL and PROCESS lines, which precede all code, in any column."""
        for index, line in enumerate(self.lines[: len(self.code)]):
            if OPTIONS.match(line):
                self.marked[index] = "directive"
                self.code[index] = ""
            elif self.code[index] and not self.code[index].isspace():
                return

    def _ruled(self, start: int, lines: list[str], odd: list[int]) -> list[int]:
        """Take out the rulers of an editor; return the odd lines that are not rulers."""
        rulers = {index for index in self.having(_RULED, lines) if _RULER.match(lines[index])}
        for index in rulers:
            self.code[start + index] = ""
        return [index for index in odd if index not in rulers] if rulers else odd

    def _included(self, start: int, lines: list[str], odd: list[int]) -> list[int]:
        """Turn the includes of a librarian into code, wherever they begin; return the odd lines that are not includes."""
        for index, line in enumerate(lines):
            found = INCLUDED.match(line)
            if found is not None and line[6:7] not in "*/":
                self.code[start + index] = f"{found[1].upper()} {found[2]}"
        return [index for index in odd if not INCLUDED.match(lines[index])]

    def _indicated(self, index: int, line: str, stop: int | None) -> None:
        """Read a line whose column 7 is neither a blank nor a comment indicator."""
        indicator, text = line[6], line[AREA_A:stop]
        if (indicator.isalnum() and _BEHIND_MARGIN.match(line[:stop])) or self._is_embedded(index, line):
            self.code[index] = indicator + text
            self.warnings.append(Warned(index + 1, f"column 7 holds {indicator!r}: read as code"))
        elif indicator in "Dd":
            self.marked[index] = "debug"
            self._debugged[index] = self._uncommented(text)
        elif indicator == "-":
            self._continue(index, text, stop)
        elif indicator not in _NO_INDICATORS and index not in self.marked and not _is_told(line):
            self.warnings.append(Warned(index + 1, f"column 7 holds {indicator!r}: read as a comment"))

    def _is_embedded(self, index: int, line: str) -> bool:
        """Return whether a line is code of an EXEC block from column 7 on, which its translator takes as any other column.

        Lines are asked about in their order, so that each is searched once for the blocks that begin and end in it.
        """
        if not self._embeds or not _EMBEDDED_FROM.match(line):
            return False
        for code in self.code[self._searched : index]:
            if _HEADER.match(code):
                self._is_within_exec = False
            for mark in _EXEC.finditer(QUOTED.sub("", code)):
                self._is_within_exec = not mark["end"]
        self._searched = index
        return self._is_within_exec or _EXEC.match(line[AREA_A - 1 :]) is not None

    def _continue(self, index: int, text: str, stop: int | None) -> None:
        """Join a line to the last one before it that has code: a literal after its quote, a word after its last letter."""
        # A literal continues after the quote that its continuation repeats, and its padding up to column 72 is part of
        # it; a word continues directly after its last letter. Whether the previous line ends inside a literal depends on
        # whether it begins inside one: `_open` keeps that by line, so that only one line is read and not the whole
        # literal. `_unclosed` keeps the answer, because many continuations may have the same previous line
        # (`-*>` holds no code).
        code = self.code
        columns = len(text)
        text = text.lstrip()
        code[index] = text
        previous = self._coded(index - 1)
        if not text or previous < 0:
            return
        quote = self._unclosed.get(previous)
        if quote is None:
            quote = self._unclosed[previous] = open_quote(self._open.get(previous, "") + code[previous])
        width = stop - AREA_A - self._shifted.get(previous, 0) if stop else 0
        if quote:
            code[previous] = code[previous].ljust(width)
            text = text.removeprefix(quote)
            self._open[index] = quote
        else:
            code[previous] = code[previous].rstrip()
            # A literal with a quote in its last column continues with two: a doubled quote, split across the lines.
            if len(code[previous]) == width and text[:2] == code[previous][-1:] * 2 and text[0] in "'\"":
                text = text[1:]
        self._shifted[index] = columns - len(text)
        code[index] = self._uncommented(text, quote)
        # Comments and blank lines between the two are joined as well: a chunk cut there would split the word. Each
        # line is added once, starting after the last one added; their blanks are not part of the word.
        joined = range(max(previous + 2, self._last_break + 1), index + 2)
        self.breaks.update(joined)
        for number in joined[:-1]:
            code[number - 1] = ""
        self._last_break = index + 1

    def _terminal(self, start: int, lines: list[str]) -> None:
        """Join the literals that a hyphen in column 1 continues, as in the terminal format of some compilers.

        After a line that ends within a literal, the hyphen is nothing else; after any other line, it is a minus.
        """
        for index in [index for index, line in enumerate(lines) if line[:1] == "-"]:
            text = lines[index][1:]
            previous = self._coded(start + index - 1)
            quote = open_quote(self._open.get(previous, "") + self.code[previous]) if previous >= 0 else ""
            if quote and text.lstrip()[:1] == quote:
                self._continue(start + index, text, None)

    def _coded(self, index: int) -> int:
        """Return the last line up to this one that has code, or -1. Lines found blank are not examined again."""
        code, at = self.code, index
        # Earlier answers let blank stretches be skipped; without them, n blank lines before n continuations would cost
        # n * n looks.
        while at >= 0 and (not code[at] or code[at].isspace()):
            at = self._behind.get(at, at - 1)
        if at < index:
            self._behind[index] = at
        return at

    def _directed(self, index: int, line: str) -> None:
        """Mark a directive line, and hold back the code of a `>>D` line."""
        directive = DIRECTIVE.match(line)
        if directive is None:
            return
        if directive["debug"]:
            self.marked[index] = "debug"
            self._debugged[index] = self._uncommented(line[directive.end() :])
        else:
            self.marked[index] = "directive"
        self.code[index] = ""

    def _listing(self, start: int) -> None:
        """Mark EJECT, SKIP1 to SKIP3 and TITLE: listing directives that need no period, so that no sentence begins
        with them. Within a sentence, TITLE is a clause of a screen control.
        """
        has_ended, looked_at = True, 0  # whether the code before a line ends with a period; there may be none
        for index in [index for index in range(start, len(self.code)) if _LISTING.match(self.code[index])]:
            before = next((code for code in reversed(self.code[looked_at:index]) if code and not code.isspace()), "")
            has_ended = before.rstrip().endswith(".") if before else has_ended
            looked_at = index
            if self.code[index].lstrip()[:1] in "Tt" and not has_ended:
                continue
            self.marked[index] = "directive"
            self.code[index] = ""


def _is_told(line: str) -> bool:
    """Return whether the content of column 7 needs no warning: a directive, or a comment that begins in the margin."""
    return DIRECTIVE.match(line) is not None or line.lstrip().startswith("*>")


def _sourced(line: str, at: int) -> str:
    """Return the COPY that a directive amounts to; nothing for one that does not copy."""
    found = _SOURCED.match(line, at)
    if found is None:
        return ""
    library = found["library"].replace('"', "")
    names = (found["names"] or "").replace(",", " ").split()
    return " ".join(f'COPY {name} OF "{library}".' for name in names) or f'COPY "{library}".'


def capitals(text: str) -> str:
    """Return a text with a to z in upper case, of the same length: `str.upper` turns some letters into two (`ß`)."""
    if text.isascii():
        return text.upper()
    # `translate` takes thirty times as long as `upper`: only lines with other letters need it.
    return "\n".join([line.upper() if line.isascii() else line.translate(_UPPER) for line in text.split("\n")])


def _exec_marks(text: str) -> list[re.Match[str]]:
    """Return where EXEC blocks begin or end in a text without literals.

    What a comment of SQL says, in the rest of its line, begins nothing, and ends a block only if nothing else does.
    """
    marks: list[re.Match[str]] = []
    comment, is_said = "", False  # whether a comment says the last mark
    for found in _SQL_MARK.finditer(capitals(text)):
        kind = found.lastgroup
        if kind == "line":
            comment = ""
        elif kind in {"comment", "opened"}:
            comment = comment or found[0]
        elif kind == "over":
            comment = "" if comment == "/*" else comment
        elif kind == "end" or not comment:
            if is_said and kind == "end":
                marks.pop()
            marks.append(found)
            is_said = comment != ""
    return marks


def _blanked(found: re.Match[str]) -> str:
    """Return blanks in place of a comment of SQL, on as many lines; anything else as it is."""
    return re.sub(r"[^\n]", " ", found[0]) if found[1] else found[0]
