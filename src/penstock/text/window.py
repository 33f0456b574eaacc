"""Which bytes and lines are shown? Windows of a file that end on whole lines, cut on character boundaries if a line is too
long (B-3 to B-9).

A window is cut from a `ByteSource`; at most one cap is read before its start and after its end, whatever the size of the
file. Laws: following `end_byte` from the start visits every byte once; the text of every window is valid Unicode; no
window is larger than its cap. Leaves to others: how bytes are obtained, what a budget is, how a page is worded.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from penstock.text.calls import Call

# B-3. opencode takes 50 KB, pi 50 KB, aider the whole file.
DEFAULT_MAX_BYTES = 64 * 1024
"""The default size of a page by bytes."""
HARD_MAX_BYTES = 256 * 1024
"""The largest size of a page, whatever is asked for; no host shows more."""
# As in git and grep (B-7).
BINARY_PROBE_BYTES = 8 * 1024
"""A NUL within this many first bytes means a binary file."""


class ByteSource(Protocol):
    """Bytes by position."""

    size_bytes: int

    def read(self, start_byte: int, count_bytes: int) -> bytes:
        """Return the bytes at a position, fewer only at the end or if the file has shrunk."""
        ...


class Encoding:
    """How bytes become text: offsets stay those on disk, aligned to `unit` bytes (B-7)."""

    __slots__ = ("bom_bytes", "codec", "name", "newline", "unit")

    def __init__(self, name: str, codec: str, unit: int = 1, bom_bytes: int = 0, newline: bytes = b"\n") -> None:
        """Describe an encoding.

        Args:
            name: its name for people.
            codec: its name in Python.
            unit: how many bytes a code unit has: 1, 2 or 4.
            bom_bytes: how many bytes the byte order mark at the head of the file has; 0 for none.
            newline: the bytes of a line feed.
        """
        self.name = name
        self.codec = codec
        self.unit = unit
        self.bom_bytes = bom_bytes
        self.newline = newline

    def align(self, at: int) -> int:
        """Return the start of the code unit that a byte is in."""
        return at - at % self.unit

    def bom_at(self, start_byte: int) -> int:
        """Return how many bytes of a byte order mark are at `start_byte`: they are counted, not shown."""
        return self.bom_bytes if start_byte == 0 else 0

    def ends_line(self, data: bytes) -> bool:
        """Return whether a line ends with the last byte of `data`, which begins aligned."""
        return len(data) % self.unit == 0 and data.endswith(self.newline)

    def find(self, data: bytes, start: int) -> int | None:
        """Return the index after the first line end at or after `start`, None if there is none. `data` begins aligned."""
        # In UTF-16 the two bytes of a line feed can also straddle two characters (U+0A01 U+0100 is 01 0A 00 01 in
        # little-endian order): a match between units does not count.
        at = data.find(self.newline, start)
        while at != -1 and at % self.unit:
            at = data.find(self.newline, at + self.unit)
        return at + self.unit if at >= 0 else None

    def rfind(self, data: bytes, end: int) -> int | None:
        """Return the index after the last line end before `end`, None if there is none. `data` begins aligned."""
        at = data.rfind(self.newline, 0, max(0, end))
        while at != -1 and at % self.unit:
            at = data.rfind(self.newline, 0, at)
        return at + self.unit if at >= 0 else None

    def count(self, data: bytes, start: int = 0, end: int | None = None) -> int:
        """Return how many lines end in `data[start:end]`, which begins aligned.

        Deleting line ends and comparing lengths finds each by `memchr`: 9 microseconds for 64 KiB of 100-byte lines,
        while `bytes.count`, which looks at every byte, takes 31. For lines of less than 28 bytes or so it is the other way
        round.
        """
        part = data[start:end]
        if self.unit != 1:
            return part.decode(self.codec, "replace").count("\n")
        # The first KiB shows which kind of lines these probably are.
        if part[:1024].count(b"\n") > 1024 // 28:
            return part.count(b"\n")
        return len(part) - len(part.replace(b"\n", b""))

    def floor_char(self, data: bytes, at: int) -> int:
        """Return the last character boundary at or before `at`. Bytes that are not text are a character each."""
        if at >= len(data):
            return at
        at = self.align(at)
        if self.unit == 1:
            # A UTF-8 character has at most four bytes. Only one that is whole and valid moves the boundary back; a stray
            # continuation byte is one of its own.
            begin = max(0, at - 3)
            for char in data[begin : at + 3].decode("utf-8", "surrogateescape"):
                end = begin + len(char.encode("utf-8", "surrogateescape"))
                if end > at:
                    return begin
                begin = end
        # The second half of a surrogate pair belongs to the first; a lone half, as at 0, is a character of its own.
        if self.unit == 2:
            order: Literal["little", "big"] = "little" if self.codec.endswith("le") else "big"
            if 0xDC00 <= int.from_bytes(data[at : at + 2], order) < 0xE000:
                high = int.from_bytes(data[at - 2 : at], order)
                return at - 2 if 0xD800 <= high < 0xDC00 else at
        return at

    def ceil_char(self, data: bytes, at: int) -> int:
        """Return the first character boundary at or after `at`."""
        floor = self.floor_char(data, at)
        return floor if floor >= at else next_char(data, self, floor)

    def decode(self, data: bytes) -> tuple[str, int]:
        r"""Return the text, with invalid bytes as `\xNN`, and how many bytes were invalid."""
        try:
            return data.decode(self.codec), 0
        except UnicodeDecodeError:
            valid = data.decode(self.codec, "ignore")
            text = _decode_utf8(data, valid) if self.unit == 1 else data.decode(self.codec, "backslashreplace")
            return text, (len(text) - len(valid)) // 4  # each is four characters


def _decode_utf8(data: bytes, valid: str) -> str:
    """Do `data.decode("utf-8", "backslashreplace")`, which calls Python for each byte: a page of Latin-1 has many."""
    if valid.isascii():
        # Then every other byte is invalid, and each is the Latin-1 character that is written the same way.
        return data.decode("latin-1").encode("ascii", "backslashreplace").decode("ascii")
    # An invalid byte becomes a surrogate from U+DC80 on, and that is written as `\\udcNN` again. The text's own backslashes are
    # U+DC00 meanwhile, which no byte becomes.
    text = data.decode("utf-8", "surrogateescape").replace("\\", "\udc00")
    written = text.encode("utf-8", "backslashreplace").replace(rb"\udc", rb"\x")
    return written.replace(rb"\x00", b"\\").decode("utf-8")


UTF8 = Encoding("UTF-8", "utf-8")
"""The default encoding of files."""
_BY_BOM = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (b"\xff\xfe\x00\x00", Encoding("UTF-32LE", "utf-32-le", 4, 4, b"\n\x00\x00\x00")),
    (b"\x00\x00\xfe\xff", Encoding("UTF-32BE", "utf-32-be", 4, 4, b"\x00\x00\x00\n")),
    (b"\xff\xfe", Encoding("UTF-16LE", "utf-16-le", 2, 2, b"\n\x00")),
    (b"\xfe\xff", Encoding("UTF-16BE", "utf-16-be", 2, 2, b"\x00\n")),
    (b"\xef\xbb\xbf", Encoding("UTF-8", "utf-8", 1, 3)),
)


def detect(head: bytes) -> Encoding | None:
    """Return the encoding that the first bytes of a file indicate; None for binary.

    Args:
        head: the first `BINARY_PROBE_BYTES` of the file, or all of it.
    """
    for mark, encoding in _BY_BOM:
        if head.startswith(mark):
            return encoding
    return None if b"\0" in head[:BINARY_PROBE_BYTES] else UTF8


_KINDS = (
    (b"\x7fELF", "ELF program"),
    (b"\x89PNG", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"(\xb5/\xfd", "Zstandard data"),
    (b"SQLite format 3", "SQLite database"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"\0asm", "WebAssembly"),
    (b"RIFF", "RIFF media"),
    (b"OggS", "Ogg media"),
)


def kind_of(head: bytes) -> str:
    """Return what binary content is, by its first bytes."""
    return next((kind for magic, kind in _KINDS if head.startswith(magic)), "it holds NUL bytes")


class Fragment(NamedTuple):
    """Where the line is of which a page shows a part, because it is longer than the cap."""

    line_start_byte: int | None
    """Where the line begins; None if the search did not go back that far."""
    line_end_byte: int | None
    """Where the line ends, its line end included; None as long as the end has not been seen."""


class Line(NamedTuple):
    """One line of a page."""

    number: int
    start_byte: int
    text: str
    """The line without its ending, as far as it is shown."""
    body_bytes: int
    """How many bytes the line has on disk, without its ending."""
    shown_bytes: int
    """How many of the line's bytes `text` represents."""
    ending: str = "\n"
    """The end of the line: a line feed, CRLF, or nothing at the end of the file."""
    invalid_bytes: int = 0
    r"""How many of the shown bytes are not text: they appear in `text` as `\xNN`."""
    is_endless: bool = False
    """Whether the end of the line was not found in time: `body_bytes` is then a lower bound."""
    way: Call | None = None
    """The call that shows the rest of a clipped line; None if all is shown."""

    @property
    def hidden_bytes(self) -> int:
        """How many bytes of the line are not shown."""
        return self.body_bytes - self.shown_bytes

    @property
    def end_byte(self) -> int:
        """The byte after it, its ending included, in an encoding of single bytes."""
        return self.start_byte + self.body_bytes + len(self.ending)


