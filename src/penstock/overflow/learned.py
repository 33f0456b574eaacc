"""Which reported limit is believed to be a window, and for how long?

A reported limit is a fact about one request: Vertex answered 4000 on a model of a million, Copilot's limit moved through four
values. Leaves to others: where it is kept (`carrier.memory`, a session's state), and clocks.
"""

from __future__ import annotations

# Long enough for a session, short enough for a temporary regional cap.
LIFETIME_SECONDS = 24 * 3_600.0
"""How long a reported limit is believed after it was last confirmed."""
# A smaller number is a code or an index: one agent halved its window for good by taking an error code for a limit.
SMALLEST_TOKENS = 256
"""The smallest number, in tokens, that is believed to be a window; smaller ones are ignored."""
