"""How do names change hands in one step? Two files swap names, or one takes a free name.

A rename over a file displaces whatever is there, seen or not. A swap displaces nothing: afterwards the earlier file has the other
name and can be examined. Linux has both in `renameat2`, macOS in `renameatx_np`; Windows replaces a file and leaves a backup. Law:
no file loses its last name here. Leaves to others: what is written, and how to judge what was displaced (`replacing`).

Sources: renameat2(2), renameatx_np(2), ReplaceFileW.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache, partial
from typing import TYPE_CHECKING

from penstock.workspace import system

if TYPE_CHECKING:
    from collections.abc import Callable

# linux/fs.h and macOS's stdio.h: the same two flags with different numbers.
_NO_REPLACE, _EXCHANGE = (4, 2) if sys.platform == "darwin" else (1, 2)
_FUNCTION = "renameatx_np" if sys.platform == "darwin" else "renameat2"
_NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
"""The system call number of `renameat2`, by machine."""
# The errors if a system, a file system or a container's filter lacks the call. EPERM may also be genuine: the fallback then fails
# with it again.
_LACKING = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def exchange(folder: system.Folder, beside: str, name: bytes) -> bool:
    """Swap the names of two files of a folder in one step.

    Args:
        folder: The open folder.
        beside: A file of ours, which gets `name`.
        name: Any file, which gets the name `beside`.

    Returns:
        True if they have swapped; False if this system or this file system cannot, and nothing has happened.

    Raises:
        OSError: One of them is missing, or the folder cannot be written.
    """
    if sys.platform == "win32":
        return _replaced_with_backup(folder, beside, name)
    return _renamed(folder, beside, name, _EXCHANGE)


def take_name(folder: system.Folder, beside: str, name: bytes) -> None:
    """Give a file of ours a free name in the same folder.

    Raises:
        FileExistsError: The name is taken, and its file is left alone.
        OSError: Any other failure.
    """
    old, at = system.entry_path(folder, beside)
    new, _ = system.entry_path(folder, name)
    if sys.platform == "win32":  # where `rename` takes only free names
        os.rename(old, new)
        return
    if _renamed(folder, beside, name, _NO_REPLACE):
        return
    try:
        # Every POSIX file system but the simplest supports hard links, which never replace an existing name.
        os.link(old, new, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _LACKING:
            raise
        _take_reserved(folder, beside, name)
    else:
        os.unlink(old, dir_fd=at)


def _take_reserved(folder: system.Folder, beside: str, name: bytes) -> None:
    """Give a file a free name that an empty file reserves first, so that what a rename displaces is ours.

    For FAT and object stores over FUSE, which have neither the call nor hard links. A kill in between leaves the empty file.

    Raises:
        FileExistsError: The name is taken.
        OSError: Any other failure.
    """
    old, at = system.entry_path(folder, beside)
    new, _ = system.entry_path(folder, name)
    system.create_empty(folder, name)
    try:
        os.replace(old, new, src_dir_fd=at, dst_dir_fd=at)
    except OSError:
        os.unlink(new, dir_fd=at)
        raise


def _renamed(folder: system.Folder, old: str, new: bytes, flags: int) -> bool:
    """Rename with flags; False if they are not supported. Raises OSError."""
    function = _function()
    if function is None or not isinstance(folder, int):
        return False
    if function(folder, os.fsencode(old), folder, new, flags) == 0:
        return True
    code = ctypes.get_errno()
    if code in _LACKING:
        return False
    raise OSError(code, os.strerror(code))


@cache
def _function() -> Callable[..., int] | None:
    """Return the system's call; None if it has none."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if hasattr(library, _FUNCTION):
            return library[_FUNCTION]
        # Some C libraries have no function for a call that their kernel has.
        import platform

        number = _NUMBERS[platform.machine()]
        syscall = library.syscall
    except (AttributeError, KeyError, OSError, TypeError):
        return None
    arguments = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    syscall.restype, syscall.argtypes = ctypes.c_long, arguments
    return partial(syscall, number)


def _replaced_with_backup(folder: system.Folder, beside: str, name: bytes) -> bool:
    """Do the closest thing on Windows: the file is replaced, and its old content moves to where ours was."""
    ours, _ = system.entry_path(folder, beside)
    there, _ = system.entry_path(folder, name)
    backup = f"{os.fsdecode(ours)}~"
    try:
        replace = ctypes.WinDLL("kernel32").ReplaceFileW  # type: ignore[attr-defined, unused-ignore]  # on Windows alone
    except (AttributeError, OSError):
        return False
    if not replace(os.fsdecode(there), os.fsdecode(ours), backup, 0, None, None):
        return False
    os.rename(backup, ours)
    return True
