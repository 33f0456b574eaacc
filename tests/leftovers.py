"""What does some work leave open? For tests in a process in which other tests have left garbage that may go at any time."""

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
    """Fail if a descriptor or a thread is open at the end that was not at the beginning.

    Fewer are allowed: what an earlier test left is closed whenever Python collects it. Python is asked to only if something is
    open: a collection takes up to a second and a half in a process that has run thousands of tests.
    """
    before, threads = open_files(), set(threading.enumerate())
    yield
    if open_files() - before:
        gc.collect()
    opened = sorted(open_files() - before)
    assert not opened, f"left open: {opened}"
    running = set(threading.enumerate()) - threads
    assert not running, f"left running: {running}"


def open_files() -> set[tuple[str, str]]:
    """Return each descriptor of this process with its target."""
    found = set()
    for entry in os.listdir("/proc/self/fd"):
        try:
            found.add((entry, os.readlink(f"/proc/self/fd/{entry}")))
        except FileNotFoundError:  # the listing's own descriptor, already closed
            continue
        except OSError as error:  # its name is too long for the kernel to return
            found.add((entry, str(error.strerror)))
    return found
