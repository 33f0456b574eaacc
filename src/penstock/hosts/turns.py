"""Count what the results of one turn have taken, across the processes that a host starts for them.

A hook is a process for each result, and models call in parallel. What each takes is added up in one small private file under a
lock. Not in the store: to open that takes longer than all else that a hook does where it changes nothing (H-5). Law: nobody waits
longer than `MAX_WAIT_SECONDS`; a file that cannot be had or read counts nothing, because a count that is lost costs a few
thousand tokens and a host that waits costs its person's time. Keeps out: what a turn is (`results`), and what it may take (`hook`).
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
"""How long a count waits for others that count: each holds the lock for less than a millisecond."""
_FORGOTTEN_SECONDS = 3_600
_MAX_BYTES = 1 << 16  # what is longer reads as no count: a thousand sessions within the hour begin anew
_NAME = "turns"


def folder_for(environment: Mapping[str, str]) -> str:
    """Return the folder in which turns are counted: the user's own for what need not outlive a login.

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
    """Add to what a turn has taken, for all processes at once, and return what it had taken before; 0 where that is not known.

    Args:
        name: whose turn it is.
        amount: what is added.
        window_seconds: how long a turn lasts from its first amount; then it begins anew at 0.
        folder: where the count lies, made (mode 0700) where there is none.
    """
    from penstock.errors import CallerError
    from penstock.workspace import locks
    from penstock.workspace.own_files import OwnFolder

    try:
        own = OwnFolder(folder)
    except (OSError, CallerError):  # another's folder of this name is left alone
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
            os.close(descriptor)  # which gives the lock back
        own.close()


def _added(descriptor: int, name: str, amount: int, window_seconds: float) -> int:
    """Add to one count in a file that is locked."""
    from penstock.workspace.system import read_at, write_at

    now = time.time()
    counts: dict[str, tuple[int, float]] = {}
    # A process that was ended in its write leaves half a line, which counts nothing; so does what is no file of ours.
    with suppress(ValueError, TypeError, AttributeError):
        rows = json.loads(read_at(descriptor, _MAX_BYTES, 0))
        counts = {str(key): (int(spent), float(since)) for key, (spent, since) in rows.items()}
    # A clock that was set back must not keep a window open until it is there again.
    counts = {key: (spent, since) for key, (spent, since) in counts.items() if 0 <= now - since < _FORGOTTEN_SECONDS}
    before, since = counts.get(name, (0, now))
    if now - since >= window_seconds:
        before, since = 0, now
    counts[name] = (before + amount, since)
    os.ftruncate(descriptor, 0)
    write_at(descriptor, json.dumps(counts).encode(), 0)
    return before
