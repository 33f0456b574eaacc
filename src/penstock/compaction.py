"""What may be taken out of a request, planned and applied without a model.

This is the public path of `penstock.context.compaction`.

`plan` says what goes and what that costs, `apply` does it; the strategies (`Stale`, `Clear`, `Offload`, `Spans`, …) are
values, and `DEFAULT`, `GENTLE` and `RECOVERY` are orders of them. A `Plan` can be printed before anything is changed
(S-4).

For a request that a provider has refused already, see `penstock.recovery`, or let `penstock.execute` do all of it.
"""

from __future__ import annotations

from penstock.context.compaction import *  # noqa: F403 - the very names of that room
from penstock.context.compaction import __all__  # noqa: F401
