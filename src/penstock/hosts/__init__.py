"""How does Penstock sit behind the hooks of other agents' hosts?

The module named after each host knows how that host reports a finished call and how it takes a reply; `hook` is the process that a
host starts after a call. Leaves to others: how a text is cut (`text.fitting`) and where the whole is kept (`store`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock.hosts.results import HookHost

HOOK_NAMES: Final = ("claude", "codex", "gemini", "copilot", "opencode")
"""The hosts whose hooks can give a model another result."""


def hook_host(name: str) -> HookHost:
    """Return how the hooks of a host work.

    Args:
        name: one of `HOOK_NAMES`.
    """
    # A hook is a new process after each call, so only one host's module is imported.
    host: HookHost = getattr(import_module(f"penstock.hosts.{name}"), name.upper())
    return host
