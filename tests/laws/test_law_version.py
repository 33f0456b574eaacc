"""The law of a version: it says whether a file is unchanged since an earlier page."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ToolError
from penstock.workspace import version
from penstock.workspace.root import OpenFile
from penstock.workspace.source import FileSource
from penstock.workspace.version import VersionChange

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.proves("B-8")

CONTENT = st.binary(min_size=1, max_size=9000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one folder for all examples."""
    return tmp_path_factory.mktemp("version")


def _with(path: Path, use: Callable[[FileSource], object]) -> object:
    descriptor = os.open(path, os.O_RDONLY)
    file = OpenFile(descriptor, os.fstat(descriptor), b"file")
    try:
        return use(FileSource(file))
    finally:
        file.close()


def _token(path: Path, cursor: int) -> version.Version:
    return version.parse(str(_with(path, lambda source: version.of(source, cursor))))


def _change(path: Path, earlier: version.Version) -> object:
    return _with(path, lambda source: version.compare(earlier, source))


@given(data=CONTENT, first=st.integers(0, 9500), second=st.integers(0, 9500))
def test_an_untouched_file_is_the_same_at_every_place(folder: Path, data: bytes, first: int, second: int) -> None:
    """An untouched file is the same for a token of any place, whatever bytes the reader already had."""
    path = folder / "same"
    path.write_bytes(data)
    token = _token(path, first)
    assert _change(path, token) is VersionChange.SAME
    assert _change(path, _token(path, second)) is VersionChange.SAME
    end = min(first, len(data))
    known = _with(path, lambda source: version.of(source, first, before=data[:end]))
    assert known == token


@given(data=CONTENT, more=CONTENT, cursor=st.integers(0, 9000))
def test_a_file_that_was_appended_to_grew(folder: Path, data: bytes, more: bytes, cursor: int) -> None:
    """A file that was only appended to is reported as grown, not as changed."""
    path = folder / "grew"
    path.write_bytes(data)
    token = _token(path, cursor)
    with path.open("ab") as file:
        file.write(more)
    assert _change(path, token) is VersionChange.GREW


@given(data=st.binary(min_size=2, max_size=3000), at=st.integers(0, 2999), flip=st.integers(1, 255))
def test_a_byte_rewritten_before_the_place_is_noticed_with_all_times_forged(
    folder: Path, data: bytes, at: int, flip: int
) -> None:
    """If size and modification time are unchanged, the change time or the anchor reveals the rewrite (H6)."""
    path = folder / "rewritten"
    path.write_bytes(data)
    status = path.stat()
    token = _token(path, len(data))
    at %= len(data)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes([data[at] ^ flip]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert _change(path, token) is VersionChange.REWRITTEN


@given(data=CONTENT, cut=st.integers(1, 9000))
def test_a_file_that_was_cut_shrank(folder: Path, data: bytes, cut: int) -> None:
    """A truncated file has shrunk, whatever is left of it."""
    path = folder / "shrank"
    path.write_bytes(data)
    token = _token(path, len(data))
    os.truncate(path, max(0, len(data) - cut))
    assert _change(path, token) is VersionChange.SHRANK


def test_another_file_of_the_same_name_is_a_replacement(tmp_path: Path) -> None:
    """A replacement is noticed even with the same content, size and time."""
    path = tmp_path / "file"
    path.write_bytes(b"content")
    token, status = _token(path, 3), path.stat()
    other = tmp_path / "other"
    other.write_bytes(b"content")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(path)
    assert _change(path, token) is VersionChange.REPLACED


@given(st.one_of(st.text(max_size=80), st.from_regex(r"[0-9]{1,21}\.[0-9]{1,21}\.[0-9a-z]{19,23}", fullmatch=True)))
def test_any_text_is_a_version_or_a_named_error(text: str) -> None:
    """An invented version is refused with an explanation, or matches no file."""
    with contextlib.suppress(ToolError):
        assert str(version.parse(text)).split(".")[2] == text.split(".")[2]
        return
    with pytest.raises(ToolError, match=r"^version: ") as refused:
        version.parse(text)
    assert refused.value.code == "bad_argument"


def test_a_token_holds_the_4_kib_before_its_place(folder: Path) -> None:
    """Earlier bytes do not count, and tokens from one version of Penstock are valid in the next."""
    path, data = folder / "anchored", bytearray(b"x" * 10_000)
    path.write_bytes(data)
    anchor = _token(path, 9_000).anchor
    for at, is_same in ((9_000 - 4_097, True), (9_000 - 4_096, False), (8_999, False), (9_000, True)):
        path.write_bytes(data[:at] + b"y" + data[at + 1 :])
        assert (_token(path, 9_000).anchor == anchor) is is_same
