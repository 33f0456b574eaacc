"""Tell what of a file is code: its encoding, its records, the format of its columns, and the kind of each line.

What comes out has a line for every line of the file, in which what is no code is blank: sequence numbers, indicators,
comments, debug lines, directives, columns 73 to 80. A continued line follows the line that it continues after `BREAK`
in place of a newline, so that a literal or word may run on and lines still count.

Keeps out tokens and names: nothing here knows a verb, only the few words that change how columns are read (CBL,
PROCESS, the directives, EJECT, WITH DEBUGGING MODE, the `?SECTION` that begins a member of a library).

Law: any bytes are read, in linear time; the lines are those of the file, one for one.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from .conditional import conditional
from .program import Format, LineKind, Warned

if TYPE_CHECKING:
    from collections.abc import Sequence

BREAK = "\x1f"
"""The character (U+001F) that stands where a continued line goes on, perhaps in the middle of a word or literal. To
regular expressions it is a blank."""

RECORD_BYTES = 80
"""The length of a card in bytes, and of a record of a data set member that was copied without its record ends."""
_TAB = 8
_AREA_A, _IDENTIFICATION = 7, 72  # the columns where code begins and ends, counted from 0
_PROBED_LINES = 500
# In EBCDIC a record may end with NEL or with LF, depending on the tool that transferred it.
_RECORD_MARKS = {"cp037": (b"\x15", b"\x25")}
_UNREAD = "\ufffd"
"""What stands for a byte that is no letter of its codec: one for each, so that columns and lines hold."""
_LETTERS_OF_DAMAGE = 10
"""How many letters a codec must read for each one that it cannot, to be the codec of a file all the same."""
# Letters of two bytes, as their first bytes tell the codecs apart, and which of those are usual: signs, kana, and the first
# thousands of kanji. With the JIS of 2004 go the signs that vendors added to EUC.
_PAIRS_OF_BYTES = {
    "cp932": re.compile(rb"(?>(?:[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc])+)"),
    "euc_jis_2004": re.compile(rb"(?>(?:[\xa1-\xfe][\xa1-\xfe])+)"),
}
_USUAL_LEADS = {"cp932": range(0x81, 0x99), "euc_jis_2004": (*range(0xA1, 0xA9), *range(0xB0, 0xD0))}
_EUC_KANA = b"\xa4\xa5"
"""The leads of kana in EUC: Korean and Chinese share the others."""
_LETTERS_OF_A_KANA = 50
# What text in Latin-1 does not have: two letters of two bytes and more, the boxes of DOS, or a letter of UTF-8.
_HIGH = re.compile(rb"[\x80-\xff]++")
_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}  # by the mark that they begin with

# The expressions are possessive throughout: a line of a megabyte of blanks must not be tried from every column.
_BEFORE = r"(?:[ \t\d]*+|[\w ]{6}[ \t]++)"  # a directive: blanks, or what marks a line in columns 1 to 6
_DIRECTIVE = re.compile(
    _BEFORE + r"(?:>>[ \t]*+(?P<debug>[Dd][ \t])?|\$[ \t]*+(?=(?i:set|if|elif|else|end|region|display)\b))"
)
_SWITCH = re.compile(
    rf"(?i){_BEFORE}(?:>>[ \t]*+source(?:[ \t]++format)?(?:[ \t]++is)?|(?:>>|\$)[ \t]*+set[ \t]++(?:sourceformat|srcformat))"
    r"[ \t(\"']*+(free|fixed|variable)"
)
_OPTIONS = re.compile(r"(?i)[ \t\d]{0,8}+(?:cbl|process)(?:[ \t]|$)")
_LISTING = re.compile(r"(?i)\s*+(?:eject|skip[123]|title\s++(?:'[^']*'|\"[^\"]*\"))\s*+\.?\s*+\Z")
_DEBUGGING = re.compile(r"(?i)(?<![\w-])debugging\s++mode(?![\w-])")
# What a librarian puts in place before anything is compiled: `-INC` from column 1 or 7, `++INCLUDE` mostly from 8.
_INCLUDED = re.compile(r"(?i)(?:[ \t\d]*+|[^ ]{6}[ ]++)(-INC|\+\+INCLUDE)[ \t]++([\w$#@-]++)")
# Group 1 is the code before the comment: literals are passed over whole, so that `*>` inside of one is text. ACUCOBOL
# begins one with a bar, too; two of them join texts in SQL.
_COMMENT = re.compile(r"((?>(?:[^'\"*|]++|'[^']*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|\*(?!>)|\|\|)*))(?:\*>|\|)")
_SENTENCE_ENDS = re.compile(r"(?i)(?:\.|(?<![\w-])END-EXEC)\s*+\Z")
# Closed literals match without a group; a quote that is left over is the one that is open at the end of the line.
_QUOTED = re.compile(r"'[^']*+'|\"[^\"]*+\"|(['\"])")
# Between shift-out and shift-in a byte is half a letter, even where it is the byte of a quote.
_SHIFTED = re.compile("\x0e([^\x0f\n]*+)\x0f")
# Group 1 is what stands in front of a division header on its line: blank and short only in free format.
_HEADER = re.compile(
    r"([^*]{0,12}?)(?:(?:IDENTIFICATION|ID|ENVIRONMENT|DATA|PROCEDURE)[ \t]++DIVISION|(?:PROGRAM|FUNCTION|CLASS)-ID)\b"
)
_RUNS_ON = re.compile(r"[ ]{5}\d\d[ ]|[ ]{0,5}(?:\*>|[A-Za-z][\w-]*+(?<=[ \w-]{7}))")
"""A line that begins in the margin and goes on over column 7 with a word, or is a comment of free format."""
_TORN = re.compile(r"[\w-]{2}")
_NUMBERED = re.compile(r"\d{1,6}(?=[ ])")
_CARD = re.compile(r"[ \d]{6}[*/-]")
_TAGGED = re.compile(r"(?![ ]{6}).{6}(?:[ ]|\Z)|[ ]{6}[Dd]")
"""A line with a number or tag in columns 1 to 6, or one for debugging."""
_FREE_COMMENTS = frozenset("*/")
_ORDER = re.compile(r"\?[A-Za-z]")  # of NonStop's compiler, where its lines have their indicator
# What a precompiler of MySQL takes, from `/MYSQL SELECT\` to `/MYSQL-END\`.
_BLOCK = re.compile(r"[ \t]*+/(?P<name>[A-Za-z]++)[ \t]++[A-Za-z-]++\\[ \t]*+\Z")
_BLOCK_LINES = 500
_MARKS = ("\t", "*>", "*", "|", ">>", "$", "?", "\\")
_FORMATS: dict[str, Format] = {"fixed": "fixed", "free": "free", "variable": "variable"}
_NOTHING = {0: " ", 0x1A: " "}  # what fills records, and what ended files
_NO_INDICATORS = frozenset("$>?")
_INDICATORS = frozenset(["", *" *-/Dd$"])


class SourceReading(NamedTuple):
    """The lines of a file, and what of them is code."""

    encoding: str
    format: Format
    """The format of the first line that has code."""
    switches: tuple[tuple[int, Format], ...]
    """From which line on which format holds."""
    code: str
    kinds: tuple[LineKind, ...]
    continued: frozenset[int]
    """The lines that cannot be parted from the line before."""
    starts: tuple[int, ...]
    """Where each line begins in `code`."""
    offsets: tuple[int, ...]
    """Where each line begins in the bytes."""
    warnings: tuple[Warned, ...]


def read(data: bytes, source_format: Format | None = None, *, debug_lines: bool = False) -> SourceReading:
    """Return what of a file is code, line by line.

    Args:
        data: The file as it is.
        source_format: The format, instead of what the columns of the first lines say; directives overrule both.
        debug_lines: Whether lines with D in column 7 are code, also where the program does not ask for debugging.
    """
    encoding, doubt = _encoding(data)
    lines, offsets = _records(data, encoding)
    page = _Page(lines, encoding)
    page.warnings += _unended(data, lines, encoding)
    if doubt:
        page.warnings.append(Warned(next(n for n, line in enumerate(lines, 1) if _is_doubtful(line, encoding)), doubt))
    switches = _switches(page, source_format)
    bounds = [line for line, _ in switches[1:]] + [len(lines) + 1]
    # A file is read in stretches of one format each: a directive in the middle changes what columns mean from the
    # next line on, and a continuation looks back at code that was read before, so the order matters.
    for (first, form), end in zip(switches, bounds, strict=True):
        page.read(first - 1, end - 1, form)
    page.debug(wanted=debug_lines)
    page.choose()
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
        tuple(page.warnings),
    )


def shown(line: str, form: Format, kind: LineKind) -> str:
    """Return a line without what is neither code nor comment; the indicator in column 7 stays.

    Args:
        line: The line, decoded.
        form: The format that holds on it.
        kind: What it is. A directive is shown from where it stands, without the numbers in front of and behind it.
    """
    text = line.expandtabs(_TAB)
    if form != "free" and kind == "directive":
        # It may begin in column 1 as well as in column 8, so that no column is its own: what counts the cards goes by its
        # looks, or numbering a program anew would ask about its first lines again.
        cards = text[: _IDENTIFICATION if form == "fixed" else None].rstrip()
        return cards[number.end() :].lstrip() if (number := _NUMBERED.match(cards)) else cards.lstrip()
    if form != "free":
        # Text that tabs carry beyond column 72 is code: where people typed tabs, no card was punched.
        text = text[_AREA_A - 1 : _IDENTIFICATION if form == "fixed" and "\t" not in line else None]
    return text.rstrip()


def all_shown(lines: Sequence[str], form: Format, kinds: Sequence[LineKind]) -> list[str]:
    """Return what `shown` gives for each of some lines of one format."""
    columns = slice(None) if form == "free" else slice(_AREA_A - 1, _IDENTIFICATION if form == "fixed" else None)
    # As nearly all lines are: a call for each would take twice as long.
    return [
        line[columns].rstrip() if kind != "directive" and "\t" not in line else shown(line, form, kind)
        for line, kind in zip(lines, kinds, strict=True)
    ]


def _encoding(data: bytes) -> tuple[str, str]:
    """Return the codec of a file, told by its bytes alone, and what is doubtful of it, "" where nothing is.

    No file is refused: what is neither UTF-16 by its mark, nor EBCDIC by its blanks, nor UTF-8, nor Japanese by its pairs
    of bytes is Latin-1, which decodes any byte to one character and so keeps the columns. A byte here and there that is no
    letter makes no other codec of a file.
    """
    if data.isascii():
        return "utf-8", ""
    # The mark alone is not enough: an odd byte at the end makes the file no UTF-16, and decoding must not fail later.
    if data[:2] in _WIDE and _damage(data, _WIDE[data[:2]]) == 0:
        return _WIDE[data[:2]], ""
    # in EBCDIC a blank is 0x40 and letters lie above 0xC0; 0x20 is a control character
    sample = data[:65_536]
    if sample.count(b"\x40") > max(len(sample) // 20, 4 * sample.count(b"\x20")):
        return "cp037", ""
    for encoding in ("utf-8", *_PAIRS_OF_BYTES):
        damage = _damage(data, encoding) if encoding == "utf-8" or _is_japanese(data, encoding) else None
        if damage is not None:
            return (
                encoding,
                f"bytes that are no letters of {encoding}: {damage}, each read as {_UNREAD}" if damage else "",
            )
    high = _HIGH.findall(data)
    paired = [run for run in high if len(run) > 3 and len(set(run)) > 1] or _UTF_8.findall(data)
    if 2 * sum(map(len, paired)) > sum(map(len, high)):
        return "latin-1", "letters of an encoding that is not known: each byte is read as a letter of latin-1"
    return "latin-1", ""


def _is_doubtful(line: str, encoding: str) -> bool:
    """Return whether a line is one that the doubt about an encoding speaks of."""
    return not line.isascii() if encoding == "latin-1" else _UNREAD in line


def _is_japanese(data: bytes, encoding: str) -> bool:
    """Return whether a file that is no UTF-8 may be in a codec of Japanese: its pairs stand together and are usual letters.

    A letter with an accent makes such a pair with the letter behind it, but one pair alone, and of other lead bytes: those
    of Shift-JIS that are usual are controls in Latin-1, or the quotes of Windows.
    """
    runs = _PAIRS_OF_BYTES[encoding].findall(data)
    leads = b"".join([run[::2] for run in runs])
    together = sum(len(run) // 2 for run in runs if len(run) > 2)
    usual = sum(map(leads.count, _USUAL_LEADS[encoding]))
    kana = sum(map(leads.count, _EUC_KANA)) if encoding != "cp932" else len(leads)
    return together * 2 > len(leads) and usual * 4 > len(leads) * 3 and kana * _LETTERS_OF_A_KANA > len(leads)


def _damage(data: bytes, encoding: str) -> int | None:
    """Return how many bytes are no letters of a codec; None where it reads too few others to be that of the file."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        damage = text.count(_UNREAD)
        letters = len(text) - len(text.encode("ascii", "ignore")) - damage
        return damage if letters >= damage * _LETTERS_OF_DAMAGE else None
    return 0


