"""Who carries a request to a provider? `execute` and `aexecute`, with the caller's own send function."""

from __future__ import annotations

from penstock.carrier.carrier import Carrier
from penstock.carrier.course import RecoveryResult
from penstock.carrier.execution import aexecute, execute
from penstock.carrier.ways_back import WaysBack, ways_back

__all__ = ["Carrier", "RecoveryResult", "WaysBack", "aexecute", "execute", "ways_back"]
