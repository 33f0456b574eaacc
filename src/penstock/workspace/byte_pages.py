"""Which bytes does a page by bytes hold? Whole lines around a position, characters of a long line, or the exact bytes.

`reading` explains how pages meet.
"""

from __future__ import annotations

from binascii import b2a_base64
from functools import partial
from typing import TYPE_CHECKING

from penstock.text import notices, window
from penstock.text.calls import Call
from penstock.workspace import fitting, texts
from penstock.workspace.pages import page_of

if TYPE_CHECKING:
    from penstock.text.window import Extent, Window
    from penstock.workspace import version as versions
    from penstock.workspace.line_counts import LineCounts
    from penstock.workspace.pages import PageBounds
    from penstock.workspace.records import Records
    from penstock.workspace.texts import TextFile


def byte_page(
    text: TextFile,
    counts: LineCounts,
    start_byte: int,
    max_bytes: int | None,
    bounds: PageBounds,
    said: list[str],
    earlier: versions.Version | None,
    records: Records | None = None,
) -> Window:
    """Return whole lines around a window of bytes, or characters of a line that is longer than the cap.

    For JSON on one line, whole records take the place of whole lines.

    Args:
        text: The file.
        counts: What is known of its lines.
        start_byte: Where the page is asked from.
        max_bytes: How much was asked for; None for 64 KiB.
        bounds: What the page may take.
        said: Notices to carry along.
        earlier: The version of the previous page; None if there was none.
        records: The records of JSON on one line; None for any other file.
    """
    source, encoding, path = text
    asked = window.DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
    wanted = min(asked, bounds.cap)
    # The one position where a page of this version ended. This page may begin there (reading forward) or end there (reading
    # backward), and then keeps that position.
    meets = set() if earlier is None else {earlier.cursor_byte}
    keep_end = wanted > 0 and start_byte + wanted in meets
    keep_start = keep_end or start_byte in meets
    cut = partial(_cut, text, wanted, bounds, records, keep_end=keep_end)
    whole, extent = cut(start_byte, keep_start=keep_start)
    if extent.end_byte <= start_byte < source.size_bytes:
        # The part of the line that fits does not reach the requested byte, so the page starts at the requested character.
        at = whole.start_byte + encoding.floor_char(whole.data, start_byte - whole.start_byte)
        whole, extent = cut(at, keep_start=True)
    # What ended the page, the strongest reason last: the budget wins even if the cap or a line's end came first.
    bound = "end" if extent.end_byte >= source.size_bytes else "line" if extent.fragment else "max_bytes"
    if bound == "max_bytes" and wanted == bounds.cap:
        bound = bounds.name
    if extent.end_byte < whole.end_byte:
        bound = "budget"
    if asked > bounds.cap and max_bytes is not None:
        said = [*said, notices.clamped(asked, bounds.cap)]
    if start_byte >= source.size_bytes:
        said = [*said, notices.end_of_file(source.size_bytes)]
    first, last, total = counts.numbers(text, extent)
    token = texts.token(source, extent.end_byte, extent.data)
    following = None
    if extent.end_byte < source.size_bytes and extent.data:
        following = Call("read_file", {"path": path, "start_byte": extent.end_byte}).but(
            max_bytes=None if max_bytes is None else wanted, version=token
        )
    shown, invalid = fitting.decoded(encoding, extent)
    return page_of(
        text,
        text=shown,
        start_byte=extent.start_byte,
        end_byte=extent.end_byte,
        first_line=first,
        last_line=last,
        total_lines=total,
        total_lines_exact=total is not None,
        fragment=extent.fragment,
        invalid_bytes=invalid,
        version=token,
        bound=bound,
        cap_bytes=bounds.cap,
        next=following,
        previous=bytes_before(text, extent.start_byte, wanted, bounds),
        notices=tuple(said),
    )


