"""What does Penstock put into a host's configuration? Five parts, each a module with the same door (H-3).

Laws: `take` of a part removes only what its `add` can have put there; adding twice equals adding once. Leaves to others: where
configurations are (`catalogue`), and what was there before (`records`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.hosts.parts import gateway, hook, relay, rules, server

if TYPE_CHECKING:
    from penstock.hosts.parts.part import Part

PARTS: dict[str, Part] = {"mcp": server, "hook": hook, "relay": relay, "rules": rules, "gateway": gateway}
"""What can be installed, in the order of installation."""
