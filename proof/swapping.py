"""How does R1 attack? A separate process swaps two names as fast as the kernel lets it, and counts.

Leaves to others: everything that is slow to import. A race has a dozen attackers, one after another.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys

_RENAMEAT2, _EXCHANGE = 316, 2  # x86-64; elsewhere the C library's function is used
_SWAPS = 500  # between two checks whether to stop


def attack(root: str, counter_file: str, slot: int, one: bytes, other: bytes) -> None:
    """Swaps the pair until told to stop or orphaned, and counts in that slot of the file."""
    libc = ctypes.CDLL(None, use_errno=True)
    at = os.open(root, os.O_PATH | os.O_DIRECTORY)
    with open(counter_file, "r+b") as file:
        page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
    counters = memoryview(page).cast("Q")
    parent = os.getppid()
    swap = (ctypes.c_int(at), one, ctypes.c_int(at), other, ctypes.c_uint(_EXCHANGE))
    by_number = os.uname().machine == "x86_64"
    call, arguments = (libc.syscall, (ctypes.c_long(_RENAMEAT2), *swap)) if by_number else (libc.renameat2, swap)
    while not counters[0]:
        for _ in range(_SWAPS):
            if call(*arguments) != 0:
                raise OSError(ctypes.get_errno(), "renameat2")
            counters[slot] += 1
        if os.getppid() != parent:
            return


if __name__ == "__main__":
    attack(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].encode(), sys.argv[5].encode())
