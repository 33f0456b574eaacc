"""The context-window layer for LLM agents: read anything, overflow never, lose nothing.

    >>> from penstock import Tools
    >>> Tools("src").view("penstock/__init__.py", limit=1).splitlines()[1]
    '1|\"\"\"The context-window layer for LLM agents: read anything, overflow never, lose nothing.'

Names are loaded when they are first used: `import penstock` itself loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from penstock import bill, compaction, guard, handoff, overflow, recovery, tokens, transcript
    from penstock.budget import Allowance, Budget
    from penstock.calls import Call
    from penstock.errors import CallerError, Ended, PenstockError, Refusal, ToolError
    from penstock.guarding import guard_output, wrap_tool
    from penstock.notices import NAVIGATION
    from penstock.page import Page
    from penstock.send import RecoveryResult, aexecute, execute
    from penstock.tools import TOOLS, Result, Tools
    from penstock.window import Window
    from penstock.workspace import Workspace
    from penstock.workspace.reading import DEFAULT_VIEW_LINES, OutlinePage

_HOMES = {
    "Allowance": "budget",
    "Budget": "budget",
    "Call": "calls",
    "CallerError": "errors",
    "DEFAULT_VIEW_LINES": "workspace.reading",
    "Ended": "errors",
    "NAVIGATION": "notices",
    "OutlinePage": "workspace.reading",
    "Page": "page",
    "PenstockError": "errors",
    "RecoveryResult": "send",
    "Refusal": "errors",
    "Result": "tools",
    "TOOLS": "tools",
    "ToolError": "errors",
    "Tools": "tools",
    "Window": "window",
    "Workspace": "workspace",
    "aexecute": "send",
    "execute": "send",
    "guard_output": "guarding",
    "wrap_tool": "guarding",
}
_ROOMS = frozenset({"bill", "compaction", "guard", "handoff", "overflow", "recovery", "tokens", "transcript"})

__all__ = [
    "DEFAULT_VIEW_LINES",
    "NAVIGATION",
    "TOOLS",
    "Allowance",
    "Budget",
    "Call",
    "CallerError",
    "Ended",
    "OutlinePage",
    "Page",
    "PenstockError",
    "RecoveryResult",
    "Refusal",
    "Result",
    "ToolError",
    "Tools",
    "Window",
    "Workspace",
    "aexecute",
    "bill",
    "compaction",
    "execute",
    "guard",
    "guard_output",
    "handoff",
    "overflow",
    "recovery",
    "tokens",
    "transcript",
    "wrap_tool",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"penstock.{_HOMES[name]}"), name)
    if name in _ROOMS:
        return import_module(f"penstock.{name}")
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
