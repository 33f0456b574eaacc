"""Are views and ranges of small files the same if they are read in blocks of sixteen bytes?

`small_blocks.txt` has what bounds a page if only the blocks are small; `WRITE_TABLES=1` rewrites it.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.tables import check_table

from penstock import Window, Workspace
from penstock.text import window
from penstock.text.window import UTF8
from penstock.workspace import fitting, views

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.text.window import Line

TABLE = Path(__file__).with_name("small_blocks.txt")
_LENGTHS = (0, 1, 3, 4, 6, 7, 8, 13, 14, 15, 16, 17, 30, 31, 32, 33, 47, 48, 49)
FILES = {
    "ascii": b"".join(bytes([97 + at % 26]) * size + b"\n" for at, size in enumerate(_LENGTHS)),
    "carriages": b"".join(b"%d" % at + b"r" * size + b"\r\n" for at, size in enumerate(_LENGTHS)) + b"end",
    "wide": b"".join("ö日"[at % 2].encode() * size + b"\n" for at, size in enumerate(_LENGTHS)),
    "short": b"ab\n" * 40,
    "empty": b"\n" * 40,
    "one": b"x" * 100,
    "utf-16": b"\xff\xfe" + "".join("é" * size + "\r\n" for size in _LENGTHS).encode("utf-16-le"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the files; lines are clipped so early that those longer than a block behave like shorter ones."""
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(fitting, "CLIP_CHARACTERS", 2)
    monkeypatch.setattr(fitting, "CLIP_BYTES", 12)
    return tmp_path


class _Room:
    """A room measured in characters, eight more for each line."""

    cap_bytes = 1 << 20

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def lines(self, lines: Sequence[Line]) -> int:
        return sum(len(line.text) + 8 for line in lines)

    def text(self, text: str) -> int:
        return len(text)

    def symbols(self, symbols: object) -> int:
        raise AssertionError(symbols)


def _view(workspace: Workspace, name: str, offset: int, limit: int | None, room: _Room | None = None) -> Window:
    page = workspace.view(name, offset, limit, room=room)
    assert isinstance(page, Window)
    return page


