"""Who plays the provider? `LoopbackProvider`: real HTTP on 127.0.0.1, real refusals, answers from a script or a policy.

    import anthropic
    from penstock.models import call, say
    from penstock.testing import LoopbackProvider

    with LoopbackProvider("anthropic", 32_768, script=[call("read_file", path="a.py"), say("done")]) as provider:
        client = anthropic.Anthropic(base_url=provider.base_url, api_key="any", max_retries=0)

It uses only the standard library and serves any client in any language. A request goes through `server` (sockets), `routes` (paths)
and `desk` (the decision), each of which can be tested without the one before it; `loopback` is what a test uses.

Law: it answers what a provider would accept and refuses the rest in that provider's words. Leaves to others: what a step is, and
how a wire writes it (`penstock.models`). How to use it is in docs/testing.md.
"""

from __future__ import annotations

from penstock.testing.desk import Received
from penstock.testing.loopback import LoopbackProvider

__all__ = ["LoopbackProvider", "Received"]
