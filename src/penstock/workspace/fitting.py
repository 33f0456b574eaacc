"""How much of the lines and bytes that were read fits on a page?

A `PageRoom` measures the cost of a page as rendered, including gutter, escapes and clip marks. What does not fit as whole lines is
cut between characters. Law: the result fits, or is a single character; it is never empty. Leaves to others: where the bytes come
from, and how a page is worded.

Everything rests on `most`: costs never fall as a page grows, so bisection finds the largest page that fits by rendering it a few
times. Counting while adding lines would take one pass but be wrong: the cost of a token or an escape depends on its neighbours.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.text import window
from penstock.text.calls import Call
from penstock.text.window import Encoding, Extent, Line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.outline import Symbol

CLIP_CHARACTERS = 2_000
"""Where `view` clips a line (V-8); opencode, crush, Gemini CLI and Cline clip there too."""
CLIP_BYTES = 4 * CLIP_CHARACTERS + 4
"""How many bytes of a line are decoded for clipping: a character has at most four in any encoding, and one more character shows
whether the line goes on.
"""
_GUTTER_CHARACTERS = 8  # of a line in `read_file`: `{n:>6}\t` and its end


class PageRoom(Protocol):
    """The room that a page has once it is rendered. Costs never fall as what they measure grows."""

    limit: int
    """The maximum cost of a whole page, in the unit of the three functions."""
    cap_bytes: int
    """How many bytes a page may hold; fixed for a server or client, so that pages do not depend on the length of their headers
    (B-3).
    """

    def lines(self, lines: Sequence[Line]) -> int:
        """Return what lines cost, numbered and clipped."""
        ...

    def text(self, text: str) -> int:
        """Return what a text costs, escaped."""
        ...

    def symbols(self, symbols: Sequence[Symbol]) -> int:
        """Return what the rows of an outline cost."""
        ...


class Boundless:
    """Room for anything, for a Python caller who set no allowance. Everything costs nothing."""

    limit: int = 1 << 62
    cap_bytes: int = window.HARD_MAX_BYTES

    def lines(self, lines: Sequence[Line]) -> int:
        """Return 0: lines take no room where there is no bound."""
        return 0 * len(lines)

    def text(self, text: str) -> int:
        """Return 0: text takes no room where there is no bound."""
        return 0 * len(text)

    def symbols(self, symbols: Sequence[Symbol]) -> int:
        """Return 0: symbols take no room where there is no bound."""
        return 0 * len(symbols)


def most(count: int, cost: Callable[[int], int], limit: int) -> int:
    """Return the largest n <= count with `cost(n) <= limit`; 0 if there is none.

        >>> most(100, lambda n: 3 * n, 50)
        16

    `cost` is called about 2 log2(count) times at worst, a few times if costs are nearly even; it must not fall as n grows.
    """
    low, low_cost, high = 0, 0, count
    high_cost = cost(count)
    if high_cost <= limit:
        return count
    is_guess = True
    # Invariant: `low` fits, `high` does not.
    while high - low > 1:
        middle = (low + high) // 2
        if is_guess:  # with nearly even costs one or two guesses suffice; bisections in between keep it logarithmic
            middle = low + (high - low) * (limit - low_cost) // max(1, high_cost - low_cost)
            middle = min(max(middle, low + 1), high - 1)
        is_guess = not is_guess
        at = cost(middle)
        if at <= limit:
            low, low_cost = middle, at
        else:
            high, high_cost = middle, at
    return low


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def split_ending(encoding: Encoding, data: bytes) -> tuple[bytes, str]:
    r"""Return a line without its end, and that end: `\n`, `\r\n` or nothing."""
    if not encoding.ends_line(data):
        return data, ""
    body, carriage = data[: -encoding.unit], "\r".encode(encoding.codec)
    # In UTF-16 the two bytes of a carriage return may also straddle two units.
    if body.endswith(carriage) and len(body) % encoding.unit == 0:
        return body[: -len(carriage)], "\r\n"
    return body, "\n"


def whole_line(encoding: Encoding, number: int, data: bytes, start_byte: int) -> Line:
    """Return the line whose bytes, including its end, are `data`."""
    body, ending = split_ending(encoding, data)
    text, invalid = encoding.decode(body[encoding.bom_at(start_byte) :])
    size = len(body)
    return Line(
        number=number,
        start_byte=start_byte,
        text=text,
        body_bytes=size,
        shown_bytes=size,
        ending=ending,
        invalid_bytes=invalid,
    )


def ordinary_lines(encoding: Encoding, number: int, data: bytes, start_byte: int, count: int) -> list[Line]:
    """Return up to `count` lines from the beginning of `data`, stopping at the first that is long or not ASCII; few are.

    `clipped_line` gives the same for such lines, in three times the time.
    """
    if encoding.unit > 1 or encoding.bom_at(start_byte):
        return []
    lines: list[Line] = []
    at = start_byte
    for body in data.split(b"\n", count)[:-1]:
        size = len(body)
        if size > CLIP_CHARACTERS or not body.isascii():
            break
        if body[-1:] == b"\r":
            lines.append(Line(number, at, body[:-1].decode("ascii"), size - 1, size - 1, "\r\n"))
        else:
            lines.append(Line(number, at, body.decode("ascii"), size, size))
        number += 1
        at += size + 1
    return lines


def clipped_line(encoding: Encoding, number: int, data: bytes, start_byte: int, path: str) -> Line:
    """Return the line whose bytes, including its end, are `data`, as far as a page shows it (V-8)."""
    body, ending = split_ending(encoding, data)
    return clipped_head(encoding, number, body[:CLIP_BYTES], start_byte, path, body_bytes=len(body), ending=ending)


def clipped_head(
    encoding: Encoding,
    number: int,
    head: bytes,
    start_byte: int,
    path: str,
    *,
    body_bytes: int,
    ending: str,
    is_endless: bool = False,
) -> Line:
    """Return a line as far as a page shows it, if only its beginning was read.

    Args:
        encoding: How bytes become text.
        number: The line's 1-based number.
        head: The line's first bytes, `CLIP_BYTES` or all of them.
        start_byte: Where the line starts in the file.
        path: The file, for the call that shows the rest.
        body_bytes: How long the line is without its end.
        ending: The line's end.
        is_endless: Whether the line's end was not found in time: `body_bytes` is then a lower bound.
    """
    # Four bytes are dropped, so that a character at the cut is whole or absent.
    if len(head) < body_bytes:
        head = head[: encoding.floor_char(head, len(head) - 4)]
    bom = encoding.bom_at(start_byte)
    text, invalid = encoding.decode(head[bom:])
    line = Line(
        number=number,
        start_byte=start_byte,
        text=text,
        body_bytes=body_bytes,
        shown_bytes=len(head),
        ending=ending,
        invalid_bytes=invalid,
        is_endless=is_endless,
    )
    if len(text) > CLIP_CHARACTERS:
        return _first_characters(line, encoding, head, CLIP_CHARACTERS, path)
    return _with_way(line, path)


def _first_characters(line: Line, encoding: Encoding, body: bytes, count: int, path: str) -> Line:
    """Return the beginning of a line: at most `count` characters and at least one; `body` begins with its bytes."""
    bom = encoding.bom_at(line.start_byte)
    data = body[bom : line.shown_bytes]

    def characters(at: int) -> int:
        return len(encoding.decode(data[: encoding.floor_char(data, at)])[0])

    # An invalid byte is shown as four characters, so that characters do not determine bytes: the number of bytes is found by trial.
    if line.invalid_bytes:
        kept = encoding.floor_char(data, most(len(data), characters, count))
    else:
        kept = len(line.text[:count].encode(encoding.codec))
    kept = kept or window.next_char(data, encoding, 0)
    text, invalid = encoding.decode(data[:kept])
    return _with_way(line._replace(text=text, shown_bytes=bom + kept, invalid_bytes=invalid), path)


def _with_way(line: Line, path: str) -> Line:
    """Return a line with the call that shows its hidden part, if it has one."""
    if not line.hidden_bytes:
        return line
    some = None if line.is_endless or line.hidden_bytes > window.DEFAULT_MAX_BYTES else line.hidden_bytes
    way = Call("read_file", {"path": path, "start_byte": line.start_byte + line.shown_bytes}).but(max_bytes=some)
    return line._replace(way=way)


def shortened_line(line: Line, encoding: Encoding, room: PageRoom, data: bytes, path: str) -> Line:
    """Return as much of one line as the room holds, at least one character. `data` begins with the bytes of the line."""
    longest = line.body_bytes  # the numbers in the mark are measured with the most digits that they can have
    way = Call("read_file", {"path": path, "start_byte": line.start_byte + longest, "max_bytes": longest})
    mark = line._replace(shown_bytes=0, way=way)
    # At least one character, although it may not fit: an empty page would not advance.
    fitting = most(len(line.text), lambda n: room.lines((mark._replace(text=line.text[:n]),)), room.limit)
    return _first_characters(line, encoding, data, max(1, fitting), path)


class Taken(NamedTuple):
    """Whole lines from the beginning of some bytes."""

    lines: list[Line]
    end: int
    """Where the lines end within the bytes."""
    bound: str
    """Why no more lines were taken: `limit`, `cap` or `end`."""


def take_lines(
    encoding: Encoding, data: bytes, start_byte: int, first: int, *, count: int | None, cap: int | None, ends_file: bool
) -> Taken:
    """Return at most `count` whole lines of `data` within `cap` bytes and, gutter included, within `cap` characters.

    None are taken if the first alone is longer.

    Args:
        encoding: How bytes become text.
        data: The bytes, which begin with a line.
        start_byte: Where the bytes are in the file.
        first: The number of the first line.
        count: How many lines at most; None for all.
        cap: How many bytes and characters; None for no bound.
        ends_file: Whether `data` reaches to the end of the file: its last line then needs no line end.
    """
    lines: list[Line] = []
    at = shown = 0
    while at < len(data) and (count is None or len(lines) < count):
        end = encoding.find(data, at)
        if end is None:
            if not ends_file:
                return Taken(lines, at, "cap")
            end = len(data)
        # Characters are bounded too, since each line adds its gutter: a file of only line feeds shows eight characters per byte.
        if cap is not None and (end > cap or shown > cap):
            return Taken(lines, at, "cap")
        line = whole_line(encoding, first + len(lines), data[at:end], start_byte + at)
        lines.append(line)
        shown += len(line.text) + _GUTTER_CHARACTERS
        at = end
    return Taken(lines, at, "end" if ends_file and at == len(data) else "limit")


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────────


def decoded(encoding: Encoding, extent: Extent) -> tuple[str, int]:
    """Return the text of an extent and the number of its invalid bytes; a byte order mark is counted, not shown."""
    return encoding.decode(extent.data[encoding.bom_at(extent.start_byte) :])


def _line_ends(encoding: Encoding, data: bytes) -> list[int]:
    """Return where lines end in `data`, starting with 0."""
    if encoding.unit == 1:
        return _ends_of(data.split(b"\n"))
    ends = [0]
    while (end := encoding.find(data, ends[-1])) is not None:
        ends.append(end)
    return ends


def _ends_of(lines: list[bytes] | list[str]) -> list[int]:
    """Return where lines end in a text that was split at its line ends, starting with 0; the text after the last has no end."""
    return [0, *accumulate([len(line) + 1 for line in lines[:-1]])]


def head_of(extent: Extent, encoding: Encoding, room: PageRoom) -> Extent:
    """Return as many whole lines of an extent as the room holds, else as many characters of its first line."""
    text, _ = decoded(encoding, extent)
    if room.text(text) <= room.limit:
        return extent
    # Whole lines first. Their positions in the bytes and in the text are found together, because each trial cuts the text.
    ends = _line_ends(encoding, extent.data)
    shown = _ends_of(text.split("\n"))  # the same positions in the text, which is decoded once
    lines = most(len(ends) - 1, lambda n: room.text(text[: shown[n]]), room.limit)
    if lines:
        return window.shorten(extent, encoding, extent.start_byte + ends[lines])

    def cost(at: int) -> int:
        return room.text(decoded(encoding, extent._replace(data=extent.data[:at]))[0])

    longest = ends[1] if len(ends) > 1 else len(extent.data)
    characters = most(longest, lambda n: cost(encoding.floor_char(extent.data, n)), room.limit)
    return window.shorten(extent, encoding, extent.start_byte + characters)


def tail_of(data: bytes, begin: int, encoding: Encoding, room: PageRoom) -> int:
    """Return where `data[begin:]` must start to fit: at a line start if one fits, else at a character boundary in the last line."""
    text, _ = encoding.decode(data[begin:])
    if room.text(text) <= room.limit:
        return begin
    starts = [begin + end for end in _line_ends(encoding, data[begin:])]
    shown = _ends_of(text.split("\n"))
    # If the data ends with a line end, no line begins after it.
    if starts[-1] == len(data):
        del starts[-1], shown[-1]
    lines = (
        most(len(starts) - 1, lambda n: room.text(text[shown[len(starts) - n] :]), room.limit) if len(starts) > 1 else 0
    )
    if lines:
        return starts[len(starts) - lines]

    def cost(at: int) -> int:
        return room.text(encoding.decode(data[at:])[0])

    last = starts[-1]
    size = len(data) - last
    characters = most(size, lambda n: cost(encoding.floor_char(data, len(data) - n)), room.limit)
    at = encoding.floor_char(data, len(data) - max(1, characters))
    while characters and cost(at) > room.limit:  # the boundary lies before the position: take one character less
        characters -= 1
        at = encoding.floor_char(data, len(data) - characters)
    return min(at, encoding.floor_char(data, len(data) - 1))
