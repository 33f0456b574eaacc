"""Who may write now? A lock on an open file, among all processes of a machine.

`flock` where there is one. On Windows a byte far behind the end of the file is locked instead, because locks there keep others from
reading what they cover. Law: a lock ends with the process that holds it, however that ends. Keeps out: how long anybody waits.
"""

from __future__ import annotations

import os
import sys

_PLACE = (1 << 31) - 2  # the last that its C runtime can name


def acquire(descriptor: int, *, is_shared: bool = False) -> bool:
    """Take the lock of an open file without waiting; False when another has it.

    `is_shared` lets others share it where the system knows such locks. Raises OSError where locks fail.
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
    """Give the lock back. Raises OSError."""
    if sys.platform == "win32":
        _at_the_place(descriptor, "LK_UNLCK")
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _at_the_place(descriptor: int, operation: str) -> bool:
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
