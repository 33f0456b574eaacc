"""On which byte does a line start, according to the index and to counting?"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.text.window import UTF8, Encoding, detect
from penstock.workspace import lines as lines_module
from penstock.workspace.deadline import Deadline
from penstock.workspace.lines import LineIndex, LineIndexes
from penstock.workspace.root import OpenFile
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("V-6", "V-10")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide one file for all examples."""
    return tmp_path_factory.mktemp("lines") / "file"


@pytest.fixture
def small_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set strides and blocks of a few bytes, so that their borders occur."""
    monkeypatch.setattr(lines_module, "STRIDE_BYTES", 16)
    monkeypatch.setattr(lines_module, "_STRIDES_AT_ONCE", 3)
    monkeypatch.setattr(lines_module, "_MAX_STRIDES", 5)


def _open(path: Path) -> FileSource:
    descriptor = os.open(path, os.O_RDONLY)
    return FileSource(OpenFile(descriptor, os.fstat(descriptor), b"file"))


def _starts(data: bytes, encoding: Encoding) -> list[int]:
    starts = [0]
    while (at := encoding.find(data, starts[-1])) is not None:
        starts.append(at)
    return starts


@pytest.mark.usefixtures("small_strides")
@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-32-be"])
@given(
    text=st.lists(st.sampled_from(["\n", "a", "line\n", "x" * 30, "\r\n", "\u0a0a", "\u0a00"]), max_size=60).map(
        "".join
    ),
    stop=st.integers(0, 300),
)
def test_every_line_starts_after_the_line_end_before_it(path: Path, codec: str, text: str, stop: int) -> None:
    """This holds for any strides, once they have doubled, and when a scan continued from where it ended."""
    data = ("" if codec == "utf-8" else "\ufeff").encode(codec) + text.encode(codec)
    path.write_bytes(data)
    encoding = detect(data)
    assert encoding is not None
    source, index = _open(path), LineIndex(encoding)
    try:
        index.advance(source, lambda: index.scanned_bytes >= stop)
        starts = [start for start in _starts(data, encoding) if start <= index.scanned_bytes]
        for line, start in enumerate(starts):
            assert index.start_of(source, line) == start
        assert index.start_of(source, len(starts)) is None
        index.advance(source, lambda: False)
        assert index.is_complete(len(data))
        ends = encoding.count(data, 0, len(data))
        assert index.total_lines() == ends + (not encoding.ends_line(data) if data else 0)
        for at in range(0, len(data) + 1, encoding.unit):
            assert index.lines_before(source, at, 1 << 20) == encoding.count(data, 0, at)
    finally:
        source.file.close()


def test_a_hole_is_passed_in_one_step(tmp_path: Path) -> None:
    """A hole of a terabyte between two lines costs one step, and memory stays bounded (H3)."""
    with (tmp_path / "f").open("wb") as file:
        file.write(b"first\nsecond")
        file.seek(1 << 40)
        file.write(b"\nthird\n")
    source, index = _open(tmp_path / "f"), LineIndex(UTF8)
    index.advance(source, lambda: False)
    assert index.total_lines() == 3
    assert index.start_of(source, 1) == 6
    assert len(index._before) <= lines_module._MAX_STRIDES
    assert index.lines_before(source, (1 << 39) + (1 << 20), 1 << 18) is None  # it would cost more than a page may
    source.file.close()


@pytest.fixture
def indexes() -> tuple[LineIndexes, Deadline]:
    """Return indexes and a deadline a minute away."""
    return LineIndexes(), Deadline(60)


def test_an_index_is_lent_to_one_call_at_a_time(tmp_path: Path, indexes: tuple[LineIndexes, Deadline]) -> None:
    """The second call waits until its deadline, and is told so."""
    (tmp_path / "f").write_bytes(b"a\nb\n")
    source = _open(tmp_path / "f")
    kept, later = indexes
    index = kept.borrow(source, UTF8, later)
    assert index is not None
    index.advance(source, lambda: False)
    kept.give_back(source, index)
    assert kept.borrow(source, UTF8, later) is index
    assert kept.borrow(source, UTF8, Deadline(0.01)) is None
    waiting = threading.Thread(target=lambda: kept.borrow(source, UTF8, later))
    waiting.start()
    kept.give_back(source, index)
    waiting.join(10)
    assert not waiting.is_alive()
    source.file.close()


def test_what_another_call_has_learnt_is_not_forgotten(tmp_path: Path, indexes: tuple[LineIndexes, Deadline]) -> None:
    """Of two scans of a new file the further one is kept."""
    (tmp_path / "f").write_bytes(b"line\n" * 200_000)
    source = _open(tmp_path / "f")
    kept, later = indexes
    one, other = kept.borrow(source, UTF8, later), kept.borrow(source, UTF8, later)
    assert one is not None
    assert other is not None
    one.advance(source, lambda: False)
    other.advance(source, lambda: other.scanned_bytes > 0)
    kept.give_back(source, one)
    kept.give_back(source, other)
    assert kept.borrow(source, UTF8, later) is one
    source.file.close()


def test_the_number_of_kept_indexes_is_bounded(tmp_path: Path, indexes: tuple[LineIndexes, Deadline]) -> None:
    """The least recently used one is dropped."""
    kept, later = indexes
    for n in range(lines_module._KEPT_INDEXES + 5):
        (tmp_path / str(n)).write_bytes(b"x\n")
        source = _open(tmp_path / str(n))
        index = kept.borrow(source, UTF8, later)
        assert index is not None
        index.advance(source, lambda: False)
        kept.give_back(source, index)
        source.file.close()
    assert len(kept._kept) == lines_module._KEPT_INDEXES
