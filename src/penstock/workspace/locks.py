"""Which process of a machine may write? One at a time: the one that holds a lock on an open file.

The lock is `flock` where it exists: unlike a POSIX record lock, it belongs to the open file and survives when the process closes
another descriptor of it. Windows locks a byte far past the end of the file instead, because its locks keep others from reading the
range they cover. Law: a lock ends with the process that holds it, however that process ends. Leaves to others: how long to wait.
"""

from __future__ import annotations

import os
import sys

_PLACE = (1 << 31) - 2  # the last position that its C runtime can address


def acquire(descriptor: int, *, is_shared: bool = False) -> bool:
    """Take the lock of an open file without waiting; False if another process has it.

    Args:
        descriptor: The open file.
        is_shared: Whether others may share it, if the system has shared locks.

    Raises:
        OSError: Locks fail on this file system.
    """
    if sys.platform == "win32":
        return _at_the_place(descriptor, "LK_NBLCK")
    import fcntl

    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def release(descriptor: int) -> None:
    """Release the lock of an open file. Raises OSError."""
    if sys.platform == "win32":
        _at_the_place(descriptor, "LK_UNLCK")
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _at_the_place(descriptor: int, operation: str) -> bool:
    """Lock or unlock one byte far past the end of the file, without moving the file position."""
    import msvcrt

    here = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, getattr(msvcrt, operation), 1)  # type: ignore[attr-defined, unused-ignore]  # on Windows alone
    except PermissionError:
        return False
    finally:
        os.lseek(descriptor, here, os.SEEK_SET)
    return True