def _records(data: bytes, encoding: str) -> tuple[list[str], tuple[int, ...]]:
    r"""Return the lines of a file without their ends, and the byte offset at which each begins.

    The two must agree: line n of the text is the stretch of bytes from offset n to offset n + 1, because citations
    are checked in the text and chunks are cut in the bytes. So bytes are split first, or in a codec in which a
    newline is one byte that stands for nothing else; "\n" is the only end of line, never what `str.splitlines` takes
    for one (form feed, U+2028).
    """
    if not data:
        return [], ()
    if encoding in _WIDE.values():
        # UTF-16 is split after decoding: the two bytes of a newline also occur across two letters, as in U+0A0A.
        lines = data.decode(encoding).removesuffix("\n").split("\n")
        units = [line.encode(encoding)[::2] for line in lines]  # a byte for each unit of two
        lines[0] = lines[0].removeprefix("\ufeff")
        return [line.translate(_NOTHING).rstrip("\r") for line in lines], tuple(2 * at for at in _begins(units))
    marks = _RECORD_MARKS.get(encoding, (b"\n",))
    # Only one of the two ends records; the other one, where it occurs, is data.
    mark = max(marks, key=data.count)
    # No end at all and a length of whole cards: a data set member that was downloaded in binary.
    if mark not in data and encoding in _RECORD_MARKS and len(data) % RECORD_BYTES == 0:
        records = [data[at : at + RECORD_BYTES] for at in range(0, len(data), RECORD_BYTES)]
        offsets = tuple(range(0, len(data), RECORD_BYTES))
    else:
        records = data.split(mark)
        if not records[-1]:
            records.pop()
        offsets = _begins(records)
    if encoding == "cp037":
        lines = [
            _SHIFTED.sub(_double_bytes, record.decode(encoding).rstrip("\n\x85").replace("\n", " "))
            for record in records
        ]
    else:
        lines = data.decode(encoding, "replace").split("\n")[: len(records)]
        lines[0] = lines[0].removeprefix("\ufeff")
    if b"\0" in data or b"\x1a" in data:
        lines = [line.translate(_NOTHING) for line in lines]
    if b"\r" in data or encoding == "cp037":
        lines = [line.rstrip("\r\x85") for line in lines]
    return lines, offsets