class Window(NamedTuple):
    """A page of a file: where it is, what it shows, which version of the file it belongs to.

    Lines are 1-based and inclusive, `end_byte` is exclusive: the next page starts there. What is unknown is None.
    """

    path: str
    text: str
    """What was decoded, line ends as in the file."""
    start_byte: int
    end_byte: int
    total_bytes: int
    """The size of the file."""
    first_line: int | None = None
    """The first line shown, 0 for a page after the end; None for a page by bytes whose lines are unknown."""
    last_line: int | None = None
    total_lines: int | None = None
    """How many lines the file has, or at least has (`total_lines_exact`)."""
    total_lines_exact: bool = False
    fragment: Fragment | None = None
    """Where the line is of which this page is a part; None for whole lines."""
    lines: tuple[Line, ...] = ()
    """The page line by line, if it was asked for by lines."""
    encoding: str = "UTF-8"
    invalid_bytes: int = 0
    r"""How many bytes were not text; they appear in `text` as `\xNN`."""
    version: str = ""
    """A token that identifies the version of the file; empty for an artifact, which has only one."""
    bound: str = "end"
    """What ended the page: `limit`, `max_bytes`, `hard cap`, `budget`, `line` (a fragment), `deadline` or `end`."""
    cap_bytes: int | None = None
    """The cap in force; None if there was none."""
    next: Call | None = None
    """The call that shows the next page; None at the end."""
    previous: Call | None = None
    """The call that shows the page before; None at the beginning."""
    notices: tuple[str, ...] = ()
    """Sentences for the end of the header."""


