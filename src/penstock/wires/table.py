"""Which wires are there? One line each. A new API is a folder next to this module and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import CallerError
from penstock.wires.anthropic import ANTHROPIC
from penstock.wires.bedrock import BEDROCK
from penstock.wires.gemini import GEMINI
from penstock.wires.openai_chat import OPENAI_CHAT
from penstock.wires.openai_responses import OPENAI_RESPONSES

if TYPE_CHECKING:
    from penstock.wires.wire import Wire

# In the order in which they are listed to people. If two have the same provider, the first represents it (`models.refusals`).
_WIRES: Final = {
    wire.name: wire
    for wire in (
        OPENAI_CHAT,
        OPENAI_RESPONSES,
        ANTHROPIC,
        GEMINI,
        BEDROCK,
    )
}
WIRES: Final = tuple(_WIRES)
"""The names of all wires."""


def wire_named(name: str) -> Wire:
    """Return the wire of that name.

    Raises:
        CallerError: for an unknown name; the message lists the known ones.
    """
    if name not in _WIRES:
        raise CallerError(f"{name!r} is not a wire; there are {', '.join(WIRES)}")
    return _WIRES[name]