def _unended(data: bytes, lines: list[str], encoding: str) -> list[Warned]:
    """Return a warning where the lines of a file end in a way that is not known here, so that they run together."""
    returned = next((number for number, line in enumerate(lines, 1) if "\r" in line), 0) if b"\r" in data else 0
    if returned:
        return [Warned(returned, "carriage returns alone end no line: what follows them is read as the same one")]
    if encoding == "cp037" and len(lines) == 1 and len(data) > RECORD_BYTES:
        return [Warned(1, f"neither ends of records nor records of {RECORD_BYTES} bytes: all is read as one line")]
    return []


def _double_bytes(shifted: re.Match[str]) -> str:
    """Return a shifted stretch of EBCDIC with an underscore for every byte: its letters are in a table that is not here."""
    return f"\x0e{'_' * len(shifted[1])}\x0f"


def _begins(lines: list[bytes] | list[str]) -> tuple[int, ...]:
    """Return where each line begins, where one character stands between two of them."""
    return (0, *accumulate([length + 1 for length in map(len, lines)]))[: len(lines)]


def _switches(page: _Page, source_format: Format | None) -> tuple[tuple[int, Format], ...]:
    """Return from which line on which format holds: the first line, and every line behind a directive that changes it.

    A directive with nothing but blanks and other directives in front of it decides for the first lines, too, for the
    columns of those say nothing.
    """
    lines = page.lines
    found: list[tuple[int, Format]] = []
    for index in sorted({*page.having(">>", lines), *page.having("$", lines)}):
        switch = _SWITCH.match(lines[index])
        if switch:
            # From the next line on; index counts from 0, lines from 1.
            found.append((index + 2, _FORMATS[switch[1].lower()]))
    before = lines[: found[0][0] - 2] if found else lines
    if found and all(not line or line.isspace() or _DIRECTIVE.match(line) for line in before):
        first = found[0][1]
    else:
        first = source_format or _detected(before)
    formats = [(1, first), *found]
    return (formats[0], *(here for last, here in pairwise(formats) if last[1] != here[1]))


