"""Whether anybody has a file open for writing: Linux says so, by a read lease.

A lease is had only while nobody has the file open for writing, by whatever name; whoever opens it so later waits until the lease
is given back. So what is read under one is all that will ever be there through descriptors that are open now. Off Linux, on
network file systems and on files of other users there are none. Source: fcntl(2), Leases.
"""

from __future__ import annotations

import errno
import signal
import sys
from typing import Literal

Lease = Literal["held", "refused", "none"]
"""`held`: nobody writes; `refused`: somebody has it open for writing; `none`: nobody can say."""


def take(descriptor: int) -> Lease:
    """Take a read lease on an open file; it ends when the file is closed.

    Args:
        descriptor: A file that is open for reading alone.
    """
    if sys.platform != "linux":
        return "none"
    import fcntl

    try:
        # The kernel tells of a lease that somebody waits for by SIGIO, which would end the process; SIGURG is ignored unless
        # somebody asked for it.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return "refused" if error.errno == errno.EAGAIN else "none"
    return "held"
