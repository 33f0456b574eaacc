"""How does this system open files, make writes durable, and end a process?

What a system lacks is handled here once, so that callers need not ask: missing flags are 0, a folder that cannot be a descriptor is
its real path, `pread` has a substitute. Law: nothing here follows a link unless its caller asked for that. Leaves to others: what
may be opened (`root`), and which files are Penstock's own (`own_files`).
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import stat
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from _typeshed import ReadableBuffer as Buffer

_RETRIES = 8
_RACED = frozenset({errno.EAGAIN, errno.EINTR, errno.ELOOP})
"""Errors of a look-up that was disturbed by somebody else's rename, and that may differ when it is retried.

EAGAIN comes from a `..` of a link. ELOOP: a disturbed look-up restarts but keeps counting, so a chain of more than 20 links, of the
40 that are followed, looks like a loop; a real loop is one at each try.
"""

# linux/openat2.h; Python has no function for the call. BENEATH refuses `..` and links that lead above the starting folder,
# NO_MAGICLINKS those of /proc, which lead anywhere.
_SYS_OPENAT2 = 437
NO_MOUNTS, NO_MAGIC_LINKS, BENEATH = 0x01, 0x02, 0x08

# What a system lacks is 0: every open below names all that it wants, and is as strict as the system allows. `O_BINARY` is for
# Windows, which changes line ends without it.
PRIVATE: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
PATH: int = getattr(os, "O_PATH", 0)
READ: int = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | PRIVATE
LOOK: int = PATH | PRIVATE
FOLDER_ONLY: int = getattr(os, "O_DIRECTORY", 0)
FOLDER: int = os.O_RDONLY | FOLDER_ONLY | PRIVATE
HAS_FOLDER_DESCRIPTORS = bool(NOFOLLOW) and {os.open, os.stat, os.mkdir, os.rename, os.unlink} <= os.supports_dir_fd
_NAME_SURROGATE = 0x2000_0000  # winnt.h: a reparse point that stands for another name, such as a junction

Folder = int | str
"""An open folder: a descriptor, or its real path if the system has none."""


class _OpenHow(ctypes.Structure):
    """`struct open_how` of linux/openat2.h."""

    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


@cache
def _library() -> ctypes.CDLL:
    """Return the C library; loading it creates classes, which takes longer than a call of it."""
    return ctypes.CDLL(None, use_errno=True)


@cache
def _syscall() -> ctypes._NamedFuncPointer:
    """Return libc's `syscall`, which reports its error through `ctypes.get_errno`."""
    function = _library().syscall
    function.restype = ctypes.c_long
    return function


def syscall(number: int, *arguments: object) -> int:
    """Make a system call that Python has no function for. Raises OSError."""
    longs = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(int(_syscall()(ctypes.c_long(number), *longs)))


def prctl(option: int, *values: int) -> int:
    """Change or read a setting of this process (prctl(2)). Raises OSError."""
    given = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    return _checked(int(_library().prctl(option, *given)))


def _checked(answer: int) -> int:
    """Return the answer of a system call. Raises OSError for one that failed."""
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer


def openat2(folder: int, path: bytes, flags: int, resolve: int) -> int:
    """Open `path` beneath the folder `folder`, resolved in the kernel under the rules in `resolve`. Raises OSError."""
    how = _OpenHow(flags, 0, resolve)
    number, at, size = ctypes.c_long(_SYS_OPENAT2), ctypes.c_int(folder), ctypes.c_size_t(24)
    for _ in range(_RETRIES):
        descriptor = int(_syscall()(number, at, path, ctypes.byref(how), size))
        if descriptor >= 0:
            return descriptor
        # Somebody who renames constantly can make this fail, but not succeed wrongly.
        if ctypes.get_errno() not in _RACED:
            break
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code))


def openat2_works() -> bool:
    """Return whether this kernel, with the filters of its containers, resolves beneath a descriptor."""
    if sys.platform != "linux":  # the number means another call elsewhere
        return False
    try:
        # -100 is AT_FDCWD. Containers may forbid the call (seccomp) on kernels that have it.
        os.close(openat2(-100, b".", LOOK, 0))
    except OSError:
        return False
    return True


def strongest() -> str:
    """Return the confinement that `auto` selects on this system: `openat2`, `walk` or `paths`."""
    return "openat2" if openat2_works() else "walk" if HAS_FOLDER_DESCRIPTORS else "paths"


