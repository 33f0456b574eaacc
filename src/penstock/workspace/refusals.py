"""Why is something beneath a root not opened or written? A `ToolError` per reason, with the path and a call that works instead.

Law: any part of a path that is echoed is inert and clipped. Leaves to others: what is checked and when (`root`).
"""

from __future__ import annotations

import errno
import stat
from typing import TYPE_CHECKING

from penstock.call import Call
from penstock.errors import ToolError
from penstock.text import escape, notices

if TYPE_CHECKING:
    import os

_KINDS = {
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


def shown(relative: bytes) -> str:
    """Return a relative path as an error may echo it: inert, and clipped."""
    return escape.clip(relative.decode("utf-8", "surrogateescape"))


def outside(path: str) -> ToolError:
    """Return the refusal of a path that leads out of the root."""
    return ToolError(
        "outside_root",
        f"{escape.clip(path)} is outside the root. Paths are relative to the root and stay beneath it.",
        Call("list_files"),
    )


def secret(relative: bytes) -> ToolError:
    """Return the refusal of a file whose name suggests that it holds credentials."""
    return ToolError(
        "secret",
        f"{shown(relative)} is refused: by its name it holds credentials. Who started this may allow it: "
        "PENSTOCK_ALLOW_SECRETS=1 (any command or server), `penstock mcp --allow-secrets`, Workspace(allow_secrets=True).",
        listing(),
    )


def irregular(status: os.stat_result, relative: bytes) -> ToolError:
    """Return the refusal of anything but a regular file, with its kind."""
    if stat.S_ISDIR(status.st_mode):
        return ToolError("is_directory", f"{shown(relative)} is a folder, not a file.", listing(relative))
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "special file")
    return ToolError("not_regular_file", f"not_regular_file: {kind}. {shown(relative)} was not opened.", listing())


def not_a_folder(relative: bytes, *, is_readable: bool) -> ToolError:
    """Return the refusal of a file where a folder is needed, with the call that shows the file if it can be read."""
    way = Call("view", {"file_path": escape.show_name(relative)}) if is_readable else listing()
    return ToolError("not_directory", f"{shown(relative)} is a file, not a folder.", way)


def listing(folder: bytes = b".") -> Call:
    """Return the call that lists a folder, by default the root: what to do about a path that cannot be opened."""
    return Call("list_files", {} if folder == b"." else {"path": escape.show_name(folder)})


_REFUSALS = {
    errno.ENOENT: ("not_found", "There is no file or folder {}."),
    errno.ENOTDIR: ("not_found", "There is no file or folder {}: a part of the path is a file, not a folder."),
    errno.EXDEV: ("outside_root", "{} leads elsewhere, by a link or a mount that is not followed. It was not opened."),
    errno.ELOOP: (
        "link_loop",
        "{} is a loop of symbolic links, or links where none is followed. It was not opened.",
    ),
    errno.EACCES: ("denied", "Permission denied: {}."),
    errno.EPERM: ("denied", "Permission denied: {}."),
    errno.ENAMETOOLONG: ("path_too_long", "A part of {} is longer than the file system takes."),
    errno.EAGAIN: ("path_changing", "The path {} is changing while it is opened. Try again."),
    errno.ENXIO: ("not_regular_file", "not_regular_file: {} was not opened."),
}
# For these another path is the answer, and a listing has it. A denied or changing path was named correctly.
_ELSEWHERE = frozenset({"not_found", "outside_root", "link_loop", "path_too_long", "not_regular_file"})


def refusal(error: OSError, relative: bytes) -> ToolError:
    """Return the `ToolError` for the operating system's error about a path."""
    code, sentence = _REFUSALS.get(error.errno or 0, ("io_error", f"{{}} cannot be read: {error.strerror}."))
    return ToolError(code, sentence.format(shown(relative)), *([listing()] if code in _ELSEWHERE else []))


def made_meanwhile(relative: bytes) -> ToolError:
    """Return the refusal to create a file that somebody else has created meanwhile."""
    return ToolError(
        "stale", f"{shown(relative)} was made by someone else meanwhile: nothing was changed. Read it first."
    )


def unwritten(error: OSError, relative: bytes) -> ToolError:
    """Return the `ToolError` for the operating system's error about a file that was to be written."""
    said = refusal(error, relative)
    if error.errno not in _REFUSALS:
        said = ToolError("io_error", f"{shown(relative)} cannot be written: {error.strerror}. It is as it was.")
    return with_notes(said, error)


def with_notes(said: ToolError, error: BaseException) -> ToolError:
    """Return a refusal with the notes of the error that led to it, such as a file that is left behind."""
    notes = " ".join(getattr(error, "__notes__", ()))
    return ToolError(said.code, f"{said.message} {notes}") if notes else said


def expect_from(least: int, **numbers: int | None) -> None:
    """Raise `ToolError` for a number that no page can have. Faces check more, and say more (`tools`)."""
    for name, number in numbers.items():
        if number is not None and number < least:
            raise ToolError("bad_argument", notices.argument(name, f"takes an integer from {least} on, not {number}"))
