"""Who carries a request to a provider? `execute`, `aexecute` and `Carrier`, with the caller's own send function (R-1 to R-7).

One generator (`course`) decides what is sent and when, without sending anything; `execution` drives it with functions
that return or that are awaited; `carrier` lends it a memory over many requests. Leaves to others: how a request is made
smaller (`context.recovery`), and retries of rate limits and faults.
"""

from __future__ import annotations

from penstock.carrier.carrier import Carrier
from penstock.carrier.execution import aexecute, execute
from penstock.carrier.result import RecoveryResult
from penstock.carrier.ways_back import WaysBack, ways_back

__all__ = ["Carrier", "RecoveryResult", "WaysBack", "aexecute", "execute", "ways_back"]
