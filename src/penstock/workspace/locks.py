"""Let one process of a machine write at a time: a lock on an open file.

`flock` where there is one: unlike POSIX record locks it belongs to the open file, and is not lost when the process
closes another descriptor of it. On Windows a byte far behind the end of the file is locked instead, because locks there
keep others from reading what they cover. Law: a lock ends with the process that holds it, however that ends. How long
anybody waits is decided by those who ask.
"""

from __future__ import annotations

import os
import sys

_PLACE = (1 << 31) - 2  # the last that its C runtime can name


def acquire(descriptor: int, *, is_shared: bool = False) -> bool:
    """Take the lock of an open file without waiting; False when another has it.

    Args:
        descriptor: The open file.
        is_shared: Whether others may share it, where the system knows such locks.

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
    """Give the lock of an open file back. Raises OSError."""
    if sys.platform == "win32":
        _at_the_place(descriptor, "LK_UNLCK")
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _at_the_place(descriptor: int, operation: str) -> bool:
    """Lock or unlock one byte far behind the end of the file, and leave the position in it as it was."""
    import msvcrt

    here = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, getattr(msvcrt, operation), 1)  # type: ignore[attr-defined, unused-ignore]
    except PermissionError:
        return False
    finally:
        os.lseek(descriptor, here, os.SEEK_SET)
    return True
