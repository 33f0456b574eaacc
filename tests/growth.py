"""How does the time of some work grow with its size, or with its input? For tests that hold on a busy machine."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = 4
BOUND = 10.0
"""Between 4, the ratio of linear work at four times the size, and 16, that of quadratic work."""
_TRIES = 12
_MIN_SECONDS = 0.001  # shorter times are not distinguished


def growth(work: Callable[[int], Callable[[], object]], size: int) -> float:
    """Return the processor time of `work(TIMES * size)()` divided by that of `work(size)()`; `work` itself only prepares."""
    return times_as_long(work(TIMES * size), work(size))


def times_as_long(run: Callable[[], object], other: Callable[[], object], bound: float = BOUND) -> float:
    """Return the processor time of `run` divided by that of `other`.

    The best time of each counts, and both are repeated until the ratio is below `bound`: a busy machine slows single runs, but
    work that takes too long stays above the bound however often it runs.
    """
    least, min_other, ratio = float("inf"), float("inf"), float("inf")
    for _ in range(_TRIES):
        least, min_other = min(least, _seconds(run)), min(min_other, _seconds(other))
        ratio = least / max(min_other, _MIN_SECONDS)
        if ratio < bound:
            break
    return ratio


def _seconds(run: Callable[[], object]) -> float:
    gc.disable()  # collections scan what earlier tests left, and larger work triggers more of them
    try:
        started = time.process_time()
        run()
        return time.process_time() - started
    finally:
        gc.enable()
