"""The work that `test_workers.py` gives to processes: each loads this module, and nothing that only tests need."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Piece(NamedTuple):
    """A number, and what its process does: nothing, kill itself that many times, raise, or sleep."""

    number: int
    ends: int = 0
    raises: bool = False
    sleeps_seconds: float = 0.0


def working(folder: str) -> Callable[[Piece], tuple[int, int]]:
    """Return a function that doubles numbers; a folder counts how often each was tried."""

    def work(piece: Piece) -> tuple[int, int]:
        path = os.path.join(folder, str(piece.number))
        tries = os.path.getsize(path) if os.path.exists(path) else 0
        with open(path, "ab") as file:
            file.write(b".")
        time.sleep(piece.sleeps_seconds)
        if tries < piece.ends:
            os.kill(os.getpid(), signal.SIGKILL)
        if piece.raises:
            raise LookupError(f"no {piece.number}")
        print("what a piece prints is no answer")
        return piece.number * 2, os.getpid()

    return work


def divided(by: int) -> Callable[[int], float]:
    """Return a function that divides; for 0 it cannot be made."""
    whole = 1 / by
    return lambda piece: piece * whole
