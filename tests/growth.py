"""How does the time of some work grow with its size? For tests that quadratic work fails, on however busy a machine."""

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
_LEAST_SECONDS = 0.001  # what takes less is not told apart


def growth(work: Callable[[int], Callable[[], object]], size: int) -> float:
    """How many times as long, in processor time, `work(TIMES * size)` takes as `work(size)`; calls of it only make ready.

    Each is measured at its best so far, and both again until the ratio is below `BOUND`: a machine that is busy makes single
    runs slower, and work that is quadratic stays above however often it is tried.
    """
    small, large = work(size), work(TIMES * size)
    least_small, least_large, ratio = float("inf"), float("inf"), float("inf")
    for _ in range(_TRIES):
        least_small, least_large = min(least_small, _seconds(small)), min(least_large, _seconds(large))
        ratio = least_large / max(least_small, _LEAST_SECONDS)
        if ratio < BOUND:
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
