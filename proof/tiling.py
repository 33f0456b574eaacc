"""R5: do the pages of any file, with any budget, from any start, tile its bytes?

Files are made of the pieces that cutting gets wrong: characters of two to four bytes, halves of them, CRLF, lone CR, U+2028, NULs,
byte order marks, lines much longer than a page, in UTF-8, UTF-16 and UTF-32. Checked: every byte once and in order, no page above
its cap, no whole character cut, every page ahead of the one before, line numbers equal to the number of line feeds; and on real
files also `view`, and paging back.
"""

from __future__ import annotations

import os
import random
import re
from typing import NamedTuple

from proof.figure import Figure, folder, forked, main

from penstock.text import window
from penstock.text.window import Window
from penstock.tools import Tools
from penstock.workspace import Workspace

# fmt: off
_PIECES = (
    "a", "bc", "line of text", "\n", "\n", "\n\n", "\r\n", "\r", "\t", "é", "ß", "€", "語", "🚀", "e\u0301", "\u200d", "\u2028",
    "\x0b", "\x85", "x" * 40, "é" * 23, "🚀" * 11, "w" * 300, "\ufeff",
)
_BROKEN = (
    b"\xff", b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x9a", b"\xed\xa0\x80", b"\xc0\xaf", b"\xfe\xff", b"\xf8\x88\x80\x80",
)
# fmt: on
_CODECS = (
    ("utf-8", b""),
    ("utf-8", b"\xef\xbb\xbf"),
    ("utf-16-le", b"\xff\xfe"),
    ("utf-16-be", b"\xfe\xff"),
    ("utf-32-le", b"\xff\xfe\0\0"),
    ("utf-32-be", b"\0\0\xfe\xff"),
)