class Extent(NamedTuple):
    """Bytes that were cut from a source: `data` is at `[start_byte, end_byte)`."""

    start_byte: int
    end_byte: int
    data: bytes
    fragment: Fragment | None = None


def cut_exact(source: ByteSource, *, start_byte: int, max_bytes: int) -> Extent:
    """Return exactly those bytes: for binary content, which has no lines."""
    start = min(start_byte, source.size_bytes)
    data = source.read(start, max(1, max_bytes))
    return Extent(start_byte=start, end_byte=start + len(data), data=data)


def cut_bytes(
    source: ByteSource,
    encoding: Encoding,
    *,
    start_byte: int,
    max_bytes: int,
    cap_bytes: int,
    keep_start: bool = False,
    keep_end: bool = False,
) -> Extent:
    """Return the whole lines around `[start_byte, start_byte + max_bytes)`, at most `cap_bytes` (B-4, B-5).

    The start snaps back to the start of its line; the end rounds up to the next line start, or down if that would exceed
    the cap. A line longer than the cap is read as characters: there is no snapping, and it comes as fragments.

    Args:
        source: where the bytes are.
        encoding: how they become text.
        start_byte: where the page is asked from; at or past the end the extent is empty.
        max_bytes: how much is asked for; at least one line or character comes.
        cap_bytes: the most that comes.
        keep_start: whether another page ends here: then the start stays, even in mid-line.
        keep_end: whether another page starts at the end of this one: then the end stays, even in mid-line. With both,
            pages meet and paging always advances.
    """
    size = source.size_bytes
    start = encoding.align(start_byte)
    if start_byte >= size:
        return Extent(start_byte=size, end_byte=size, data=b"")
    # At least one character fits any cap, or paging would stop.
    cap = max(cap_bytes, 4 * encoding.unit)
    # One read has everything that decides: a cap before, for the start of the line, a cap after, for its end.
    first = encoding.align(max(0, start - cap))
    # Four more bytes, to see whether a character ends at the cap.
    count = start - first + cap + 4
    data = source.read(first, count)
    end_of_file = len(data) if len(data) < count else None
    begin, is_line_start, line_start = _start(data, encoding, start - first, first, cap, end_of_file, keep=keep_start)
    if begin >= len(data):  # the file shrank while it was read
        return Extent(start_byte=first + begin, end_byte=first + begin, data=b"")
    want = min(max(start - first + max_bytes, begin + 1), begin + cap)
    line_end = encoding.find(data, begin) or end_of_file
    # Whole lines only if the first of them is seen to begin here and to end within the cap; else this is part of one long
    # line, and it advances by characters.
    whole = is_line_start and line_end is not None and line_end <= begin + cap
    fragment = Fragment(
        line_start_byte=None if line_start is None else first + line_start,
        line_end_byte=None if line_end is None else first + line_end,
    )
    if (
        keep_end
    ):  # where the next page starts, whatever lines begin or end before it: anywhere else is an overlap or a gap
        rest = Extent(
            start_byte=first + begin,
            end_byte=first + len(data),
            data=data[begin:],
            fragment=None if whole else fragment,
        )
        return shorten(rest, encoding, first + min(want, len(data)))
    if not whole:  # characters of one long line
        end = min(line_end or len(data), max(encoding.floor_char(data, want), next_char(data, encoding, begin)))
        return Extent(start_byte=first + begin, end_byte=first + end, data=data[begin:end], fragment=fragment)
    found = encoding.find(data, max(want - encoding.unit, begin)) or end_of_file
    if found is None or found > begin + cap:
        found = encoding.rfind(data, begin + cap)
    assert found is not None  # noqa: S101 - the first line ends within the cap
    return Extent(start_byte=first + begin, end_byte=first + found, data=data[begin:found])


