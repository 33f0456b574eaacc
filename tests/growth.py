"""How does the time of some work grow with its size, or with what it is done to? For tests that hold on a busy machine."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = 4
BOUND = 10.0
"""Between what linear work takes for four times the size, 4, and what quadratic work takes, 16."""
_TRIES = 12
_MIN_SECONDS = 0.001  # what takes less is not told apart


def growth(work: Callable[[int], Callable[[], object]], size: int) -> float:
    """How many times as long, in processor time, `work(TIMES * size)` takes as `work(size)`; calls of it only make ready."""
    return times_as_long(work(TIMES * size), work(size))


def times_as_long(run: Callable[[], object], other: Callable[[], object], bound: float = BOUND) -> float:
    """How many times as long, in processor time, `run` takes as `other`.

    Each is measured at its best so far, and both again until the ratio is below `bound`: a machine that is busy makes single
    runs slower, and work that takes too long stays above however often it is tried.
    """
    least, min_other, ratio = float("inf"), float("inf"), float("inf")
    for _ in range(_TRIES):
        least, min_other = min(least, _seconds(run)), min(min_other, _seconds(other))
        ratio = least / max(min_other, _MIN_SECONDS)
        if ratio < bound:
            break
    return ratio


def _seconds(run: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()  # a collection looks at all that the tests before have left, the more often the larger the work is
    try:
        started = time.process_time()
        run()
        return time.process_time() - started
    finally:
        gc.enable()
