"""How much have the results of one turn taken, counted across the processes that a host starts for them?

A hook is a process for each result, and models call in parallel. The sizes are added up in one small private file under a lock. It
is not the store: opening that takes longer than everything else that a hook does when it changes nothing (H-5). Law: nobody waits
longer than `MAX_WAIT_SECONDS`; a file that cannot be opened or read counts as zero, because a lost count costs a few thousand
tokens and a waiting host costs its person's time. Leaves to others: what a turn is (`results`), and its budget (`hook`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_WAIT_SECONDS = 0.25
"""How long a count waits for other processes: each holds the lock for less than a millisecond."""
_FORGOTTEN_SECONDS = 3_600
_MAX_BYTES = 1 << 16  # a longer file reads as no count: a thousand sessions within the hour start over
_NAME = "turns"


def folder_for(environment: Mapping[str, str]) -> str:
    """Return the folder in which turns are counted: the user's own, for data that need not outlive a login.

    Args:
        environment: the variables to look at: `XDG_RUNTIME_DIR`, else `TMPDIR`, else `TEMP`.
    """
    if runtime := environment.get("XDG_RUNTIME_DIR"):
        return os.path.join(runtime, "penstock")
    shared = environment.get("TMPDIR") or environment.get("TEMP") or "/tmp"  # noqa: S108 - only our own private folder is taken
    if sys.platform == "win32":
        return os.path.join(shared, "penstock")
    return os.path.join(shared, f"penstock-{os.getuid()}")


def spend(name: str, amount: int, *, window_seconds: float, folder: str) -> int:
    """Add to a turn's count, atomically across processes, and return its previous value; 0 if unknown.

    Args:
        name: whose turn it is.
        amount: what to add.
        window_seconds: how long a turn lasts from its first amount; after that it starts over at 0.
        folder: where the count is kept, created (mode 0700) if missing.
    """
    from penstock.errors import CallerError
    from penstock.workspace import locks
    from penstock.workspace.own_files import OwnFolder

    try:
        own = OwnFolder(folder)
    except (OSError, CallerError):  # somebody else's folder of this name is left alone
        return 0
    descriptor = -1
    try:
        with suppress(FileExistsError):
            os.close(own.create(_NAME))
        descriptor = own.open(_NAME, writable=True)
        until = time.monotonic() + MAX_WAIT_SECONDS
        while not locks.acquire(descriptor):
            if time.monotonic() > until:
                return 0
            time.sleep(0.005)
        return _added(descriptor, name, amount, window_seconds)
    except (OSError, CallerError):
        return 0
    finally:
        if descriptor >= 0:
            os.close(descriptor)  # which releases the lock
        own.close()


def _added(descriptor: int, name: str, amount: int, window_seconds: float) -> int:
    """Add to one count in a locked file."""
    from penstock.workspace.system import read_at, write_at

    now = time.time()
    counts: dict[str, tuple[int, float]] = {}
    # A process killed while writing leaves half a line, which counts as zero, like a file that is not ours.
    with suppress(ValueError, TypeError, AttributeError):
        rows = json.loads(read_at(descriptor, _MAX_BYTES, 0))
        counts = {str(key): (int(spent), float(since)) for key, (spent, since) in rows.items()}
    # A clock that was set back must not keep a window open until it has caught up.
    counts = {key: (spent, since) for key, (spent, since) in counts.items() if 0 <= now - since < _FORGOTTEN_SECONDS}
    before, since = counts.get(name, (0, now))
    if now - since >= window_seconds:
        before, since = 0, now
    counts[name] = (before + amount, since)
    os.ftruncate(descriptor, 0)
    write_at(descriptor, json.dumps(counts).encode(), 0)
    return before
