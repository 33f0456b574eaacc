"""How long is a store waited for that is away or busy? As long as somebody is willing to, and hears why.

By default nobody waits: a request, a hook or a filter between two programs must not be held up. A run has nothing better to do.
Law: a wait ends when the store answers, when its time is over, or within a fraction of a second of being given up. Leaves to
others: which acts may be done again, and what passes (`postgres`, `sqlite`).
"""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING

from penstock.store.kept import StoreFault
from penstock.text.notices import duration

if TYPE_CHECKING:
    from penstock.store.kept import Patience

_PAUSES_SECONDS = (0.1, 0.3, 1.0, 2.0, 5.0)  # a restart takes a second, a failover half a minute
_STEP_SECONDS = 0.1  # how long a wait continues at most once it is given up
_COUNTDOWN_SECONDS = 15.0


class Outage:
    """One outage, from the first act that failed.

    Args:
        patience: How long it may last.
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._since: float | None = None
        self._tries = 0
        self._told_left = inf

    @property
    def is_begun(self) -> bool:
        """Whether an act has failed."""
        return self._since is not None

    def goes_on(self, fault: StoreFault, *, at_once: bool) -> bool:
        """Return whether to try again, after a pause.

        Args:
            fault: Why the last try failed.
            at_once: Whether the first try again needs no pause.

        Raises:
            StoreFault: The time is over.
        """
        now = time.monotonic()
        if self._since is None:
            self._since = now
            if at_once:
                return True
        end = self._since + self._patience.seconds
        if now >= end or self._patience.given_up():
            if not self._tries:
                return False
            lasted = duration(now - self._since)
            raise StoreFault(fault.code, f"{fault.message} It was waited for, {lasted}.", *fault.calls) from fault
        until = min(now + _PAUSES_SECONDS[min(self._tries, len(_PAUSES_SECONDS) - 1)], end)
        self._tries += 1
        while (left := until - time.monotonic()) > 0 and not self._patience.given_up():
            self._tell(end - time.monotonic(), fault)
            time.sleep(min(left, _STEP_SECONDS))
        return not self._patience.given_up()

    def end(self) -> None:
        """Say that it is over, to whoever heard of it."""
        if self._told_left < inf:
            self._patience.say("the store answers again")

    def _tell(self, left_seconds: float, fault: StoreFault) -> None:
        if self._told_left - left_seconds >= _COUNTDOWN_SECONDS:
            self._told_left = left_seconds
            self._patience.say(f"waits {duration(round(left_seconds))}: {fault.message}")
