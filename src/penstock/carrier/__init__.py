"""Who carries a request to a provider? `execute`, `aexecute` and `Carrier`, with the caller's own send function (R-1 to R-7).

One generator (`course`) decides what to send and when, without sending anything itself; `execution` drives it with
synchronous or asynchronous functions; `carrier` adds a memory that spans requests. Leaves to others: how a request is
made smaller (`context.recovery`), and retries of rate limits and faults.
"""

from __future__ import annotations

from penstock.carrier.carrier import Carrier
from penstock.carrier.execution import aexecute, execute
from penstock.carrier.result import RecoveryResult
from penstock.carrier.ways_back import WaysBack, ways_back

__all__ = ["Carrier", "RecoveryResult", "WaysBack", "aexecute", "execute", "ways_back"]
