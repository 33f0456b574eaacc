"""What does some work leave open? For tests in a process in which others have run, whose rubbish goes when it likes."""

from __future__ import annotations

import gc
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def nothing_left_open() -> Iterator[None]:
    """Fail where a descriptor or a thread is there at the end that was not at the beginning.

    Fewer of them is no fault: what an earlier test left is closed whenever Python collects it.
    """
    before, threads = open_files(), set(threading.enumerate())
    yield
    opened = sorted(open_files() - before)
    assert not opened, f"left open: {opened}"
    running = set(threading.enumerate()) - threads
    assert not running, f"left running: {running}"


def open_files() -> set[tuple[str, str]]:
    """Return each descriptor of this process with what it is of, after all rubbish is gone."""
    gc.collect()
    found = set()
    for entry in os.listdir("/proc/self/fd"):
        try:
            found.add((entry, os.readlink(f"/proc/self/fd/{entry}")))
        except FileNotFoundError:  # the listing's own, closed by now
            continue
        except OSError as error:  # its name is longer than the kernel says at once
            found.add((entry, str(error.strerror)))
    return found