class Bytes:
    """A file in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size_bytes = len(data)
        self.read_bytes = 0

    def read(self, start_byte: int, count_bytes: int) -> bytes:
        self.read_bytes += max(0, min(count_bytes, self.size_bytes - start_byte))
        return self.data[start_byte : start_byte + count_bytes]


def content(generator: random.Random) -> bytes:
    """A file of up to some thousand bytes."""
    codec, mark = _CODECS[0] if generator.random() < 0.6 else generator.choice(_CODECS)
    many = generator.choice((0, 1, 3, 10, 40, 120))
    text = "".join(generator.choices(_PIECES, k=many))
    data = mark + text.encode(codec)
    if codec == "utf-8" and generator.random() < 0.4:
        parts = [data[at : at + 17] + generator.choice(_BROKEN) for at in range(0, len(data), 17)]
        data = b"".join(parts)
    elif mark and generator.random() < 0.2:
        data += b"\0" * generator.randrange(4)  # may end within a code unit
    return data


def whole_characters(data: bytes, encoding: window.Encoding) -> bool:
    """Whether the bytes are text throughout."""
    try:
        data.decode(encoding.codec)
    except UnicodeDecodeError:
        return False
    return True


def pages_tile(data: bytes, generator: random.Random) -> str | None:
    """What is wrong with the pages of `data`; None if nothing is."""
    encoding = window.detect(data)
    if encoding is None:
        return None
    source = Bytes(data)
    cap = generator.choice((4, 5, 7, 16, 33, 64, 100, 1_000))
    start = generator.choice((0, 0, generator.randrange(len(data) + 2)))
    clean = whole_characters(data, encoding)
    at, first = start, True
    while True:
        source.read_bytes = 0
        asked = generator.choice((0, 1, 3, cap, cap, cap + 50))
        extent = window.cut_bytes(source, encoding, start_byte=at, max_bytes=asked, cap_bytes=cap, keep_start=not first)
        if extent.start_byte >= len(data):
            break
        if extent.data != data[extent.start_byte : extent.end_byte]:
            return f"the bytes at {extent.start_byte} are not those of the file"
        if not first and extent.start_byte != at:
            return f"page at {extent.start_byte} after one that ended at {at}"
        if first and extent.start_byte > at:
            return f"asked for byte {at}, began at {extent.start_byte}"
        if extent.end_byte <= at and extent.end_byte <= extent.start_byte:
            return f"no step forward at {at}"
        if len(extent.data) > max(cap, 4 * encoding.unit):
            return f"a page of {len(extent.data)} bytes above the cap of {cap}"
        if source.read_bytes > 2 * max(cap, 4 * encoding.unit) + 8:
            return f"{source.read_bytes} bytes read for a page of at most {cap}"
        if clean and not whole_characters(extent.data, encoding):
            return f"a character is cut at {extent.start_byte} or {extent.end_byte}"
        at, first = extent.end_byte, False
        if at >= len(data):
            break
    return None if at >= len(data) or start >= len(data) else f"ended at {at} of {len(data)}"


def file_pages_tile(root: str, workspace: Workspace, tools: Tools, generator: random.Random) -> str | None:
    """The same on a file, forward by `next`, back by `previous`, by lines and by text; `view` and its numbers."""
    data = content(generator) * generator.choice((1, 1, 3, 10))
    encoding = window.detect(data)
    with open(os.path.join(root, "file.txt"), "wb") as file:
        file.write(data)
    if encoding is None or not data:
        return None
    pages = _follow(
        workspace, {"path": "file.txt", "start_byte": 0, "max_bytes": generator.choice((1, 40, 200, 5_000))}
    )
    if isinstance(pages, str):
        return pages
    at = 0
    for page in pages:
        if page.start_byte != at:
            return f"read_file: page at {page.start_byte}, the one before ended at {at}"
        if page.first_line is not None and encoding.unit == 1 and page.first_line != data.count(b"\n", 0, at) + 1:
            return f"read_file: line {page.first_line} at byte {at}"
        at = page.end_byte
    if at != len(data):
        return f"read_file: ended at {at} of {len(data)}"
    if wrong := _back(workspace, pages[-1]):
        return wrong
    return _viewed(tools, data, encoding, generator.choice((1, 2, 7, 100)))


def _follow(workspace: Workspace, arguments: dict[str, object]) -> list[Window] | str:
    pages: list[Window] = []
    for _ in range(10_000):
        page = workspace.read_file(**arguments)  # type: ignore[arg-type]
        if not isinstance(page, Window):
            return "read_file: an outline in byte mode"
        pages.append(page)
        if page.next is None:
            return pages
        arguments = dict(page.next.arguments)
    return "read_file: no end after 10,000 pages"


def _back(workspace: Workspace, page: Window) -> str | None:
    for _ in range(10_000):
        if page.previous is None:
            return None if page.start_byte == 0 else f"no way back from {page.start_byte}"
        before = workspace.read_file(**page.previous.arguments)  # type: ignore[arg-type]
        if not isinstance(before, Window) or before.end_byte != page.start_byte or before.start_byte >= page.start_byte:
            return f"the page before {page.start_byte} is {before!r:.120}"
        page = before
    return "no start after 10,000 pages back"


_ROW = re.compile(r"(\d+)\|")


def _viewed(tools: Tools, data: bytes, encoding: window.Encoding, limit: int) -> str | None:
    text = data[encoding.bom_bytes :].decode(encoding.codec, "replace")
    lines = text.count("\n") + (
        not text.endswith("\n")
    )  # `data` is not empty; a byte order mark alone is a line of no characters
    offset, seen = 0, 0
    while True:
        answer = tools.view("file.txt", offset=offset, limit=limit)
        head, *rows = answer.split("\n")
        if f" of {lines} total" not in head:
            return f"view: {lines} lines, but {head[:80]!r}"
        for row in rows:
            seen += 1
            found = _ROW.match(row)
            if found is None or int(found[1]) != seen:
                return f"view: line {seen} is shown as {row[:40]!r}"
        offset += limit
        if "next: " not in head:
            break
    return None if seen == lines else f"view: {seen} of {lines} lines were shown"


class _Part(NamedTuple):
    """Files of one seed, for one process to make."""

    seed: int
    in_memory: int
    on_disk: int


def _wrong(part: _Part) -> list[str]:
    """Faults in tiling; at most about twenty."""
    generator, wrong = random.Random(part.seed), list[str]()
    for number in range(part.in_memory):
        data = content(generator)
        problem = pages_tile(data, generator)
        if problem:
            wrong.append(f"file {number} of seed {part.seed}, {data[:60]!r}: {problem}")
        if len(wrong) > 20:
            break
    with folder("tiling") as root:
        workspace = Workspace(root)
        tools = Tools(workspace)
        for number in range(part.on_disk):
            problem = file_pages_tile(root, workspace, tools, generator)
            if problem:
                wrong.append(f"file {number} on disk of seed {part.seed}: {problem}")
            if len(wrong) > 20:
                break
        workspace.root.close()
    return wrong


def measure(*, long: bool, seed: int) -> Figure:
    """Files whose pages tile them."""
    if long:
        parts = [_Part(seed + number, 25_000, 250) for number in range(20)]
        with forked(2) as pool:
            wrong = [line for lines in pool.map(_wrong, parts) for line in lines]
    else:
        parts = [_Part(seed, 1_000, 25)]
        wrong = _wrong(parts[0])
    tried = sum(part.in_memory + part.on_disk for part in parts)
    return Figure(
        rig="R5",
        name="tiling",
        value=f"{tried - len(wrong)}/{tried} files tile",
        target=f"{'500000' if long else 'all'} files, 0 gaps, overlaps, cut characters or wrong numbers",
        met=not wrong,
        seed=seed,
        notes=tuple(wrong),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))