def _start(
    data: bytes, encoding: Encoding, at: int, first: int, cap: int, end_of_file: int | None, *, keep: bool
) -> tuple[int, bool, int | None]:
    """Return where the window begins in `data`, whether that is the start of a line, and where that line starts if known."""
    line_start = encoding.rfind(data, at) or (0 if first == 0 else None)
    if line_start == at:
        return at, True, at
    # A continuation in mid-line never snaps back: the page before ended here, and snapping would show its bytes again and
    # again.
    if keep:
        return at, False, line_start
    line_end = encoding.find(data, at) or end_of_file
    if line_start is not None and line_end is not None and line_end - line_start <= cap:
        return line_start, True, line_start
    return encoding.floor_char(data, at), False, line_start


def next_char(data: bytes, encoding: Encoding, at: int) -> int:
    """Return the boundary after the character at `at`: the smallest step forward."""
    places = itertools.count(at + encoding.unit, encoding.unit)
    return min(next(place for place in places if encoding.floor_char(data, place) > at), len(data))


def shorten(extent: Extent, encoding: Encoding, end_byte: int) -> Extent:
    """Return an extent that ends at `end_byte` or at the character boundary before it: what a smaller budget leaves of
    it.

    At least one character stays. A cut within a line makes a fragment of it, so that the next page continues in mid-line.
    """
    keep = encoding.floor_char(extent.data, end_byte - extent.start_byte)
    keep = max(keep, next_char(extent.data, encoding, 0))
    data = extent.data[:keep]
    fragment = extent.fragment
    if fragment is None and not encoding.ends_line(data) and keep < len(extent.data):
        begin = encoding.rfind(data, len(data)) or 0
        line_end = encoding.find(extent.data, begin)
        fragment = Fragment(
            line_start_byte=extent.start_byte + begin,
            line_end_byte=None if line_end is None else extent.start_byte + line_end,
        )
    return Extent(start_byte=extent.start_byte, end_byte=extent.start_byte + keep, data=data, fragment=fragment)