def _detected(lines: list[str]) -> Format:
    """Return the format that the columns of a source speak for, where nothing says it.

    Three questions, in this order. Do division headers begin in columns 1 to 7, where fixed format has the sequence
    number? Most of them: free. Is there code in those columns on too many lines (a third of them, or a sixth where
    there is no header to ask)? Free. Do lines beyond column 80 run through column 72 without a gap of two blanks?
    Most of them: variable, for in fixed format what stands behind column 72 is an identification, set apart from the
    code. Would more literals and words be cut there than there are identifications? Variable, too.
    """
    sample = [
        line.expandtabs(_TAB)
        for line in lines[:_PROBED_LINES]
        if line and not line.isspace() and not _INCLUDED.match(line) and not _OPTIONS.match(line)
    ]
    free = sum(map(_begins_in_margin, sample))
    # Only lines that may hold DIVISION or an -ID are looked at: the pattern is costly, "IVI" and "-I" are not.
    spoken = [line.upper() for line in sample if "IVI" in line or "ivi" in line or "-I" in line or "-i" in line]
    prefixes = [header[1] for header in map(_HEADER.match, spoken) if header]
    margin = sum(len(prefix) < _AREA_A and not prefix.strip() for prefix in prefixes)
    if margin * 2 > len(prefixes) or free * (6 if not prefixes else 3) > len(sample):
        return "free"
    # A copybook of a few lines, most of them indented: one that runs from the margin over column 7 says enough where no line
    # has an indicator there.
    runs_on = any(map(_RUNS_ON.match, sample)) and not any(map(_CARD.match, sample))
    if runs_on and not prefixes:
        return "free"
    # In old estates every line is a wider one: each is looked at once.
    wider = [at for at, line in enumerate(lines) if len(line) > _IDENTIFICATION and _is_wider(line)]
    torn = {at for at in wider if _is_cut(lines[at])}
    apart = {at for at in wider if at not in torn and "  " in lines[at][_IDENTIFICATION - 3 : _IDENTIFICATION + 3]}
    # So does one in an indented program that has nothing of fixed format: neither numbers nor tags nor identifications.
    if runs_on and not apart and not any(map(_TAGGED.match, sample)):
        return "free"
    wide = [at for at in wider if len(lines[at]) > RECORD_BYTES and lines[at][RECORD_BYTES:].strip()]
    cut = sum(at + 1 == len(lines) or lines[at + 1][6:7] != "-" for at in torn)
    return "variable" if sum(at not in apart for at in wide) * 2 > len(wide) or cut > len(apart) else "fixed"


