"""Does anybody have a file open for writing? Linux answers with a read lease.

A lease is granted only while nobody has the file open for writing, under any name; whoever opens it for writing later waits until
the lease is released. So what is read under a lease is all that descriptors open now can ever write. Leases do not exist off Linux,
on network file systems, or for files of other users. Source: fcntl(2), Leases.
"""

from __future__ import annotations

import errno
import signal
import sys
from typing import Literal

Lease = Literal["held", "refused", "none"]
"""`held`: nobody writes; `refused`: somebody has it open for writing; `none`: the system cannot tell."""


def take(descriptor: int) -> Lease:
    """Take a read lease on an open file; it ends when the file is closed.

    Args:
        descriptor: A file that is open for reading alone.
    """
    if sys.platform != "linux":
        return "none"
    import fcntl

    try:
        # The kernel signals that somebody waits for a lease with SIGIO, which would end the process; SIGURG is ignored unless
        # somebody handles it.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return "refused" if error.errno == errno.EAGAIN else "none"
    return "held"