def ending_signals() -> list[int]:
    """Return the signals that ask this process to end: Ctrl-C, a supervisor, a closed terminal.

    The last is omitted if it is ignored: what nohup started then continues. Windows has no such signal.
    """
    hangup: int | None = getattr(signal, "SIGHUP", None)
    is_heard = hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([hangup] if hangup is not None and is_heard else [])]


def is_link(status: os.stat_result) -> bool:
    """Return whether a status is that of a link, or of its kin on Windows: a junction, a mount in a folder."""
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_reparse_tag", 0) & _NAME_SURROGATE)


def expect_real(path: str) -> None:
    """Raise OSError for a path that leads elsewhere than it says, or nowhere."""
    if os.path.normcase(os.path.realpath(path, strict=True)) != os.path.normcase(path):
        raise OSError(errno.EXDEV, "a link or a mount")


def entry_path(folder: Folder, name: bytes | str) -> tuple[bytes | str, int | None]:
    """Return how an entry of an open folder is named to the system: the path, and the descriptor that it is relative to, if any."""
    return (name, folder) if isinstance(folder, int) else (os.path.join(folder, os.fsdecode(name)), None)


def create_empty(folder: Folder, name: bytes) -> None:
    """Create an empty private file in an open folder. Raises OSError, also if the name is taken."""
    path, at = entry_path(folder, name)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | PRIVATE, 0o600, dir_fd=at))


def scan_folder(folder: Folder) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
    """Return the entries of an open folder, to be used as a context. Raises OSError."""
    entries = os.scandir(folder)
    if isinstance(folder, str):
        try:
            expect_real(folder)  # it was opened by path: is the path still its own?
        except BaseException:
            entries.close()
            raise
    return entries


def close_folder(folder: Folder) -> None:
    """Close an open folder."""
    if isinstance(folder, int):
        os.close(folder)


def flush_folder(folder: Folder) -> None:
    """Make the names in a folder survive a power cut, if the system can flush folders. Raises OSError."""
    if isinstance(folder, int):
        os.fsync(folder)


def flush(descriptor: int) -> None:
    """Make the content of an open file survive a power cut. Raises OSError."""
    os.fsync(descriptor)
    if sys.platform == "darwin":  # where `fsync` stops at the drive's own memory
        import fcntl

        with suppress(OSError):  # not every file system supports it
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)


def _read_at(descriptor: int, count: int, start_byte: int) -> bytes:
    """Substitute for `os.pread` if it is missing; the file position is restored."""
    here = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, start_byte, os.SEEK_SET)
        return os.read(descriptor, count)
    finally:
        os.lseek(descriptor, here, os.SEEK_SET)


def _write_at(descriptor: int, data: Buffer, start_byte: int) -> int:
    """Substitute for `os.pwrite` if it is missing; the file position moves."""
    os.lseek(descriptor, start_byte, os.SEEK_SET)
    return os.write(descriptor, data)


read_at: Callable[[int, int, int], bytes] = getattr(os, "pread", _read_at)
"""`os.pread(descriptor, count, start_byte)`: at most that many bytes from a position on.

If the system lacks it, only one thread at a time may read a descriptor.
"""
write_at: Callable[[int, Buffer, int], int] = getattr(os, "pwrite", _write_at)
"""`os.pwrite(descriptor, data, start_byte)`: writes at a position and returns how much was written."""


def terminal_behind(descriptor: int) -> int:
    """Return a descriptor for writing to the terminal that another descriptor reads from.

    Raises:
        OSError: It does not read from a terminal, or the terminal cannot be written.
    """
    if sys.platform == "win32":
        raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
    return os.open(os.ttyname(descriptor), os.O_WRONLY | os.O_NOCTTY | PRIVATE)


def path_handle(path: str) -> int:
    """Return an `O_PATH` handle, which gives no access to content: Landlock rules need it. Raises OSError."""
    return os.open(path, LOOK)


def file_system(descriptor: int) -> int:
    """Return the type of the file system that an open file is on (statfs(2)); 0 if the system does not say."""
    if sys.platform != "linux":
        return 0
    buffer = ctypes.create_string_buffer(256)
    if _library().fstatfs(descriptor, buffer) != 0:
        return 0
    return int.from_bytes(buffer.raw[: ctypes.sizeof(ctypes.c_long)], sys.byteorder) & 0xFFFFFFFF