def _is_cut(line: str) -> bool:
    """Return whether column 72 would cut a literal of a wider line that is closed behind it, or a word that ends anywhere but
    in column 80.

    What is left of the literal would be closed by nobody. A name that an editor adds fills its eight columns.
    """
    quote = _open_quote(line[_AREA_A:_IDENTIFICATION]) if "'" in line or '"' in line else ""
    if quote:
        return not _open_quote(quote + line[_IDENTIFICATION:])
    return _TORN.match(line, _IDENTIFICATION - 1) is not None and len(line.rstrip()) != RECORD_BYTES


def _is_wider(line: str) -> bool:
    """Return whether a line of code has something behind column 72, which it reaches; one with tabs has its columns elsewhere."""
    return line[6] == " " and not line[_IDENTIFICATION:].isspace() and "\t" not in line


def _begins_in_margin(line: str) -> bool:
    """Return whether a line has code where fixed format has a sequence number and the indicator.

    Something in column 7 that is no indicator says so; so does a blank inside of columns 1 to 6, or a word with its
    hyphen in column 7 (`OUTPUT-FILE`), which else would be a continuation.
    """
    if line[6:7] not in _INDICATORS:
        return True
    margin = line[:6].strip()
    return bool(margin) and (" " in margin or (line[6:7] == "-" and line[5] != " " and line[7:8].isalnum()))


