"""What may be removed from a request, planned and applied without a model.

This is the public path of `penstock.context.compaction`.

`plan` says what would be removed and what that costs, and `apply` removes it. The strategies (`Stale`, `Clear`, `Offload`,
`Spans`, …) are values; `DEFAULT`, `GENTLE` and `RECOVERY` are orders of them. A `Plan` can be printed before anything is
changed (S-4).

For a request that a provider has already refused, see `penstock.recovery`, or let `penstock.execute` do all of it.
"""

from __future__ import annotations

from penstock.context.compaction import *  # noqa: F403 - the very names of that room
from penstock.context.compaction import __all__  # noqa: F401
