"""Stand where other agents work: behind the hooks of their hosts.

A file of each host's name knows what that host says of a finished call and how it takes an answer, `hook` is the process that
a host starts after a call. Keeps out: how a text is cut (`text.fitting`) and where the whole lies (`store`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock.hosts.results import HookHost

HOOK_NAMES: Final = ("claude", "codex", "gemini", "copilot", "opencode")
"""The hosts whose hooks can give a model another result."""


def hook_host(name: str) -> HookHost:
    """Return how the hooks of a host speak.

    Args:
        name: one of `HOOK_NAMES`.
    """
    # A hook is a process after each call: it reads of one host only.
    host: HookHost = getattr(import_module(f"penstock.hosts.{name}"), name.upper())
    return host