def _first_format(switches: tuple[tuple[int, Format], ...], code: list[str]) -> Format:
    """Return the format of the first line that has code, that of line 1 where none has."""
    first = next((number for number, text in enumerate(code, start=1) if text and not text.isspace()), 1)
    return next(form for line, form in reversed(switches) if line <= first)


class _Page:
    """The lines of a file while code is being told from the rest.

    `read` takes stretches of one format in order; `debug`, `joined` and `kinds` are asked afterwards, once each.
    """

    def __init__(self, lines: list[str], encoding: str) -> None:
        """Take the lines of a file.

        Args:
            lines: The lines, decoded.
            encoding: Their codec: in one of Japanese a letter may take two columns.
        """
        text = "\n".join(lines)
        upper = text.upper()
        # Most files have neither tabs nor directives: one search through the text saves a search in every line.
        self._marks = frozenset(mark for mark in _MARKS if mark in text)  # what need not be looked for line by line
        self._lists = any(word in upper for word in ("EJECT", "SKIP", "TITLE"))
        self._includes = "-INC" in upper or "++INCLUDE" in upper
        self.lines = lines
        self._wide = encoding if encoding in _PAIRS_OF_BYTES else ""
        self.code: list[str] = []
        self.marked: dict[int, LineKind] = {}  # by index
        self.breaks: set[int] = set()  # by number: the line is joined to the one before
        self._last_break = 0
        self.warnings: list[Warned] = []
        self._debugged: dict[int, str] = {}
        self._open: dict[int, str] = {}  # the quote in which a continuation begins
        self._unclosed: dict[int, str] = {}  # the quote in which a continued line ends
        self._behind: dict[int, int] = {}  # the line with code behind which blank lines end

    def read(self, start: int, end: int, form: Format) -> None:
        """Add the lines from `start` to `end` (counted from 0, `end` excluded), which have one format.

        Args:
            start: The first line; the stretches follow each other, so everything before it has been read.
            end: The line behind the last one.
            form: The format of all of them.
        """
        lines = self.lines[start:end]
        tabbed = self.having("\t", lines)
        for index in tabbed:
            lines[index] = lines[index].expandtabs(_TAB)
        if self._wide and form == "fixed":
            lines = [line if line.isascii() else _in_columns(line, self._wide) for line in lines]
        odd: list[int] = []
        stop = _IDENTIFICATION if form == "fixed" else None
        if form == "free":
            # In the terminal format of some compilers, which is read as free, an asterisk or a slash in column 1 makes a
            # comment. No sentence begins with one, and who breaks an expression does not come back to column 1.
            self.code += ["" if line[:1] in _FREE_COMMENTS else line for line in lines]
        else:
            self.code += [line[_AREA_A:stop] if line[6:7] == " " else "" for line in lines]
            for index in tabbed:
                if lines[index][6:7] == " ":
                    self.code[start + index] = lines[index][_AREA_A:]
            # Blank, `*` and `/` are the common indicators and need no more than a look; the rest is sorted out one by
            # one below.
            odd = [index for index, line in enumerate(lines) if line[6:7] not in " */"]
        # Before continuations are joined: a comment at the end of a line is no part of the word that goes on.
        for index in self.having("*>", self.code[start:]) + self.having("|", self.code[start:]):
            self.code[start + index] = _uncommented(self.code[start + index])
        if self._includes:
            odd = self._included(start, lines, odd)
        for index in self.having("?", lines):
            if _ORDER.match(lines[index], 0 if form == "free" else _AREA_A - 1):
                self.marked[start + index] = "directive"
                self.code[start + index] = ""
        self._precompiled(start, lines)
        if start == 0:
            self._options()
        for index in odd:
            self._indicated(start + index, lines[index], stop)
        for index in self.having(">>", lines) + self.having("$", lines):
            self._directed(start + index, lines[index])
        if self._lists:
            self._listing(start)
        self._starred(start)

    def _precompiled(self, start: int, lines: list[str]) -> None:
        """Take the blocks of a precompiler: they are no code, and what becomes of them is not known."""
        for first in self.having("\\", lines):
            block = _BLOCK.match(lines[first])
            if block is None or start + first in self.marked:
                continue
            end = f"/{block['name']}-END\\".upper()
            following = range(first + 1, min(first + _BLOCK_LINES, len(lines)))
            last = next((at for at in following if lines[at].strip().upper() == end), first)
            for index in range(start + first, start + last + 1):
                self.marked[index] = "directive"
                self.code[index] = ""
            said = f"{lines[first].strip()} is for a precompiler: what it makes of it is not known"
            self.warnings.append(Warned(start + first + 1, said))

    def _starred(self, start: int) -> None:
        """Take out the lines that begin with an asterisk where a sentence begins: none does, so that it is a comment beside its
        column. Behind anything else it multiplies, or is all columns of SQL.
        """
        for index in self.having("*", self.code[start:]):
            index += start  # noqa: PLW2901
            if self.code[index].lstrip()[:1] != "*" or index + 1 in self.breaks:
                continue
            before = self._coded(index - 1)
            if before < 0 or _SENTENCE_ENDS.search(self.code[before]):
                self.code[index] = ""

    def having(self, mark: str, lines: list[str]) -> list[int]:
        """Return the indexes of the lines that hold a mark."""
        return [index for index, line in enumerate(lines) if mark in line] if mark in self._marks else []

    def debug(self, *, wanted: bool) -> None:
        """Make debug lines code, where the caller asks for that or the program says WITH DEBUGGING MODE."""
        if self._debugged and (wanted or _DEBUGGING.search("\n".join(_QUOTED.sub("", text) for text in self.code))):
            for index, text in self._debugged.items():
                self.code[index] = text

    def choose(self) -> None:
        """Take out the code that conditional compilation leaves out, where the source itself says so."""
        directives = [(index + 1, self.lines[index]) for index, kind in self.marked.items() if kind == "directive"]
        if not directives:
            return
        choices = conditional(sorted(directives), len(self.code))
        self.warnings += choices.warnings
        for line in choices.left_out:
            self.code[line - 1] = ""

    def joined(self) -> tuple[str, tuple[int, ...]]:
        """Return all code as one text, and the offset at which each line begins in it."""
        code = self.code
        starts = _begins(code)
        if not self.breaks:
            return "\n".join(code), starts
        # One character for one: a break has the length of a newline, so that offsets and lines stay those of the
        # file.
        ends = [BREAK if number in self.breaks else "\n" for number in range(2, len(code) + 1)]
        return "".join(map(str.__add__, code, [*ends, ""])), starts

    def kinds(self, switches: tuple[tuple[int, Format], ...]) -> tuple[LineKind, ...]:
        """Return what each line is; a line without code but with text in its columns is a comment."""
        kinds: list[LineKind] = ["code" if text and not text.isspace() else "blank" for text in self.code]
        bounds = [line for line, _ in switches[1:]] + [len(kinds) + 1]
        for (first, form), end in zip(switches, bounds, strict=True):
            columns = slice(0, None) if form == "free" else slice(6, _IDENTIFICATION if form == "fixed" else None)
            lines = self.lines
            for index in [index for index in range(first - 1, end - 1) if kinds[index] == "blank"]:
                text = lines[index][columns]
                if text and not text.isspace():
                    kinds[index] = "comment"
        for index, kind in self.marked.items():
            kinds[index] = kind
        return tuple(kinds)

    def _options(self) -> None:
        """Mark CBL and PROCESS lines, which stand before all code and in any column."""
        for index, line in enumerate(self.lines[: len(self.code)]):
            if _OPTIONS.match(line):
                self.marked[index] = "directive"
                self.code[index] = ""
            elif self.code[index] and not self.code[index].isspace():
                return

    def _included(self, start: int, lines: list[str], odd: list[int]) -> list[int]:
        """Make code of the includes of a librarian, wherever they begin; return the odd lines that are none."""
        for index, line in enumerate(lines):
            found = _INCLUDED.match(line)
            if found is not None and line[6:7] not in "*/":
                self.code[start + index] = f"{found[1].upper()} {found[2]}"
        return [index for index in odd if not _INCLUDED.match(lines[index])]

    def _indicated(self, index: int, line: str, stop: int | None) -> None:
        """Read a line with something in column 7 that is neither a blank nor the indicator of a comment."""
        indicator, text = line[6], line[_AREA_A:stop]
        if indicator in "Dd":
            self.marked[index] = "debug"
            self._debugged[index] = _uncommented(text)
        elif indicator == "-":
            self._continue(index, text, stop)
        elif indicator not in _NO_INDICATORS and index not in self.marked and not _is_told(line):
            self.warnings.append(Warned(index + 1, f"column 7 holds {indicator!r}: read as a comment"))

    def _continue(self, index: int, text: str, stop: int | None) -> None:
        """Join a line to the last one before it that has code: a literal after its quote, a word to its last letter."""
        # A literal goes on behind the quote that its continuation repeats, and its padding up to column 72 is part of
        # it; a word goes on right behind its last letter. Whether the line before ends inside of a literal depends on
        # whether it begins inside of one itself: `_open` keeps that by line, so that one line is read and not the
        # literal from its first. `_unclosed` keeps the answer, for many continuations may have the same line before
        # them (`-*>` holds no code).
        code = self.code
        text = text.lstrip()
        code[index] = text
        previous = self._coded(index - 1)
        if not text or previous < 0:
            return
        quote = self._unclosed.get(previous)
        if quote is None:
            quote = self._unclosed[previous] = _open_quote(self._open.get(previous, "") + code[previous])
        if quote:
            if stop:
                code[previous] = code[previous].ljust(stop - _AREA_A)
            text = text.removeprefix(quote)
            self._open[index] = quote
        else:
            code[previous] = code[previous].rstrip()
        code[index] = _uncommented(text, quote)
        # Comments and blank lines between the two are joined as well: a chunk cut there would part the word. Each
        # line is added once, from behind the last one that was.
        self.breaks.update(range(max(previous + 2, self._last_break + 1), index + 2))
        self._last_break = index + 1

    def _coded(self, index: int) -> int:
        """Return the last line up to this one that has code, or -1. What was found blank is not looked at again."""
        code, at = self.code, index
        # Blank stretches are jumped over with the help of earlier answers; without them n blank lines before n
        # continuations cost n * n looks.
        while at >= 0 and (not code[at] or code[at].isspace()):
            at = self._behind.get(at, at - 1)
        if at < index:
            self._behind[index] = at
        return at

    def _directed(self, index: int, line: str) -> None:
        """Mark a line that is a directive, and hold back the code of a `>>D` line."""
        directive = _DIRECTIVE.match(line)
        if directive is None:
            return
        if directive["debug"]:
            self.marked[index] = "debug"
            self._debugged[index] = _uncommented(line[directive.end() :])
        else:
            self.marked[index] = "directive"
        self.code[index] = ""

    def _listing(self, start: int) -> None:
        """Mark EJECT, SKIP1 to SKIP3 and TITLE: words to the printer that need no period, so that no sentence begins
        with them.
        """
        for index in [index for index in range(start, len(self.code)) if _LISTING.match(self.code[index])]:
            self.marked[index] = "directive"
            self.code[index] = ""


def _in_columns(line: str, encoding: str) -> str:
    """Return a line of a card on which a letter takes as many columns as it has bytes: what stands behind column 72
    stands there.
    """
    # What is no letter is read back as "?", which is as long: only how many letters fit is asked.
    code = line.encode(encoding, "replace")[:_IDENTIFICATION].decode(encoding, "ignore")
    fits = line[: len(code)]
    return line if len(fits) == len(line) else fits.ljust(_IDENTIFICATION) + line[len(fits) :]


def _is_told(line: str) -> bool:
    """Return whether what stands in column 7 needs no warning: a directive, or a comment that begins in the margin."""
    return _DIRECTIVE.match(line) is not None or line.lstrip().startswith("*>")


def _uncommented(text: str, quote: str = "") -> str:
    """Return a line of code without the comment at its end.

    Args:
        text: The line.
        quote: The quote of the literal inside of which it begins, "" for none.
    """
    comment = _COMMENT.match(quote + text) if "*>" in text or "|" in text else None
    return text[: comment.end(1) - len(quote)] if comment else text


def _open_quote(text: str) -> str:
    """Return the quote that is open at the end of a line, "" where all are closed."""
    return next((quoted[1] for quoted in _QUOTED.finditer(text) if quoted[1]), "")
