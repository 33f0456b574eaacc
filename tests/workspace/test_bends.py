"""For pages of small files from every place and in every size, what does each hold, what ended it, and what are its neighbours?

`bends.txt` has the reviewed answer; `WRITE_TABLES=1` rewrites it.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.tables import check_table

from penstock import Window, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.outline import Symbol
    from penstock.text.calls import Call
    from penstock.text.window import Line

TABLE = Path(__file__).with_name("bends.txt")
FILES = {
    "lines": b"one\ntwo\n\nfour",
    "ended": b"a\r\n\r\nbc\r\n",
    "long": b"k\n" + "ö".encode() * 30 + b"\nend\n",
    "wide": "\ufeffab\n\U0001f600c\n".encode("utf-16-le"),
    "records.json": b'[{"n": 1}, {"n": 22}, {"n": 333}]',
    "odd": b"\xff\x1b[2J\n\\x41\n",
    "empty": b"",
}


class _Room:
    """Room for a given amount of a page as it is rendered, and for a number of bytes."""

    def __init__(self, limit: int, cap_bytes: int) -> None:
        self.limit, self.cap_bytes = limit, cap_bytes

    def lines(self, lines: Sequence[Line]) -> int:
        return sum(len(line.text) + 3 for line in lines)

    def text(self, text: str) -> int:
        return len(text)

    def symbols(self, symbols: Sequence[Symbol]) -> int:
        return 20 * len(symbols)


_ROOMS = {"12 characters": _Room(12, 1 << 16), "8 bytes": _Room(1 << 16, 8), "all": _Room(1 << 16, 1 << 16)}


def _told(call: Call | None) -> str:
    if call is None:
        return "-"
    named = {name: value for name, value in call.arguments.items() if name not in {"path", "file_path", "version"}}
    return " ".join(f"{name}={value}" for name, value in named.items())


def _row(page: object) -> str:
    if not isinstance(page, Window):
        return type(page).__name__
    said = [re.sub(r"[0-9a-f]{12,}", "…", notice) for notice in page.notices]
    lines = f"lines {page.first_line}-{page.last_line} of {page.total_lines}{'' if page.total_lines_exact else '+'}"
    part = "" if page.fragment is None else f" part of {page.fragment.line_start_byte}-{page.fragment.line_end_byte}"
    text = f"{page.start_byte}-{page.end_byte} {page.text!r} {lines}{part} {page.bound}"
    return f"{text}; {_told(page.previous)} < > {_told(page.next)}{''.join(f' | {one}' for one in said)}"


def rows(folder: Path) -> Iterator[str]:
    """Yield a line for each distinct page."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
        for room_name, room in _ROOMS.items():
            workspace = Workspace(folder)
            asked = [
                {"start_line": first, "end_line": last}
                for first, last in product((None, 0, 1, 2, 4, 9), (None, 1, 2, 3))
            ]
            asked += [
                {"start_byte": start, "max_bytes": size}
                for start, size in product((0, 1, 3, 4, 11, len(content) - 1, len(content)), (None, 0, 1, 5, 21))
            ]
            found: dict[str, list[str]] = {}
            for arguments in asked:
                given: dict[str, Any] = {
                    key: value for key, value in arguments.items() if value is not None and value >= 0
                }
                words = " ".join(
                    f"{key.partition('_')[0][0]}{key.partition('_')[2][0]}{value}" for key, value in given.items()
                )
                found.setdefault(_row(workspace.read_file(name, room=room, **given)), []).append(words or "whole")
            for offset, limit in product((0, 1, 2, 3, 7), (None, 1, 2)):
                page = workspace.view(name, offset, limit, room=room)
                found.setdefault(_row(page), []).append(f"view {offset}+{limit}")
            for said, pages in found.items():
                yield f"{name}, {room_name}: {', '.join(pages)}: {said}"


@pytest.mark.proves("B-1", "B-2", "B-4", "B-5")
def test_pages_of_small_files_are_those_of_the_table(tmp_path: Path) -> None:
    """Pages are by lines and by bytes, with first, last, next and previous."""
    check_table(TABLE, list(rows(tmp_path)))
