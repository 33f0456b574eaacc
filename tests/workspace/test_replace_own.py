"""A user's own file is replaced as a whole, or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from tests.leftovers import nothing_left_open

from penstock.workspace.own_files import OwnFolder, replace_own

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = b"old\n" * 5, b"new\n" * 50_000
STEPS = [
    ("open", 1, OLD),
    ("open", 2, OLD),
    ("write", 1, OLD),
    ("write", 2, OLD),
    ("fsync", 1, OLD),
    ("close", 1, OLD),
    ("replace", 1, OLD),
    ("fsync", 2, NEW),
    ("close", 2, NEW),
]
"""The calls of the system that a replacement makes, and what is there when one fails."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "handoff.json"
    file.write_bytes(OLD)
    return file


def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes 150,000 bytes at a time."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:150_000]))


def test_the_file_is_replaced_and_private(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the content, for its user only, and nothing beside it; also where there was nothing, and in the current folder."""
    pieces(monkeypatch)
    monkeypatch.chdir(file.parent)
    file.chmod(0o644)
    for path in (str(file), "other.json", "other.json"):
        replace_own(path, NEW)
        assert (file.parent / path).read_bytes() == NEW
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir()) == ["handoff.json", "other.json"]


def test_a_link_is_replaced_and_not_followed(file: Path) -> None:
    """What it leads to stays as it is."""
    link = file.parent / "link.json"
    link.symlink_to(file.name)
    replace_own(str(link), NEW)
    assert (file.read_bytes(), link.read_bytes(), link.is_symlink()) == (OLD, NEW, False)


@pytest.mark.parametrize(("call", "time", "left"), STEPS, ids=lambda value: str(value)[:8])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_failure_at_any_step_leaves_the_old_or_the_new(
    file: Path, monkeypatch: pytest.MonkeyPatch, call: str, time: int, left: bytes, failure: BaseException
) -> None:
    """Never anything else, nothing beside it, and no descriptor open."""
    pieces(monkeypatch)
    real, calls = getattr(os, call), []

    def failing(*args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == time:
            if call == "close":
                real(*args)  # the system closes a descriptor also when it reports an error
            raise failure
        return real(*args, **options)

    with nothing_left_open(), monkeypatch.context() as broken:
        broken.setattr(os, call, failing)
        with pytest.raises(type(failure)):
            replace_own(str(file), NEW)
    assert file.read_bytes() == left
    assert os.listdir(file.parent) == [file.name]


def test_the_content_is_flushed_before_its_name_and_the_name_after(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is what makes a power cut harmless."""
    done: list[str] = []

    def noted(name: str) -> None:
        real = getattr(os, name)

        def call(*args: Any, **options: Any) -> Any:
            done.append(name)
            return real(*args, **options)

        monkeypatch.setattr(os, name, call)

    for name in ("write", "fsync", "replace"):
        noted(name)
    replace_own(str(file), b"new")
    assert done == ["write", "fsync", "replace", "fsync"]


@pytest.mark.parametrize("path", ["", "folder", "folder/", "nothing/file"])
def test_a_path_that_names_no_file_is_an_error_of_the_system(file: Path, path: str) -> None:
    """A folder is not replaced by a file, and none is made."""
    (file.parent / "folder").mkdir()
    with pytest.raises(OSError, match=r"\[Errno"):
        replace_own(str(file.parent / path) + ("/" if path.endswith("/") else ""), NEW)
    assert sorted(os.listdir(file.parent)) == ["folder", "handoff.json"]
    assert os.listdir(file.parent / "folder") == []


@pytest.mark.skipif(os.name == "nt", reason="there a file has to be writable for that")
def test_what_is_flushed_is_opened_for_reading_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be written, or that runs, can be made to last as well."""
    opened: list[int] = []
    real = os.open

    def watched(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        opened.append(flags)
        return real(path, flags, *arguments, **named)

    folder = OwnFolder(str(file.parent))
    monkeypatch.setattr(os, "open", watched)
    folder.flush(file.name)
    folder.close()
    assert opened
    assert {flags & os.O_ACCMODE for flags in opened} == {os.O_RDONLY}