@pytest.mark.proves("V-2", "V-8")
@pytest.mark.parametrize("name", list(FILES))
def test_the_ends_of_blocks_are_not_visible(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each page of a few lines from every line is as if the file had been read at once."""
    asked = list(product(range(0, 44, 1), (1, 2, 5, None)))
    whole = [_view(Workspace(folder), name, offset, limit) for offset, limit in asked]
    monkeypatch.setattr(views, "_BLOCK_BYTES", 16)
    monkeypatch.setattr(views, "_LINES_AT_ONCE", 2)
    workspace = Workspace(folder)
    for (offset, limit), expected in zip(asked, whole, strict=True):
        assert _view(workspace, name, offset, limit) == expected, (offset, limit)


@pytest.mark.proves("V-2", "V-8")
def test_lines_of_a_view_are_those_of_the_file(folder: Path) -> None:
    """Each is clipped by itself, and joined they are the page."""
    for name in ("ascii", "carriages", "wide", "short", "empty", "one"):
        lines, at = list[object](), 0
        for number, data in enumerate(FILES[name].splitlines(keepends=True), 1):
            lines.append(fitting.clipped_line(UTF8, number, data, at, name))
            at += len(data)
        for offset, limit in product((0, 1, 7, 18, 40), (1, 3, None)):
            page = _view(Workspace(folder), name, offset, limit)
            assert list(page.lines) == lines[offset : offset + (limit or 100)]
            assert page.text == "".join(line.text + line.ending for line in page.lines)


@pytest.mark.proves("V-2")
@pytest.mark.parametrize("block_bytes", [16, 64 << 10])
def test_the_view_before_is_found_by_halves(folder: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int) -> None:
    """It tries as many lines as requested, then half, and half again, until they fit; it ends where this page begins."""
    monkeypatch.setattr(views, "_BLOCK_BYTES", block_bytes)
    for name, limit in product(("ascii", "wide", "short", "empty"), (1, 9, 17, 25, 40, 50, 74, 90, 97, 120, 170, 400)):
        room, workspace = _Room(limit), Workspace(folder)
        costs = [room.lines([line]) for line in _view(workspace, name, 0, 100).lines]
        for offset, count in product((1, 2, 3, 5, 18), (1, 2, 3, 4, 7, 16)):
            size = min(count, offset)
            while size > 1 and sum(costs[offset - size : offset]) > limit:
                size = (size + 1) // 2
            way = _view(workspace, name, offset, count, room).previous
            assert way is not None
            assert (way.arguments.get("offset", 0), way.arguments["limit"]) == (offset - size, size), (name, limit)


@pytest.mark.proves("B-8")
def test_the_range_before_is_found_by_halves(folder: Path) -> None:
    """It tries as many lines as this one has, then half, while they are shown whole; else a page by bytes that ends here."""
    for name, limit in product(("ascii", "wide", "short", "utf-16"), (1, 9, 17, 25, 40, 57, 74, 97, 120, 170, 400)):
        room, workspace = _Room(limit), Workspace(folder)
        for first, count in product((1, 2, 3, 6, 8, 14, 19), (1, 2, 3, 7)):
            page = workspace.read_file(name, start_line=first, end_line=first + count - 1, room=room)
            assert isinstance(page, Window)
            size = min(len(page.lines), first - 1)
            while size:
                before = workspace.read_file(name, start_line=first - size, end_line=first - 1, room=room)
                assert isinstance(before, Window)
                if before.end_byte == page.start_byte and before.fragment is None:
                    break
                size //= 2
            way = page.previous
            if first == 1:
                assert way is None
            elif size:
                assert way is not None
                assert way.arguments == {"path": name, "start_line": first - size, "end_line": first - 1}
            else:
                assert way is not None
                last = workspace.read_file(**way.arguments, room=room)  # type: ignore[arg-type]
                assert isinstance(last, Window)
                assert (last.end_byte, "start_byte" in way.arguments) == (page.start_byte, True)


@pytest.mark.proves("B-4")
def test_a_page_by_bytes_holds_the_byte_that_was_asked_for(folder: Path) -> None:
    """This holds however little room there is for the line before it; the previous page ends where this one begins."""
    (folder / "records.json").write_bytes(b'[{"n": 1}, {"n": 22}, {"n": 333}]')
    workspace = Workspace(folder)
    for name, limit in product(("carriages", "wide", "utf-16", "records.json"), (1, 3, 8, 30)):
        room, size = _Room(limit), (folder / name).stat().st_size
        for start, max_bytes in product(range(0, size, max(1, size // 23)), (0, 9, None)):
            page = workspace.read_file(name, start_byte=start, max_bytes=max_bytes, room=room)
            assert isinstance(page, Window)
            assert page.start_byte <= start < page.end_byte, (name, limit, start, max_bytes)
            assert (page.previous is None) == (page.start_byte == 0)
            if page.previous is not None and start % 5 == 0:
                before = workspace.read_file(**page.previous.arguments, room=room)  # type: ignore[arg-type]
                assert isinstance(before, Window)
                assert before.end_byte == page.start_byte, (name, limit, start, max_bytes)


def rows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield a line for each page that a hard cap ends elsewhere."""
    monkeypatch.setattr(views, "_BLOCK_BYTES", 16)
    monkeypatch.setattr(views, "_LINES_AT_ONCE", 3)
    for name, cap in product(FILES, (9, 14, 15, 29, 30, 31, 60)):
        monkeypatch.setattr(window, "HARD_MAX_BYTES", cap)
        workspace = Workspace(folder)
        found: dict[str, list[str]] = {}
        for offset in range(len(_LENGTHS)):
            page = _view(workspace, name, offset, 12)
            back = page.previous.arguments if page.previous is not None else {}
            if back and page.lines:
                before = _view(workspace, name, offset - int(str(back["limit"])), int(str(back["limit"])))
                assert before.end_byte == page.start_byte
            said = f"{len(page.lines)} {page.bound}, back {back.get('limit')}"
            found.setdefault(said, []).append(str(offset))
        told = "; ".join(f"{said} at {' '.join(places)}" for said, places in found.items())
        yield f"{name}, {cap}: {told}"


@pytest.mark.proves("V-5")
def test_what_a_hard_cap_ends_is_what_the_table_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the number of lines, what ended the page, and the number of lines of the page before."""
    check_table(TABLE, list(rows(folder, monkeypatch)))
