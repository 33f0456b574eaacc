"""Is a result read as it was written, or not at all?"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError
from penstock.scribe.results import Folder, key_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("C-13")

KEY = key_of("a", "b")


def test_a_result_is_there_for_the_next_run(tmp_path: Path) -> None:
    """Any JSON is kept under its own key; if there are two results, the newest is read."""
    folder = Folder(str(tmp_path / "new" / "results"))
    assert folder.get(KEY) is None
    values: list[Any] = [{"claims": [1, "ü", None]}, [], 7]
    for value in values:
        folder.put(KEY, value)
        assert Folder(str(tmp_path / "new" / "results")).get(KEY) == value
    assert folder.get(key_of("ab")) is None


def test_keys_are_of_their_parts() -> None:
    """No two lists of parts have the same key."""
    assert len({key_of("a", "b"), key_of("ab"), key_of("a", "b", ""), key_of('a","b'), key_of()}) == 5


def test_fresh_reads_nothing(tmp_path: Path) -> None:
    """What a fresh run writes is read by the next that is not fresh."""
    Folder(str(tmp_path)).put(KEY, 1)
    fresh = Folder(str(tmp_path), fresh=True)
    assert fresh.get(KEY) is None
    fresh.put(KEY, 2)
    assert Folder(str(tmp_path)).get(KEY) == 2


@pytest.mark.parametrize("content", [b"", b"x", b"\n{}", b"\xff\xfe", b"{}", b"0" * 64 + b"\n{}"])
def test_what_was_damaged_is_nothing(tmp_path: Path, content: bytes) -> None:
    """The file was truncated, changed, or written by somebody else."""
    folder = Folder(str(tmp_path))
    folder.put(KEY, {"claims": []})
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    path.write_bytes(content)
    assert folder.get(KEY) is None


def test_results_are_private(tmp_path: Path) -> None:
    """Results have text about somebody's programs."""
    Folder(str(tmp_path / "results")).put(KEY, 1)
    modes = {stat.S_IMODE(os.stat(path).st_mode) & 0o077 for path in tmp_path.rglob("*")}
    assert modes == {0}


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """The error has the path and the system's message."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(CallerError, match="Results cannot be kept"):
        Folder(str(tmp_path / "file")).put(KEY, 1)


@pytest.mark.parametrize("name", ["", KEY[:2]])
def test_no_link_is_followed(tmp_path: Path, name: str) -> None:
    """The folder and what is in it may not be links; the path to it may have any name."""
    inside, outside, called = tmp_path / "results", tmp_path / "outside", tmp_path / "called"
    outside.mkdir()
    called.symlink_to(tmp_path)
    Folder(str(called / "results")).put(key_of("other"), 1)
    if name:
        (inside / name).symlink_to(outside)
    else:
        inside.rename(tmp_path / "moved")
        inside.symlink_to(outside)
    with pytest.raises(CallerError, match="leads elsewhere"):
        Folder(str(inside)).put(KEY, 1)
    assert list(outside.iterdir()) == []


def test_a_key_is_no_path(tmp_path: Path) -> None:
    """Only a hash is a valid name."""
    with pytest.raises(CallerError):
        Folder(str(tmp_path)).get("../../etc/passwd")