def _cut(
    text: TextFile,
    wanted: int,
    bounds: PageBounds,
    records: Records | None,
    start_byte: int,
    *,
    keep_start: bool,
    keep_end: bool,
) -> tuple[Extent, Extent]:
    """Return the window around a position by bytes alone, and as much of it as fits once rendered.

    Args:
        text: The file.
        wanted: How many bytes the page may hold.
        bounds: What the page may take.
        records: The records of JSON on one line; None for any other file.
        start_byte: The position.
        keep_start: Whether the page must begin exactly there.
        keep_end: Whether the page must end at its last byte, because another page begins there.
    """
    source, encoding, _ = text
    begin, size, keeps_end = start_byte, wanted, keep_end
    # A page that ends where another began is not moved to record boundaries: the two would no longer meet.
    if records is not None and not keep_end:
        some = records.around(start_byte, wanted, bounds.cap, keep_start=keep_start)
        if some is not None:
            begin, size, keep_start, keeps_end = some[0], some[1] - some[0], True, True
    whole = window.cut_bytes(
        source,
        encoding,
        start_byte=begin,
        max_bytes=size,
        cap_bytes=bounds.cap,
        keep_start=keep_start,
        keep_end=keeps_end,
    )
    extent = fitting.head_of(whole, encoding, bounds.room)
    if records is not None and extent.end_byte < whole.end_byte:
        shorter = records.shortened(extent)
        # Whole records only if one fits: a page must reach past the requested position (B-4).
        extent = shorter if shorter.end_byte > start_byte else extent
    return whole, extent


def bytes_before(text: TextFile, start: int, wanted: int, bounds: PageBounds) -> Call | None:
    """Return the call whose page ends where this one starts (B-8): whole lines if they fit, else characters of one."""
    if start <= 0:
        return None
    source, encoding, path = text
    first = encoding.align(max(0, start - bounds.cap - 4))  # 4: to see whether a character begins at the cap
    data = source.read(first, start - first)
    cap = max(bounds.cap, 4 * encoding.unit)
    reach = max(0, len(data) - min(wanted, cap))  # the page may begin from here on
    # First choice: the first line start at or after `reach`, so that the page holds whole lines. If there is none before the end of
    # the data, the page ends in a line longer than the page: it begins at the start of that line if the cap reaches it, else at a
    # character.
    begin = 0 if first == reach == 0 else encoding.find(data, max(0, reach - encoding.unit))
    # The end of one line, or a line that is too long.
    if begin is None or begin == len(data) or not encoding.ends_line(data):
        line = encoding.rfind(data, len(data) - encoding.unit) or 0  # or it began before everything that was read
        begin = line
        if not encoding.ends_line(data) or line < len(data) - cap:
            last = encoding.floor_char(data, len(data) - 1)  # of at least the last character
            begin = max(line, min(last, encoding.ceil_char(data, reach)))
    begin = fitting.tail_of(data, begin, encoding, bounds.room)
    version = texts.token(source, start, data)
    return Call(
        "read_file",
        {"path": path, "start_byte": first + begin, "max_bytes": len(data) - begin, "version": version},
    )


def exact_page(text: TextFile, start: int, max_bytes: int | None, bounds: PageBounds, said: list[str]) -> Window:
    """Return the bytes themselves in base64, of any file (B-7)."""
    source = text.source
    # Base64 turns three bytes into four characters, and pads the last group.
    cap = bounds.cap // 4 * 3 - 3
    asked = window.DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
    extent = window.cut_exact(source, start_byte=start, max_bytes=min(asked, cap))

    def base64(count: int) -> str:
        return b2a_base64(extent.data[:count], newline=False).decode("ascii")

    fits = fitting.most(len(extent.data), lambda n: bounds.room.text(base64(n)), bounds.room.limit)
    size = max(1, fits)
    end = extent.start_byte + len(extent.data[:size])
    token = texts.token(source, end)
    again = Call("read_file", {"path": text.path, "start_byte": end}).but(
        max_bytes=None if max_bytes is None else min(asked, cap), version=token, encoding="base64"
    )
    if asked > cap and max_bytes is not None:
        said = [*said, notices.clamped(asked, cap)]
    if start >= source.size_bytes:
        said = [*said, notices.end_of_file(source.size_bytes)]
    before = min(size, start)
    return page_of(
        text,
        text=base64(size),
        start_byte=extent.start_byte,
        end_byte=end,
        encoding="base64",
        version=token,
        bound="end" if end >= source.size_bytes else "max_bytes" if size == len(extent.data) else "budget",
        cap_bytes=cap,
        next=again if extent.data and end < source.size_bytes else None,
        previous=again.but(start_byte=start - before, max_bytes=before) if before and extent.data else None,
        notices=tuple(said),
    )
